"""The machine: Amaranth components of a chip, chips, and the system that joins them."""
