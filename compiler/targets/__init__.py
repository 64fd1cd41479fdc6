"""Targets: what a machine provides. The built-in ones are TOML files beside this module."""

from compiler.targets.catalogue import get, load, names
from compiler.targets.target import Target

__all__ = ["Target", "get", "load", "names"]
