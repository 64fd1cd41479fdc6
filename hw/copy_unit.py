"""The component of a Copy stage."""

from functools import reduce
from operator import and_

from amaranth.hdl import Assert, Cat, Const, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import lane_layout, positive


class CopyUnit(wiring.Component):
    """Puts each beat into all of its outputs at once, in a cycle in which all of them take one.

    Combinational: ``i`` to ``o``, ``o`` to ``i``, and the ready of each output to the valid of the
    others. So no output may wait for its valid before it is ready; buffers do not.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    outputs : :class:`int`
        Streams that come out.

    Members
    -------
    i : ``In(stream.Signature(beat))``
        Beats.
    o : ``Out(stream.Signature(beat)).array(outputs)``
        The same beats, on each.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout, or ``outputs`` is not a positive integer.
    """

    def __init__(self, beat: data.ArrayLayout, *, outputs: int):
        self.beat = lane_layout(beat, "Beat")
        self.outputs = positive(outputs, "Outputs")
        super().__init__(
            {
                "i": In(stream.Signature(beat)),
                "o": Out(stream.Signature(beat)).array(outputs),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        for output in self.o:
            others = (other.ready for other in self.o if other is not output)
            m.d.comb += output.payload.eq(self.i.payload)
            m.d.comb += output.valid.eq(reduce(and_, others, self.i.valid))
        m.d.comb += self.i.ready.eq(reduce(and_, (output.ready for output in self.o), Const(1)))
        written = Cat(output.valid & output.ready for output in self.o)
        taken = self.i.valid & self.i.ready
        m.d.sync += Assert(
            written == taken.replicate(self.outputs), "a beat went to some outputs and not to all"
        )
        return m
