"""One component as Verilog or RTLIL with stable ports."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from amaranth.back import rtlil
from amaranth.hdl import Const, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow

from hw.verilog.netlist import trimmed
from hw.verilog.rtlil import read
from hw.verilog.writer import written

MEMORY_INIT = re.compile(r"^  cell \$meminit_v2 .*?^  end\n", re.MULTILINE | re.DOTALL)
CHECK = re.compile(
    r"^(?:  attribute [^\n]*\n)*  cell \$check .*?^  end\n", re.MULTILINE | re.DOTALL
)

DEEPEST_CALLS = 100_000


@dataclass(frozen=True)
class Port:
    """A port of a module. ``path`` is its place in the component's signature."""

    name: str
    direction: str
    width: int
    path: tuple[str | int, ...] = ()


def component_ports(component: wiring.Component) -> Iterator[tuple[Port, Value]]:
    """The ports of a component, in the order of its signature. What is constant is no port."""
    for path, member, value in component.signature.flatten(component):
        value = Value.cast(value)
        if isinstance(value, Const) or not len(value):
            continue
        direction = "input" if member.flow == Flow.In else "output"
        yield Port("__".join(map(str, path)), direction, len(value), path), value


def to_rtlil(component: wiring.Component, name: str) -> str:
    """A component as RTLIL, without initial contents of memories and without assertions.

    Memories start undefined, as they may on a board; a program loads or writes each word before it
    reads it.
    """
    ports = {port.name: (value, None) for port, value in component_ports(component)}
    with _deep_calls():
        text = rtlil.convert(component, name=name, ports=ports, emit_src=False)
    return CHECK.sub("", MEMORY_INIT.sub("", text))


@contextmanager
def _deep_calls() -> Iterator[None]:
    """Allow for deep calls: a path through logic is followed by a call, or a few, for each cell.

    The ready of a fold runs through all of its operations, and Amaranth follows it, as does what
    writes definitions behind those that they need.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST_CALLS))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def to_verilog(component: wiring.Component, name: str) -> str:
    """A component as Verilog-2005. Inner modules are named ``name_inner``."""
    modules = trimmed(read(to_rtlil(component, name)))
    with _deep_calls():
        return written(modules)
