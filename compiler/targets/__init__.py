"""Targets: what a machine provides.

The built-in ones are TOML files beside this module; those in ``published`` are for planning only.
"""

from compiler.ir.link_kind import LinkKind
from compiler.ir.target import Target
from compiler.targets.catalogue import executable, find, find_any, get, load, names
from compiler.targets.planning import MemoryTier, PlanningTarget

__all__ = [
    "LinkKind",
    "MemoryTier",
    "PlanningTarget",
    "Target",
    "executable",
    "find",
    "find_any",
    "get",
    "load",
    "names",
]
