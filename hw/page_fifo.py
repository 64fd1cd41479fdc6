"""The component of a Buffer."""

from amaranth.hdl import Assert, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hw.interfaces import lane_layout, positive


class PageFifo(wiring.Component):
    """First-in first-out store of ``depth_pages`` pages that moves one beat per cycle each way.

    A beat that is written at one clock edge can be read at the next. There is no combinational
    path between the two streams, so a store that holds a single beat runs at half that rate.

    One to fall through passes a beat on in the cycle in which it comes, if it is empty: ``valid``
    and ``payload`` of ``i`` to those of ``o`` are combinational. ``ready`` of ``i`` stays a
    register, so no path leads back. A beat that is taken at once takes no room.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    page_beats : :class:`int`
        Beats in a page.
    depth_pages : :class:`int`
        Pages that fit.
    commits : :class:`bool`
        Whether beats stay invisible to the reader until ``commit`` releases their page.
    fall_through : :class:`bool`
        Whether a beat can leave in the cycle in which it comes. Not if it ``commits``.

    Members
    -------
    i : ``In(stream.Signature(beat))``
        Beats to keep.
    o : ``Out(stream.Signature(beat))``
        Beats in the order in which they came.
    page_release : ``Out(1)``
        Asserted in the cycle in which the last beat of a page is taken.
    commit : ``In(1)``
        Only if ``commits``. Asserted for one cycle per page that may be read from now on; its
        beats must all have been written.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout, or a count is not a positive integer.
    :exc:`ValueError`
        If the store is to fall through and to commit pages.
    """

    def __init__(
        self,
        beat: data.ArrayLayout,
        *,
        page_beats: int,
        depth_pages: int,
        commits: bool = False,
        fall_through: bool = False,
    ):
        self.beat = lane_layout(beat, "Beat")
        self.page_beats = positive(page_beats, "Page beats")
        self.depth_pages = positive(depth_pages, "Depth in pages")
        self.commits = bool(commits)
        self.fall_through = bool(fall_through)
        if self.commits and self.fall_through:
            raise ValueError("A store that commits pages must not fall through")
        members = {
            "i": In(stream.Signature(beat)),
            "o": Out(stream.Signature(beat)),
            "page_release": Out(1),
        }
        if commits:
            members["commit"] = In(1)
        super().__init__(members)

    @property
    def depth_beats(self) -> int:
        """Beats that fit."""
        return self.page_beats * self.depth_pages

    def elaborate(self, platform) -> Module:
        m = Module()
        depth = self.depth_beats
        m.submodules.storage = storage = Memory(shape=self.beat, depth=depth, init=[])
        write = storage.write_port()
        read = storage.read_port(domain="comb")
        level = Signal(range(depth + 1))
        read_beat = Signal(range(self.page_beats))
        pushed = self.i.valid & self.i.ready
        popped = self.o.valid & self.o.ready

        # Whether there is room, and whether there is a beat, are registers of their own. Of
        # what their next values depend on, only the two strobes come late: from far away.
        has_room = Signal(init=1)
        has_beat = Signal()
        m.d.comb += self.i.ready.eq(has_room)
        m.d.comb += write.data.eq(self.i.payload)
        m.d.comb += write.en.eq(pushed)
        if not self.fall_through:
            m.d.comb += self.o.payload.eq(read.data)
        m.d.comb += self.page_release.eq(popped & (read_beat == self.page_beats - 1))
        with m.If(pushed & ~popped):
            m.d.sync += level.eq(level + 1)
            m.d.sync += has_room.eq(level != depth - 1)
            m.d.sync += has_beat.eq(1)
        with m.If(popped & ~pushed):
            m.d.sync += level.eq(level - 1)
            m.d.sync += has_room.eq(1)
            m.d.sync += has_beat.eq(level != 1)
        with m.If(pushed):
            m.d.sync += write.addr.eq(_next(write.addr, depth))
        with m.If(popped):
            m.d.sync += read.addr.eq(_next(read.addr, depth))
            m.d.sync += read_beat.eq(_next(read_beat, self.page_beats))

        if self.commits:
            readable = Signal(range(depth + 1))
            next_readable = Signal.like(readable)
            released = Mux(self.commit, self.page_beats, 0)
            m.d.comb += next_readable.eq(readable + released - popped)
            m.d.sync += readable.eq(next_readable)
            m.d.sync += self.o.valid.eq(next_readable != 0)
            m.d.sync += Assert(
                ~self.commit | (readable + self.page_beats <= level),
                "page released to the reader before it was written",
            )
        elif self.fall_through:
            m.d.comb += self.o.valid.eq(has_beat | self.i.valid)
            m.d.comb += self.o.payload.eq(self.i.payload)
            with m.If(has_beat):
                m.d.comb += self.o.payload.eq(read.data)
        else:
            m.d.comb += self.o.valid.eq(has_beat)
        return m


def _next(counter, count: int):
    """The value after ``counter`` in ``0 .. count - 1``, then 0 again."""
    if count == 1 << len(counter):
        return counter + 1
    return Mux(counter == count - 1, 0, counter + 1)
