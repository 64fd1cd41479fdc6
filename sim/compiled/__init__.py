"""The compiled engine: each distinct chip as a shared library, stepped in lockstep."""
