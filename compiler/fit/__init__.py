"""How the layers of a model fit a machine: bytes, rooflines, certificates."""
