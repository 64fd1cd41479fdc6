"""The component of a MatmulTiles stage."""

from amaranth.hdl import Array, Assert, Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hw.interfaces import lane_layout, positive


class TileUnit(wiring.Component):
    """T x T multiply-accumulate array: one outer product of two beats per cycle.

    Output stationary and row-skewed: row r works r cycles behind row 0, because B beats walk down
    the rows through registers and lane r of A is delayed by r cycles. So the rows of a result
    finish one per cycle and leave in order, without drain registers, and every operand has a
    fan-out of T. Products are registered.

    Accumulators are never cleared. They run on modulo ``2**width``, and a result is the difference
    to the total that its row had when it last left, which is exact as long as the result itself
    fits. A cycle without operands feeds zeros, so nothing inside of the array stalls; instead, the
    first beat of a result waits until there is room for the whole result.

    The first row of a result leaves 4 cycles after its last pair of beats was taken, row r
    another r cycles later. ``a.ready`` depends combinationally on ``b.valid`` and the reverse.

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
        ``(result_pages - 1) * block_count * T >= T + 4``: from T = 4 on that is 2 pages, and 3
        where ``block_count`` is 1.

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
        If the two layouts differ in their number of lanes.
    """

    def __init__(
        self,
        operand: data.ArrayLayout,
        total: data.ArrayLayout,
        *,
        block_count: int,
        result_pages: int,
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
        """Take pairs of beats; return the mark of a result's last pair."""
        last_beat = self.block_count * self.tile - 1
        beat = Signal(range(last_beat + 1))
        room = Signal(range(self.result_pages + 1), init=self.result_pages)
        first = beat == 0
        admitted = ~first | (room != 0)
        m.d.comb += self.a.ready.eq(self.b.valid & admitted)
        m.d.comb += self.b.ready.eq(self.a.valid & admitted)
        m.d.comb += self.active.eq(self.a.valid & self.b.valid & admitted)

        last = Signal()
        m.d.sync += last.eq(self.active & (beat == last_beat))
        with m.If(self.active):
            m.d.sync += beat.eq(Mux(beat == last_beat, 0, beat + 1))
        m.d.sync += room.eq(room - (self.active & first) + self.page_release)
        m.d.sync += Assert(
            ~self.page_release | (room != self.result_pages),
            "page released that was never produced",
        )
        return last

    def _multiply_accumulate(self, m: Module) -> list[data.View]:
        """The array itself, flat; return each row's accumulators."""
        width = self.total.elem_shape.width
        product_width = 2 * self.operand.elem_shape.width
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
            products = Signal(data.ArrayLayout(self._product, self.tile), name=f"products_{row}")
            sums = Signal(self.total, name=f"sums_{row}")
            m.d.sync += products.eq(
                Cat((a[row][0] * b[row][lane])[:product_width] for lane in lanes)
            )
            m.d.sync += sums.eq(Cat((sums[lane] + products[lane])[:width] for lane in lanes))
            accumulators.append(sums)
        return accumulators

    @property
    def _product(self):
        return type(self.operand.elem_shape)(2 * self.operand.elem_shape.width, signed=True)

    def _drain(self, m: Module, accumulators: list[data.View], last: Signal) -> None:
        """Send each row as it finishes, as the difference to the row's total of last time."""
        width = self.total.elem_shape.width
        m.submodules.totals = totals = Memory(shape=self.total, depth=self.tile, init=[])
        before = totals.read_port(domain="comb")
        after = totals.write_port()
        product_last = Signal()
        sum_last = Signal()
        row = Signal(range(self.tile))
        drained_row = Signal(range(self.tile))
        row_sums = Signal(self.total)
        totals_valid = Signal()
        drains = sum_last | (row != 0)

        m.d.sync += product_last.eq(last)
        m.d.sync += sum_last.eq(product_last)
        m.d.sync += self.c.valid.eq(drains)
        with m.If(drains):
            m.d.sync += row_sums.eq(Array(accumulators)[row])
            m.d.sync += drained_row.eq(row)
            m.d.sync += row.eq(Mux(row == self.tile - 1, 0, row + 1))
        with m.If(self.c.valid & (drained_row == self.tile - 1)):
            m.d.sync += totals_valid.eq(1)

        # Before the first result, the accumulators started from zero and the memory is stale.
        m.d.comb += before.addr.eq(drained_row)
        for lane in range(self.tile):
            total = Mux(totals_valid, before.data[lane], 0)
            m.d.comb += self.c.payload[lane].eq((row_sums[lane] - total)[:width])
        m.d.comb += after.addr.eq(drained_row)
        m.d.comb += after.data.eq(row_sums)
        m.d.comb += after.en.eq(self.c.valid)
