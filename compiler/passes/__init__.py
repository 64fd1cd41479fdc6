"""Passes: pure functions from program to program that fill in what is missing."""
