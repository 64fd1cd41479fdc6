"""Amaranth's RTLIL, read back as data.

Only what Amaranth writes is understood: cells of its operators, flip-flops and memories, processes
without clocks, instances of inner modules.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hw.verilog.signals import Bits, Signal, Slice, join

TOKEN = re.compile(r'\{|\}|\d+\'[01x-]+|\[\d+(?::\d+)?\]|"(?:\\.|[^"\\])*"|[\\$]\S+|[^\s,]+')


@dataclass
class Wire:
    """A wire. ``direction`` is empty unless it is a port; ``init`` is the value of a register."""

    width: int
    direction: str = ""
    init: int = 0


@dataclass(frozen=True)
class Cell:
    """An operator, register or memory port (``$add``, ...), or an instance of a module."""

    kind: str
    name: str
    parameters: dict[str, int | str]
    ports: dict[str, Signal]


@dataclass(frozen=True)
class Assign:
    """Gives a value to some bits of the wire that the process drives."""

    target: Slice
    value: Signal


@dataclass(frozen=True)
class Case:
    """Statements for the values of a subject that match a pattern. No pattern matches them all."""

    patterns: tuple[str, ...]
    body: tuple["Statement", ...]


@dataclass(frozen=True)
class Switch:
    """Does the first of its cases that matches."""

    subject: Signal
    cases: tuple[Case, ...]


Statement = Assign | Switch


@dataclass
class Module:
    """A module. ``aliases`` are wires that are other names for signals."""

    name: str
    wires: dict[str, Wire] = field(default_factory=dict)
    memories: dict[str, tuple[int, int]] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    processes: dict[str, tuple[Statement, ...]] = field(default_factory=dict)
    aliases: dict[str, Signal] = field(default_factory=dict)

    @property
    def ports(self) -> Iterator[tuple[str, Wire]]:
        """The wires that are ports."""
        return ((name, wire) for name, wire in self.wires.items() if wire.direction)


def read(text: str) -> list[Module]:
    """The modules of an RTLIL text, outermost first.

    Raises
    ------
    :exc:`ValueError`
        If a line is not understood.
    """
    return _Reader(text).modules()


class _Reader:
    """Reads line by line; a line is a list of tokens."""

    def __init__(self, text: str):
        self.lines = [TOKEN.findall(line) for line in text.split("\n")]
        self.lines = [line for line in self.lines if line]
        self.at = 0
        self.module = Module("")

    def next(self) -> list[str]:
        line = self.lines[self.at]
        self.at += 1
        return line

    def modules(self) -> list[Module]:
        modules: list[Module] = []
        while self.at < len(self.lines):
            word, *rest = self.next()
            if word == "module":
                self.module = Module(_plain(rest[0]))
                self._module_body()
                modules.append(self.module)
            elif word != "attribute":
                raise ValueError(f"RTLIL line must begin a module, not be {[word, *rest]!r}")
        return modules

    def _module_body(self) -> None:
        init = 0
        while True:
            match self.next():
                case ["attribute", "\\init", value]:
                    init = _number(value)
                case ["attribute", *_]:
                    pass
                case ["wire", "width", width, *options, name]:
                    direction = next((o for o in options if o in ("input", "output")), "")
                    self.module.wires[_plain(name)] = Wire(int(width), direction, init)
                    init = 0
                case ["memory", "width", width, "size", size, name]:
                    self.module.memories[_plain(name)] = (int(width), int(size))
                case ["cell", kind, name]:
                    self.module.cells.append(self._cell(_plain(kind), _plain(name)))
                    init = 0
                case ["process", _]:
                    body = self._statements()
                    self.next()
                    match body:
                        case (Assign(target, _), *_):
                            self.module.processes[target.wire] = body
                case ["connect", name, *value]:
                    self.module.aliases[_plain(name)] = self._signal(value)
                case ["end"]:
                    return
                case line:
                    raise ValueError(f"RTLIL line must stand in a module, not be {line!r}")

    def _cell(self, kind: str, name: str) -> Cell:
        cell = Cell(kind, name, {}, {})
        while True:
            match self.next():
                case ["parameter", *_, parameter, value]:
                    cell.parameters[_plain(parameter)] = (
                        _plain(value[1:-1].replace("\\\\", "\\"))
                        if value.startswith('"')
                        else _number(value)
                    )
                case ["connect", port, *value]:
                    cell.ports[_plain(port)] = self._signal(value)
                case ["end"]:
                    return cell
                case line:
                    raise ValueError(f"RTLIL line must stand in a cell, not be {line!r}")

    def _statements(self) -> tuple[Statement, ...]:
        """The statements up to the next line that is none."""
        statements: list[Statement] = []
        while self.lines[self.at][0] in ("assign", "switch"):
            match self.next():
                case ["assign", "{", "}", *_]:
                    pass  # nothing is assigned to nothing
                case ["assign", *both]:
                    end = 2 if len(both) > 1 and both[1].startswith("[") else 1
                    (target,) = self._signal(both[:end])
                    assert isinstance(target, Slice)
                    statements.append(Assign(target, self._signal(both[end:])))
                case ["switch", *subject]:
                    statements.append(self._switch(self._signal(subject)))
        return tuple(statements)

    def _switch(self, subject: Signal) -> Switch:
        cases: list[Case] = []
        while True:
            match self.next():
                case ["case", *patterns]:
                    bits = tuple(pattern.partition("'")[2] for pattern in patterns)
                    cases.append(Case(bits, self._statements()))
                case ["end"]:
                    return Switch(subject, tuple(cases))
                case line:
                    raise ValueError(f"RTLIL line must stand in a switch, not be {line!r}")

    def _signal(self, tokens: list[str]) -> Signal:
        pieces: list[Signal] = []
        for token in tokens:
            if token.startswith("["):
                ((name,),) = ((piece.wire for piece in pieces.pop() if isinstance(piece, Slice)),)
                high, _, low = token[1:-1].partition(":")
                low = int(low or high)
                pieces.append((Slice(name, low, int(high) - low + 1),))
            elif token[0] in "\\$":
                name = _plain(token)
                pieces.append((Slice(name, 0, self.module.wires[name].width),))
            elif token not in "{}":
                width, _, bits = token.partition("'")
                pieces.append((Bits(_number(token), int(width) if bits else 32),))
        return join(*reversed(pieces))


def _plain(name: str) -> str:
    """A name without the backslash that marks it as the user's."""
    return name.removeprefix("\\")


def _number(token: str) -> int:
    """The number of a constant; undefined bits count as zero."""
    width, quote, bits = token.partition("'")
    return int(bits.replace("x", "0").replace("-", "0"), 2) if quote else int(width)
