"""Simulated boards behind pseudo terminals, where there are no boards of metal."""
