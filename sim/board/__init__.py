"""Simulated boards behind pseudo terminals, for hosts without physical boards."""
