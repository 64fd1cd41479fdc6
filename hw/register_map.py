"""The register map of a chip's host port: one description, from which all else is made.

The hardware decodes its addresses from it, and so are the page and the JSON file that a user reads.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from compiler.ir.orientation import Orientation
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles
from compiler.ir.tensor import Tensor, TensorRole
from hw.axi_lite import DATA_BITS, DATA_BYTES
from hw.names import local_name

IDENTITY = 0x5348_5244
"""``SHRD`` in ASCII, the first letter in the highest byte."""
VERSION = 1


class Access(StrEnum):
    """What a host may do with a register or window."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "read and write"


@dataclass(frozen=True)
class Register:
    """A 32-bit register.

    ``value`` is the number that it always reads as; without one, ``source`` names what it shows.

    Raises
    ------
    ValueError
        If a register does not hold ``value``.
    """

    name: str
    offset: int
    access: Access
    meaning: str
    value: int | None = None
    source: str = ""
    bits: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        if self.value is not None and not 0 <= self.value < 1 << DATA_BITS:
            raise ValueError(
                f"Register {self.name!r} must show {DATA_BITS} bits, not {self.value!r}"
            )


@dataclass(frozen=True)
class Window:
    """A tensor memory, as bytes from ``offset`` on.

    A memory word is one beat: ``lanes`` elements, lane 0 first, each of ``element_bits`` bits of
    the bus. Beat ``i`` starts at byte ``offset + i * beat_bytes``; the rest of its span reads as
    zero.
    """

    tensor: str
    offset: int
    access: Access
    beats: int
    lanes: int
    element_bits: int
    beat_bytes: int
    layout: str

    @property
    def span_bytes(self) -> int:
        """Bytes from the first beat to behind the last."""
        return self.beats * self.beat_bytes


@dataclass(frozen=True)
class RegisterMap:
    """All registers and windows of one chip, in order of their offsets."""

    registers: tuple[Register, ...]
    windows: tuple[Window, ...]
    address_bits: int = field(init=False)

    def __post_init__(self) -> None:
        end = max(
            [r.offset + DATA_BYTES for r in self.registers]
            + [w.offset + w.span_bytes for w in self.windows]
        )
        object.__setattr__(self, "address_bits", (end - 1).bit_length())

    def register(self, name: str) -> Register:
        """The register of that name."""
        return next(register for register in self.registers if register.name == name)

    def window(self, tensor: str) -> Window:
        """The window of that tensor, by its name on the chip."""
        return next(window for window in self.windows if window.tensor == tensor)


def register_map(program: Program, chip: int, counters: tuple[str, ...]) -> RegisterMap:
    """The register map of a chip.

    Parameters
    ----------
    counters : tuple of str
        Names of the chip's activity counters, which become registers.

    Raises
    ------
    ValueError
        If it is not known what a counter means.
    """
    registers = _registers(program, chip, counters)
    windows: list[Window] = []
    offset = DATA_BYTES * len(registers)
    for tensor in program.canonical.chips[chip].tensors:
        window = _window(tensor, offset)
        windows.append(window)
        offset = window.offset + window.span_bytes
    return RegisterMap(registers, tuple(windows))


def element_bits(tensor: Tensor) -> int:
    """Bits of the bus that an element takes: inputs are packed bytes, outputs whole words."""
    return tensor.dtype.bytes * 8 if tensor.role is TensorRole.INPUT else DATA_BITS


def _registers(program: Program, chip: int, counters: tuple[str, ...]) -> tuple[Register, ...]:
    graph = program.graph
    output = graph.value_by_name[graph.output]
    extent = 0
    if graph.product is not None:
        extent = program.claim.k + program.claim.k_pad
    blocks = [
        stage.kind.block_count or 0
        for stage in program.chips[chip].products
        if isinstance(stage.kind, MatmulTiles)
    ]
    constants = {
        "identity": (IDENTITY, "the letters SHRD"),
        "version": (VERSION, "version of this map"),
        "chips": (program.chip_count, "chips of the program"),
        "tile": (program.tile, "edge of a tile"),
        "m": (output.rows, "rows of A and C"),
        "n": (output.cols, "columns of B and C"),
        "k": (extent, "contraction axis of the whole product, padding included"),
        "k_slice": (
            sum(blocks) * program.tile,
            "contraction axis of this chip, whole tiles",
        ),
    }
    entries: list[dict[str, Any]] = [
        {"name": name, "access": Access.READ, "meaning": meaning, "value": value}
        for name, (value, meaning) in constants.items()
    ]
    entries += [
        {
            "name": "coordinate",
            "access": Access.READ,
            "meaning": "coordinate of this chip",
            "source": "coordinate",
        },
        {
            "name": "control",
            "access": Access.WRITE,
            "meaning": "writing 1 to bit 0 starts a run; refused during a run",
            "bits": ((0, "start"),),
        },
        {
            "name": "status",
            "access": Access.READ,
            "meaning": "state of the chip; idle is all but running",
            "source": "status",
            "bits": ((0, "idle"), (1, "running"), (2, "done"), (3, "fault")),
        },
        {
            "name": "cycles",
            "access": Access.READ,
            "meaning": "cycles of this run, or of the last one",
            "source": "cycles",
        },
    ]
    entries += [
        {
            "name": counter,
            "access": Access.READ,
            "meaning": _counter_meaning(counter),
            "source": counter,
        }
        for counter in counters
    ]
    return tuple(
        Register(offset=index * DATA_BYTES, **entry) for index, entry in enumerate(entries)
    )


COUNTERS = {
    "_active_count": "cycles in which the product took a pair of beats",
    "_active_last": "number of the last such cycle",
    "_stalled_count": "cycles in which a beat waited",
    "_beats_count": "beats sent over the link",
    "_busy_count": "cycles with a flit on the link",
}
"""What counters mean, by the end of their names."""


def _counter_meaning(counter: str) -> str:
    for suffix, meaning in COUNTERS.items():
        if counter.endswith(suffix):
            return meaning
    raise ValueError(f"Counter must be one of {', '.join(COUNTERS)}, not {counter!r}")


WORDS = {Orientation.ROWS: "row", Orientation.COLUMNS: "column"}
"""What a beat is of its tile."""


def _window(tensor: Tensor, after: int) -> Window:
    is_input = tensor.role is TensorRole.INPUT
    beat_bytes = _power_of_two(max(DATA_BYTES, tensor.tile * element_bits(tensor) // 8))
    span = _power_of_two(tensor.page_count * tensor.tile * beat_bytes)
    return Window(
        tensor=local_name(tensor.name),
        offset=-(-after // span) * span,
        access=Access.READ_WRITE if is_input else Access.READ,
        beats=tensor.page_count * tensor.tile,
        lanes=tensor.tile,
        element_bits=element_bits(tensor),
        beat_bytes=beat_bytes,
        layout=(
            f"{tensor.row_tiles} x {tensor.col_tiles} tiles, row-major; a beat is a "
            f"{WORDS[tensor.orientation]} of a tile"
        ),
    )


def _power_of_two(number: int) -> int:
    """The least power of two that is not below ``number``."""
    return 1 << (number - 1).bit_length()
