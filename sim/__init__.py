"""What did happen: reference, simulation, results and reports."""
