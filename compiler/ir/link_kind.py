"""Kinds of links that a machine has between its chips."""

from dataclasses import dataclass
from typing import cast

from compiler.errors import TargetValueError
from compiler.ir import limits
from compiler.ir.edge import Link
from compiler.ir.names import RULE, is_name


@dataclass(frozen=True)
class LinkKind:
    """Links that are alike: width of a flit, cycles on the way, cycles for which a flit holds one.

    ``name`` is for people; a link of a program is of a kind if its three figures are.
    """

    name: str
    width_bits: int
    latency_cycles: int
    flit_cycles: int = 1

    def describes(self, link: Link) -> bool:
        """Whether a link is of this kind."""
        own = self.width_bits, self.latency_cycles, self.flit_cycles
        return own == (link.width_bits, link.latency_cycles, link.flit_cycles)

    def __str__(self) -> str:
        return figures(self)


def figures(link: Link | LinkKind) -> str:
    """The three figures of a link in words."""
    bits, cycles = _count(link.width_bits, "bit"), _count(link.latency_cycles, "cycle")
    pace = "" if link.flit_cycles == 1 else f" every {link.flit_cycles} cycles"
    return f"{bits}{pace}, {cycles} each way"


def check_link_kinds(target: str, kinds: object) -> None:
    """Check that ``kinds`` are kinds of links of different names.

    Raises
    ------
    TargetValueError
        If they are not, or if one has no wires, takes no time, or more of either than may be.
    """

    def refused(field: str, rule: str, value: object) -> TargetValueError:
        return TargetValueError(target=target, field=field, rule=rule, value=value)

    if not isinstance(kinds, tuple):
        raise refused("links", "a list of [[links]] tables", kinds)
    names: set[object] = set()
    for index, kind in enumerate(cast(tuple[object, ...], kinds)):
        place = f"links[{index}]"
        if not isinstance(kind, LinkKind):
            raise refused(place, "a kind of links", kind)
        name = cast(object, kind.name)
        if not isinstance(name, str) or not is_name(name):
            raise refused(f"{place}.name", RULE, name)
        if name in names:
            raise refused(f"{place}.name", "of its own", name)
        names.add(name)
        for field in ("width_bits", "latency_cycles", "flit_cycles"):
            value: object = getattr(kind, field)
            if type(value) is not int or value < 1:
                raise refused(f"{place}.{field}", "an integer of at least 1", value)
            if value > limits.LINK:
                raise refused(f"{place}.{field}", f"at most {limits.LINK}", value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
