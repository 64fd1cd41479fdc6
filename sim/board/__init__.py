"""Simulated boards behind pseudo terminals, for hosts that have none of metal."""
