"""Targets: what a machine provides. The built-in ones are TOML files beside this module."""

from compiler.ir.target import Target
from compiler.targets.catalogue import get, load, names

__all__ = ["Target", "get", "load", "names"]
