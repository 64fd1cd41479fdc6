"""What did happen: reference, simulation, results, and simulated boards."""
