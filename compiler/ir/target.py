"""What a machine provides."""

from dataclasses import dataclass, field, fields

from compiler.errors import TargetValueError
from compiler.ir import limits
from compiler.ir.choice import UNLESS_DEFAULT
from compiler.ir.edge import CROSSING_HANDOFFS, LOCAL_HANDOFFS
from compiler.ir.link_kind import LinkKind, check_link_kinds
from compiler.ir.names import RULE, is_line, is_name
from compiler.ir.stage import EngineKind

MOST = {
    "tile": limits.TILE,
    "link_ports": limits.LINK_PORTS,
    "link_width_bits": limits.LINK,
    "link_latency_cycles": limits.LINK,
    "link_flit_cycles": limits.LINK,
    "compute_engines": limits.ENGINES,
    "movement_engines": limits.ENGINES,
    "memory_bytes": limits.MEMORY_BYTES,
}
"""The most that each count may be."""
SWITCHES_OF_A_PORT = 4
"""Engines with which a link port can deal, copy and join what passes it."""


@dataclass(frozen=True)
class Target:
    """A machine of equal chips.

    Parameters
    ----------
    tile : int
        Edge of a tile; a tile unit has ``tile * tile`` multiply-accumulates.
    handoffs : tuple of str
        Hand-offs provided: of ``ValidReady`` and ``Fifo`` inside a site, of ``Token``,
        ``Semaphore`` and ``Barrier`` between chips. Their order says nothing: the preferred ones
        are :attr:`local_handoff` and :attr:`crossing_handoff`.
    link_ports : int
        Ends of links that one chip can hold, in both directions together.
    link_width_bits : int
        Bits of a flit, which cross a link together.
    link_latency_cycles : int
        Cycles on the way, each direction.
    compute_engines, movement_engines : int
        Engines of each site. A tile unit and a fold each take a compute engine, a load and a
        store each take a movement engine. A receive runs on an engine of a link port, and so does
        what copies, merges or splits, of which a port has several.
    memory_bytes : int
        Memory of one chip for tensors and buffers.
    link_flit_cycles : int
        Cycles for which a flit holds a link.
    link_kinds : tuple of LinkKind
        Further kinds of links, in no order. A compiled program takes links of the kind that the
        three fields above state; one that is edited by hand may take any of these.

    Raises
    ------
    TargetValueError
        If a field is out of its range.
    """

    name: str
    description: str
    tile: int
    handoffs: tuple[str, ...]
    link_ports: int
    link_width_bits: int
    link_latency_cycles: int
    compute_engines: int
    movement_engines: int
    memory_bytes: int
    link_flit_cycles: int = 1
    link_kinds: tuple[LinkKind, ...] = field(default=(), metadata=UNLESS_DEFAULT)

    def __post_init__(self) -> None:
        for name, kind, rule in (
            ("name", str, "a string"),
            ("description", str, "a string"),
            ("handoffs", tuple, "a list of hand-offs"),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TargetValueError(target=str(self.name), field=name, rule=rule, value=value)
        if not is_name(self.name):
            raise TargetValueError(target=self.name, field="name", rule=RULE, value=self.name)
        if not is_line(self.description, limits.TEXT_LENGTH):
            rule = f"one line of at most {limits.TEXT_LENGTH} printable characters"
            value = self.description
            raise TargetValueError(target=self.name, field="description", rule=rule, value=value)
        counts = [each.name for each in fields(self) if each.type in (int, "int")]
        for name in counts:
            value = getattr(self, name)
            least = 0 if name == "link_ports" else 1
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                rule = f"an integer of at least {least}"
                raise TargetValueError(target=self.name, field=name, rule=rule, value=value)
            if value > MOST[name]:
                rule = f"at most {MOST[name]}"
                raise TargetValueError(target=self.name, field=name, rule=rule, value=value)
        check_link_kinds(self.name, self.link_kinds)
        known = LOCAL_HANDOFFS + CROSSING_HANDOFFS
        for handoff in self.handoffs:
            if handoff not in known:
                rule = f"of {', '.join(known)}"
                raise TargetValueError(target=self.name, field="handoffs", rule=rule, value=handoff)

    @property
    def local_handoff(self) -> str | None:
        """The hand-off inside a site: the first of ValidReady, Fifo that is provided."""
        return self._first(LOCAL_HANDOFFS)

    @property
    def crossing_handoff(self) -> str | None:
        """The hand-off between chips: the first of Token, Semaphore, Barrier that is provided."""
        return self._first(CROSSING_HANDOFFS)

    @property
    def engine_counts(self) -> dict[EngineKind, int]:
        """Engines of each kind at one site. A link port has one to receive, and some to switch."""
        return {
            EngineKind.COMPUTE: self.compute_engines,
            EngineKind.MOVEMENT: self.movement_engines,
            EngineKind.LINK: self.link_ports,
            EngineKind.SWITCH: SWITCHES_OF_A_PORT * self.link_ports,
        }

    @property
    def links(self) -> tuple[LinkKind, ...]:
        """Every kind of link that the machine has: that of compiled programs, then by name."""
        usual = LinkKind(
            "usual", self.link_width_bits, self.link_latency_cycles, self.link_flit_cycles
        )
        return (usual, *sorted(self.link_kinds, key=lambda kind: kind.name))

    def _first(self, preference: tuple[str, ...]) -> str | None:
        return next((handoff for handoff in preference if handoff in self.handoffs), None)
