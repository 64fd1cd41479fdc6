"""Names: one grammar for all of them, and what each is called in hardware and in files.

A name is letters, digits and underscores of ASCII, and begins with a letter; such words may be
joined by ``.``, ``-`` or ``->``. So a name is one word of a line, a piece of a path that leads
nowhere else, and, once its joints are spelled out, an identifier of Verilog, C++ and Python.
"""

import re

from compiler.ir.limits import NAME_LENGTH

GRAMMAR = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:(?:->|[.-])[A-Za-z0-9_]+)*")
RULE = (
    f"at most {NAME_LENGTH} letters, digits and underscores of ASCII, beginning with a letter, "
    f"in words joined by '.', '-' or '->'"
)
AXIS = re.compile(r"[a-z][a-z0-9]{0,31}")
AXIS_RULE = "at most 32 lower-case letters and digits, beginning with a letter"
CHIP = re.compile(r"c\d+\.")
SHOWN_LENGTH = 60


def is_name(text: str) -> bool:
    """Whether a text is a name."""
    return len(text) <= NAME_LENGTH and GRAMMAR.fullmatch(text) is not None


def is_line(text: str, length: int) -> bool:
    """Whether a text is one line of at most ``length`` characters that all can be printed."""
    return len(text) <= length and text.isprintable()


def quoted(value: object) -> str:
    """A value in an error: on one line, in ASCII, and short, whatever it holds."""
    text = ascii(value[: 2 * SHOWN_LENGTH] if isinstance(value, str) else value)
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 3] + "..."


def hardware_name(name: str) -> str:
    """A name as an identifier: ``c1->c0`` is ``c1_to_c0``.

    Names that differ in nothing but their joints would be one; the validator refuses them.
    """
    return name.replace("->", "_to_").replace(".", "_").replace("-", "_")


def local_name(name: str) -> str:
    """A name without its chip, as an identifier: ``c3.load_a`` is ``load_a`` on its chip."""
    return hardware_name(CHIP.sub("", name, count=1) if CHIP.match(name) else name)
