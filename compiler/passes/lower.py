"""Lower: from a matrix product to a one-chip program without any decision in it."""

from compiler.errors import AccumulatorOverflowError
from compiler.ir.buffer import Buffer, BufferKind, Page
from compiler.ir.distribution import Replicated
from compiler.ir.dtype import INT8, INT32
from compiler.ir.edge import Edge
from compiler.ir.init import Init
from compiler.ir.program import Claim, Numerics, Program
from compiler.ir.stage import Load, MatmulTiles, Stage, Store
from compiler.ir.tensor import Tensor, TensorRole, ValueRange
from compiler.targets import Target
from compiler.workload import MatmulSpec


def lower(spec: MatmulSpec, target: Target) -> Program:
    """Two loads, one product, one store, joined by three buffers.

    Raises
    ------
    AccumulatorOverflowError
        If a sum of ``spec.k`` products can leave int32.
    """
    total_range = _total_range(spec)
    tile = target.tile
    operand_page, total_page = Page(tile, tile, INT8), Page(tile, tile, INT32)

    def operand(
        name: str, shape: tuple[int, int], pad: tuple[int, int], value_range: ValueRange, init: Init
    ) -> Tensor:
        return Tensor(
            name=name,
            role=TensorRole.INPUT,
            rows=shape[0],
            cols=shape[1],
            tile=tile,
            dtype=INT8,
            value_range=value_range,
            pad=pad,
            init=init,
        )

    def fifo(name: str, page: Page) -> Buffer:
        return Buffer(name=name, kind=BufferKind.FIFO, page=page, distribution=Replicated())

    def edge(source: str, buffer: str, destination: str) -> Edge:
        return Edge(f"{source}->{destination}", source, buffer, destination)

    return Program(
        name=f"matmul_{spec.m}x{spec.n}x{spec.k}",
        target=target.name,
        tile=tile,
        chip_count=1,
        claim=Claim("a", "b", "c", spec.m, spec.n, spec.k, spec.k_pad),
        numerics=Numerics(operand=INT8, total=INT32),
        tensors=(
            operand("a", (spec.m, spec.k_total), (0, spec.k_pad), spec.a_range, spec.a),
            operand("b", (spec.k_total, spec.n), (spec.k_pad, 0), spec.b_range, spec.b),
            Tensor(
                name="c",
                role=TensorRole.OUTPUT,
                rows=spec.m,
                cols=spec.n,
                tile=tile,
                dtype=INT32,
                value_range=total_range,
            ),
        ),
        stages=(
            Stage("load_a", Load("a"), outs=("a_pages",)),
            Stage("load_b", Load("b"), outs=("b_pages",)),
            Stage("matmul", MatmulTiles(), ins=("a_pages", "b_pages"), outs=("partial",)),
            Stage("store_c", Store("c"), ins=("partial",)),
        ),
        buffers=(
            fifo("a_pages", operand_page),
            fifo("b_pages", operand_page),
            fifo("partial", total_page),
        ),
        edges=(
            edge("load_a", "a_pages", "matmul"),
            edge("load_b", "b_pages", "matmul"),
            edge("matmul", "partial", "store_c"),
        ),
    )


def _total_range(spec: MatmulSpec) -> ValueRange:
    """Range of every partial sum, in whatever order the products are added."""
    a, b = spec.a_range, spec.b_range
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = min(0, *products), max(0, *products)
    if spec.k * low < INT32.low or spec.k * high > INT32.high:
        bounds = [
            bound // extreme for bound, extreme in ((INT32.low, low), (INT32.high, high)) if extreme
        ]
        raise AccumulatorOverflowError(
            k=spec.k,
            low=spec.k * low,
            high=spec.k * high,
            dtype=INT32.name,
            k_max=min(bounds),
        )
    return ValueRange(spec.k * low, spec.k * high)
