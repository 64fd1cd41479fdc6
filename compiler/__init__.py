"""What should happen: workload, program, passes, validator and targets. Imports no hardware."""
