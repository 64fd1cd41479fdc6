"""Names of ports, instances and modules, from the names of the program.

Every name of the program passes through here on its way into hardware. The validator has refused
names that are none, and names that would be one here.
"""

import re

from compiler.ir.names import hardware_name, local_name
from hw.verilog.keywords import KEYWORDS

__all__ = ["link_name", "local_name", "module_name", "top_name"]

MODULES = ("chip_", "channel_", "barrier_", "start_guard", "system_")
"""How the names of all modules begin that are not the system."""


def module_name(name: str) -> str:
    """A name as a hardware identifier: ``c1->c0`` becomes ``c1_to_c0``."""
    return hardware_name(name)


def link_name(name: str) -> str:
    """The channel of a link in the system: ``c1->c0`` is ``c1_to_c0``.

    Any other name is marked as a link's, so it is no chip, no port and no keyword.
    """
    ends = re.fullmatch(r"c\d+->c\d+", name)
    return module_name(name) if ends else f"link_{module_name(name)}"


def top_name(program: str) -> str:
    """The module of the system: the program's name, marked where that is a keyword or a module."""
    name = module_name(program)
    is_taken = name.lower() in KEYWORDS or name.lower().startswith(MODULES)
    return f"system_{name}" if is_taken else name
