"""The signals of a chip's ports, from the program alone: nothing is elaborated for them."""

from dataclasses import dataclass

from amaranth.hdl import Const, Value
from amaranth.lib.wiring import Flow, In, Out

from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import Stage
from compiler.ir.tensor import Tensor, TensorRole
from hw.handoffs import link_signature
from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature
from hw.link_ports import receiver_port, sender_port
from hw.names import local_name

CHUNK_BITS = 32
"""Bits of one machine word of a model."""


def chunk_count(bits: int) -> int:
    """Machine words that a value of a model takes."""
    return -(-bits // CHUNK_BITS)


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link on its chip.

    ``port`` names the port of the chip; ``sends`` tells which end it is. ``signature`` is that of
    the end that sends.
    """

    edge: Edge
    port: str
    sends: bool
    signature: CreditLinkSignature | SemaphoreLinkSignature

    @property
    def forward(self) -> list[tuple[str, int]]:
        """Signals from the sender to the receiver: names below the port, and bits."""
        return self._signals(Out)

    @property
    def backward(self) -> list[tuple[str, int]]:
        """Signals from the receiver to the sender."""
        return self._signals(In)

    def _signals(self, flow: Flow) -> list[tuple[str, int]]:
        """The signals of the link that go one way, without those that never change."""
        return [
            ("__".join(map(str, path)), len(Value.cast(signal)))
            for path, member, signal in self.signature.flatten(self.signature.create())
            if member.flow == flow and not isinstance(Value.cast(signal), Const)
        ]


@dataclass(frozen=True)
class ChipPorts:
    """The ends, tensor memories and counters of a chip, in an order that equal chips share."""

    chip: int
    ends: tuple[LinkEnd, ...]
    tensors: tuple[Tensor, ...]
    products: tuple[Stage, ...]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that a run makes."""
        return [tensor for tensor in self.tensors if tensor.role is TensorRole.OUTPUT]

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
    view = program.chips[chip]
    return ChipPorts(
        chip,
        (
            *(_end(program, edge, sender_port(edge), True) for edge in view.outgoing),
            *(_end(program, edge, receiver_port(edge), False) for edge in view.incoming),
        ),
        view.tensors,
        view.products,
    )


def _end(program: Program, edge: Edge, port: str, sends: bool) -> LinkEnd:
    return LinkEnd(edge, port, sends, link_signature(program, edge))
