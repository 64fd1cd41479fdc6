"""Verilog of a program: chip modules, the system that joins them, and all that a bench needs."""
