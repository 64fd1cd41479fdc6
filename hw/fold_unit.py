"""The component of a Fold or Map stage."""

from functools import reduce
from operator import and_

from amaranth.hdl import Cat, Const, Module, Mux
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from compiler.ir.body import (
    Add,
    Body,
    Literal,
    Max,
    Operand,
    in_postorder,
    is_operation,
    literals_of,
    operands_of,
)
from hw.interfaces import lane_layout

NAMED_OPERANDS = 8
"""Operands that the name of a sum lists, at most."""


class FoldUnit(wiring.Component):
    """Combines one beat of each input stream into one beat, in the order that a body states.

    Every operation of the body is one pipeline stage: it takes its two beats together as soon as
    both are there and its own register is free. So an operand meets the pipeline only where the
    body uses it, and the last operand of a left fold sees a single cycle of latency. One beat per
    cycle; ``ready`` runs combinationally from ``o`` back through the operations.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat, of the operands and of the result alike.
    body : :data:`Body`
        Expression over the operands. Each operand ``0 .. n - 1`` must stand in it exactly once; a
        literal stands for the same value in every lane.

    Members
    -------
    i : ``In(stream.Signature(beat)).array(n)``
        Operand streams.
    o : ``Out(stream.Signature(beat))``
        Results.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout.
    :exc:`ValueError`
        If the body is no operation, has one of literals alone, leaves out an operand or uses one
        twice, or if a lane does not hold a literal.
    """

    def __init__(self, beat: data.ArrayLayout, *, body: Body):
        self.beat = lane_layout(beat, "Beat")
        self.body = body
        used = sorted(operands_of(body))
        if used != list(range(len(used))) or not is_operation(body):
            raise ValueError(
                f"Body must combine each operand from 0 up exactly once, not be {body}"
            )
        reach = 1 << (beat.elem_shape.width - 1)
        for value in literals_of(body):
            if not -reach <= value < reach:
                raise ValueError(
                    f"Literals must be in -{reach} .. {reach - 1}, as a lane is, not {value!r}"
                )
        self.operand_count = len(used)
        super().__init__(
            {
                "i": In(stream.Signature(beat)).array(self.operand_count),
                "o": Out(stream.Signature(beat)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        sides: list = []
        for part in in_postorder(self.body):
            match part:
                case Operand(index):
                    sides.append(self.i[index])
                case Literal():
                    sides.append(part)
                case Add() | Max():
                    right, left = sides.pop(), sides.pop()
                    result = self.o if part is self.body else self._between(part)
                    self._elaborate_operation(m, part, left, right, result)
                    sides.append(result)
        return m

    def _between(self, body: Add | Max):
        """The register of an operation within the body, as a stream."""
        return stream.Signature(self.beat).create(path=(_stream_name(body),))

    def _elaborate_operation(self, m: Module, body: Add | Max, left, right, result) -> None:
        """One stage of the pipeline: it takes from streams, or literals, on both of its sides."""
        streams = [side for side in (left, right) if not isinstance(side, Literal)]
        free = ~result.valid | result.ready
        all_valid = reduce(and_, (stream.valid for stream in streams))
        for stream_ in streams:
            others = [other.valid for other in streams if other is not stream_]
            m.d.comb += stream_.ready.eq(reduce(and_, others, free))
        with m.If(free):
            m.d.sync += result.valid.eq(all_valid)
        with m.If(all_valid & free):
            m.d.sync += result.payload.eq(self._combine(body, left, right))

    def _combine(self, body: Add | Max, left, right):
        width = self.beat.elem_shape.width
        lanes = [
            (self._lane(left, lane), self._lane(right, lane)) for lane in range(self.beat.length)
        ]
        match body:
            case Add():
                return Cat((x + y)[:width] for x, y in lanes)
            case Max():
                return Cat(Mux(x > y, x, y)[:width] for x, y in lanes)

    def _lane(self, side, lane: int):
        if isinstance(side, Literal):
            return Const(side.value, self.beat.elem_shape)
        return side.payload[lane]


def _stream_name(body: Body) -> str:
    """The operands that an operation has below it, as far as a name should list them."""
    below = list(operands_of(body))
    more = [f"and_{len(below) - NAMED_OPERANDS}_more"] if len(below) > NAMED_OPERANDS else []
    return "_".join(["op", *map(str, below[:NAMED_OPERANDS]), *more])
