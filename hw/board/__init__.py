"""What a board puts around a chip: its clock, its host's port, and links over pins."""
