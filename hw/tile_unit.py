"""The component of a MatmulTiles stage."""

from functools import reduce
from operator import or_

from amaranth.hdl import Assert, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hw.interfaces import lane_layout, positive
from hw.multiplier.plain import multiply_lanes
from hw.multiplier.plan import MultiplierPlan
from hw.multiplier.signature import MULTIPLIER_CYCLES


class TileUnit(wiring.Component):
    """T x T multiply-accumulate array: one outer product of two beats per cycle.

    Output stationary and row-skewed: row r works r cycles behind row 0, because B beats walk down
    the rows through registers and lane r of A is delayed by r cycles. So the rows of a result
    finish one per cycle and leave in order, without drain registers, and every operand has a
    fan-out of T. Between any two registers lies one multiplication, one addition or one selection.

    Accumulators are never cleared. They run on modulo ``2**width``, and a result is the difference
    to the total that its row had when it last left, which is exact as long as the result itself
    fits. A cycle without operands feeds zeros, so nothing inside of the array stalls; instead, the
    first beat of a result waits until there is room for the whole result.

    The first row of a result leaves 7 cycles after its last pair of beats was taken, row r
    another r cycles later: a register at the entrance, 3 cycles of multiplication, the sum, the
    selected row, and the difference take a cycle each. ``a.ready`` depends combinationally on
    ``b.valid`` and the reverse.

    Parameters
    ----------
    operand : :class:`data.ArrayLayout`
        Layout of a beat of A (a column of a tile) and of B (a row of a tile): T signed lanes.
    total : :class:`data.ArrayLayout`
        Layout of a result beat (a row of a result tile): T signed lanes, wide enough for any sum.
    block_count : :class:`int`
        Pages of each operand that make one result page.
    result_pages : :class:`int`
        Depth of the buffer that takes the results, in pages. Full rate needs
        ``(result_pages - 1) * block_count * T >= T + 7``: from T = 4 on that is 2 pages where
        ``block_count`` is 3 or more.
    multipliers : :class:`MultiplierPlan` or None
        What the array multiplies with. None writes plain multiplications, which simulate fastest
        and which synthesis maps as it likes. The schedule is the same.

    Members
    -------
    a, b : ``In(stream.Signature(operand))``
        Operand beats. They are always taken in pairs.
    c : ``Out(stream.Signature(total, always_ready=True))``
        Result beats. Holding room for a page takes the place of ``ready``.
    page_release : ``In(1)``
        Asserted for one cycle per page that leaves the result buffer.
    active : ``Out(1)``
        Asserted in a cycle in which a pair of beats is taken.

    Raises
    ------
    :exc:`TypeError`
        If a layout is not an array layout or a count is not a positive integer.
    :exc:`ValueError`
        If the two layouts differ in their number of lanes, or the plan is for another number.
    """

    def __init__(
        self,
        operand: data.ArrayLayout,
        total: data.ArrayLayout,
        *,
        block_count: int,
        result_pages: int,
        multipliers: MultiplierPlan | None = None,
    ):
        self.operand = lane_layout(operand, "Operand")
        self.total = lane_layout(total, "Total")
        if operand.length != total.length:
            raise ValueError(
                f"Operand and total must have the same number of lanes, not "
                f"{operand.length!r} and {total.length!r}"
            )
        self.tile = operand.length
        self.block_count = positive(block_count, "Block count")
        self.result_pages = positive(result_pages, "Result pages")
        self.multipliers = multipliers
        if multipliers is not None and multipliers.tile != self.tile:
            raise ValueError(
                f"Multipliers must be planned for tiles of {self.tile}, not {multipliers.tile!r}"
            )
        super().__init__(
            {
                "a": In(stream.Signature(operand)),
                "b": In(stream.Signature(operand)),
                "c": Out(stream.Signature(total, always_ready=True)),
                "page_release": In(1),
                "active": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        last = self._admit(m)
        accumulators = self._multiply_accumulate(m)
        self._drain(m, accumulators, last)
        return m

    def _admit(self, m: Module) -> Signal:
        """Take pairs of beats; return the mark of a result's last pair.

        Whether the next pair may be taken is decided a cycle ahead, so that ``active``, which
        reaches every lane, waits for nothing but the operands.
        """
        last_beat = self.block_count * self.tile - 1
        beat = Signal(range(last_beat + 1))
        room = Signal(range(self.result_pages + 1), init=self.result_pages)
        next_room = Signal.like(room)
        first = Signal(init=1)
        next_first = Signal()
        admitted = Signal(init=1)
        m.d.comb += self.a.ready.eq(self.b.valid & admitted)
        m.d.comb += self.b.ready.eq(self.a.valid & admitted)
        m.d.comb += self.active.eq(self.a.valid & self.b.valid & admitted)

        last = Signal()
        m.d.sync += last.eq(self.active & (beat == last_beat))
        with m.If(self.active):
            m.d.sync += beat.eq(Mux(beat == last_beat, 0, beat + 1))
        m.d.comb += next_first.eq(Mux(self.active, beat == last_beat, first))
        m.d.comb += next_room.eq(room - (self.active & first) + self.page_release)
        m.d.sync += first.eq(next_first)
        m.d.sync += room.eq(next_room)
        m.d.sync += admitted.eq(~next_first | (next_room != 0))
        m.d.sync += Assert(
            ~self.page_release | (room != self.result_pages),
            "page released that was never produced",
        )
        return last

    def _multiply_accumulate(self, m: Module) -> list[data.View]:
        """The array itself; return each row's accumulators."""
        width = self.total.elem_shape.width
        lanes = range(self.tile)
        # Lane r of A enters row r after r cycles: stage r keeps lanes r and up.
        a = [
            Signal(data.ArrayLayout(self.operand.elem_shape, self.tile - row), name=f"a_{row}")
            for row in lanes
        ]
        b = [Signal(self.operand, name=f"b_{row}") for row in lanes]
        m.d.sync += a[0].eq(Mux(self.active, self.a.payload.as_value(), 0))
        with m.If(self.active):
            m.d.sync += b[0].eq(self.b.payload)
        for row in lanes[1:]:
            m.d.sync += a[row].eq(a[row - 1].as_value()[self.operand.elem_shape.width :])
            m.d.sync += b[row].eq(b[row - 1])

        accumulators = []
        for row in lanes:
            products = self._multiply(m, row, a[row][0], b[row])
            sums = Signal(self.total, name=f"sums_{row}")
            m.d.sync += sums.eq(Cat((sums[lane] + products[lane])[:width] for lane in lanes))
            accumulators.append(sums)
        return accumulators

    def _multiply(self, m: Module, row: int, a: Value, b: data.View) -> list[Value]:
        """The products of a row: flat in this module, or a component for each."""
        if self.multipliers is None:
            return multiply_lanes(m, a, b, name=f"row_{row}")
        products = []
        for lane in range(self.tile):
            multiplier = self.multipliers.kind(row, lane)(self.operand.elem_shape.width)
            m.submodules[f"multiplier_{row}_{lane}"] = multiplier
            m.d.comb += multiplier.a.eq(a)
            m.d.comb += multiplier.b.eq(b[lane])
            products.append(multiplier.product)
        return products

    def _drain(self, m: Module, accumulators: list[data.View], last: Signal) -> None:
        """Send each row as it finishes, as the difference to the row's total of last time."""
        width = self.total.elem_shape.width
        lanes = range(self.tile)
        for cycle in range(MULTIPLIER_CYCLES):
            later = Signal(name=f"last_{cycle}")
            m.d.sync += later.eq(last)
            last = later

        # The row whose sums are complete, one-hot. After a reset all rows pass once, unseen, while
        # they are still zero, so that the totals become zero.
        finished = Signal(self.tile, init=1)
        clearing = Signal(init=1)
        row = Signal(range(self.tile))
        m.d.sync += finished.eq(Cat(last, finished[:-1]))
        with m.If(finished.any()):
            m.d.sync += row.eq(Mux(finished[-1], 0, row + 1))
        with m.If(finished[-1]):
            m.d.sync += clearing.eq(0)

        selected = Signal()
        selected_row = Signal.like(row)
        visible = Signal()
        sums = Signal(self.total)
        m.d.sync += selected.eq(finished.any())
        m.d.sync += selected_row.eq(row)
        m.d.sync += visible.eq(finished.any() & ~clearing)
        m.d.sync += sums.eq(
            reduce(
                or_,
                (
                    accumulators[index].as_value() & finished[index].replicate(self.total.size)
                    for index in lanes
                ),
            )
        )
        before = self._totals_before(m, row, selected_row, selected, sums)

        result = Signal(self.total)
        m.d.sync += result.eq(Cat((sums[lane] - before[lane])[:width] for lane in lanes))
        m.d.sync += self.c.valid.eq(visible)
        m.d.comb += self.c.payload.eq(result)

    def _totals_before(
        self, m: Module, next_row: Signal, row: Signal, selected: Signal, sums: data.View
    ) -> data.View:
        """Keep the total of the selected row; return the one that it had before."""
        if self.tile == 1:
            last_sums = data.View(self.total, Signal(self.total.size, name="last_sums"))
            with m.If(selected):
                m.d.sync += last_sums.eq(sums)
            return last_sums
        m.submodules.totals = totals = Memory(shape=self.total, depth=self.tile, init=[])
        read = totals.read_port()
        write = totals.write_port()
        m.d.comb += read.addr.eq(next_row)
        m.d.comb += write.addr.eq(row)
        m.d.comb += write.data.eq(sums)
        m.d.comb += write.en.eq(selected)
        return read.data
