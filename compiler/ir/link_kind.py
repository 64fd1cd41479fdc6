"""Kinds of links that a machine has between its chips."""

from dataclasses import dataclass, fields

from compiler.errors import TargetValueError
from compiler.ir.edge import Link


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
        return figures(self) == figures(link)

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
        If they are not, or if one has no wires or takes no time.
    """

    def require(field: str, rule: str, holds: bool, value: object) -> None:
        if not holds:
            raise TargetValueError(target=target, field=field, rule=rule, value=value)

    if not isinstance(kinds, tuple):
        raise TargetValueError(
            target=target, field="links", rule="a list of [[links]] tables", value=kinds
        )
    names: set[str] = set()
    for index, kind in enumerate(kinds):
        place = f"links[{index}]"
        require(place, "a kind of links", isinstance(kind, LinkKind), kind)
        assert isinstance(kind, LinkKind)
        named = isinstance(kind.name, str) and kind.name != ""
        require(f"{place}.name", "a name", named, kind.name)
        require(f"{place}.name", "of its own", kind.name not in names, kind.name)
        names.add(kind.name)
        for field in [field.name for field in fields(kind)][1:]:
            value = getattr(kind, field)
            positive = type(value) is int and value >= 1
            require(f"{place}.{field}", "an integer of at least 1", positive, value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
