"""What an engine meets of a chip, told from the program alone: nothing is elaborated."""

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Stage
from compiler.ir.tensor import Tensor
from hw.link_ports import PAGE_GRANULAR, receiver_port, sender_port
from hw.names import local_name

CHUNK_BITS = 32
"""Bits of one machine word of a model."""


def chunk_count(bits: int) -> int:
    """Machine words that a value of a model takes."""
    return -(-bits // CHUNK_BITS)


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link on its chip.

    ``port`` names the port of the chip; ``sends`` tells which end it is. ``by_page`` links carry a
    mark that a page may be read, beside their flits.
    """

    edge: Edge
    port: str
    sends: bool
    width_bits: int
    by_page: bool

    @property
    def forward(self) -> list[tuple[str, int]]:
        """Signals from the sender to the receiver: names below the port, and bits."""
        mark = [("valid", 1)] if self.by_page else []
        return [("flit__payload", self.width_bits), ("flit__valid", 1), *mark]

    @property
    def backward(self) -> list[tuple[str, int]]:
        """Signals from the receiver to the sender."""
        return [("ready" if self.by_page else "credit", 1)]


@dataclass(frozen=True)
class ChipPorts:
    """The ends, tensor memories and counters of a chip, in an order that equal chips share."""

    chip: int
    ends: tuple[LinkEnd, ...]
    tensors: tuple[Tensor, ...]
    products: tuple[Stage, ...]

    @property
    def counters(self) -> list[str]:
        """Names of the activity counters that an engine reads."""
        events = [f"{local_name(stage.name)}_active" for stage in self.products]
        return [
            *(f"{event}_{kind}" for event in events for kind in ("count", "last")),
            *(
                f"{end.port}_{event}_count"
                for end in self.senders
                for event in ("beats", "busy", "stalled")
            ),
        ]

    @property
    def senders(self) -> list[LinkEnd]:
        """The ends that send."""
        return [end for end in self.ends if end.sends]


def chip_ports(program: Program, chip: int) -> ChipPorts:
    """The ports of a chip of a finished program."""
    program = program.canonical
    stages = [s for s in program.stages if s.site is not None and s.site.chip == chip]
    return ChipPorts(
        chip,
        tuple(_link_ends(program, {stage.name for stage in stages})),
        tuple(tensor for tensor in program.tensors if tensor.chip == chip),
        tuple(stage for stage in stages if isinstance(stage.kind, MatmulTiles)),
    )


def _link_ends(program: Program, here: set[str]) -> Iterator[LinkEnd]:
    crossing = [edge for edge in program.edges if program.crosses(edge)]
    for edge in crossing:
        width_bits = program.link_by_name[(edge.route or ("",))[0]].width_bits
        by_page = isinstance(edge.handoff, PAGE_GRANULAR)
        if edge.source in here:
            yield LinkEnd(edge, sender_port(edge), True, width_bits, by_page)
        if edge.destination in here:
            yield LinkEnd(edge, receiver_port(edge), False, width_bits, by_page)
