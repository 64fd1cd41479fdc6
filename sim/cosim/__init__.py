"""Co-simulation: the Verilog of a program as files, and the benches that drive it."""
