"""Bitstreams of a program's chips: their builds, and what the tools report of them."""
