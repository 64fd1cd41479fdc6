"""Signals of a netlist: pieces of wires, and constants, put together."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slice:
    """``width`` bits of a wire, from bit ``start`` on."""

    wire: str
    start: int
    width: int


@dataclass(frozen=True)
class Bits:
    """A constant of ``width`` bits."""

    value: int
    width: int


Piece = Slice | Bits
Signal = tuple[Piece, ...]
"""Pieces side by side, lowest bits first."""


def width_of(signal: Signal) -> int:
    """Bits of a signal."""
    return sum(piece.width for piece in signal)


def join(*signals: Signal) -> Signal:
    """Signals side by side, the first in the lowest bits. Neighbours that belong together merge."""
    joined: list[Piece] = []
    for piece in (piece for signal in signals for piece in signal if piece.width):
        before = joined[-1] if joined else None
        match before, piece:
            case Slice(wire, start, width), Slice(same, follows, more) if (
                wire == same and start + width == follows
            ):
                joined[-1] = Slice(wire, start, width + more)
            case Bits(value, width), Bits(high, more):
                joined[-1] = Bits(value | high << width, width + more)
            case _:
                joined.append(piece)
    return tuple(joined)


def part(signal: Signal, start: int, width: int) -> Signal:
    """``width`` bits of a signal, from bit ``start`` on."""
    pieces: list[Piece] = []
    for piece in signal:
        low, high = max(start, 0), min(start + width, piece.width)
        if low < high:
            if isinstance(piece, Slice):
                pieces.append(Slice(piece.wire, piece.start + low, high - low))
            else:
                pieces.append(Bits(piece.value >> low & ((1 << high - low) - 1), high - low))
        start -= piece.width
    return join(tuple(pieces))


def resized(signal: Signal, width: int, *, signed: bool = False) -> Signal:
    """A signal of another width: without its highest bits, or with its sign or zeros in front."""
    missing = width - width_of(signal)
    if missing <= 0:
        return part(signal, 0, width)
    if not signed or not signal:
        return join(signal, (Bits(0, missing),))
    sign = part(signal, width_of(signal) - 1, 1)
    return join(signal, *[sign] * missing)


def wires_of(signal: Signal) -> set[str]:
    """The wires that a signal has pieces of."""
    return {piece.wire for piece in signal if isinstance(piece, Slice)}
