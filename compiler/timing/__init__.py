"""The performance model: at which cycle each beat passes each stage."""
