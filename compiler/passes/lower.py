"""Lower: from a matrix product to a one-chip program without any decision in it."""

from compiler.errors import AccumulatorOverflowError, WorkloadError
from compiler.ir.body import image, widest_image
from compiler.ir.buffer import Buffer, BufferKind, Page
from compiler.ir.dtype import INT8, SUM_BITS, DType, integer
from compiler.ir.edge import Edge
from compiler.ir.graph import Claim, graph_of
from compiler.ir.init import Init
from compiler.ir.layout import Layout, Replicate
from compiler.ir.mesh import mesh_of
from compiler.ir.orientation import Orientation
from compiler.ir.program import Numerics, Program
from compiler.ir.stage import Load, Map, MatmulTiles, Stage, Store
from compiler.ir.tensor import Part, Tensor, TensorRole, ValueRange
from compiler.targets import Target
from compiler.workload import MatmulSpec


def lower(spec: MatmulSpec, target: Target) -> Program:
    """Two loads, one product, one store, joined by three buffers; a map before the store if asked.

    Raises
    ------
    AccumulatorOverflowError
        If a sum of ``spec.k`` products can leave its ``spec.sum_bits`` bits.
    """
    total = integer(spec.sum_bits)
    total_range = _total_range(spec, total)
    tile = target.tile
    total_page = Page(tile, tile, total)
    whole: Layout = (Replicate(),)
    result, maps = "partial", ()
    if spec.map is not None:
        result = "mapped"
        maps = (Stage("map", Map(spec.map), ins=("partial",), outs=(result,)),)

    def operand(
        name: str,
        shape: tuple[int, int],
        orientation: Orientation,
        value_range: ValueRange,
        init: Init,
    ) -> Tensor:
        return Tensor(
            name=name,
            role=TensorRole.INPUT,
            rows=shape[0],
            cols=shape[1],
            tile=tile,
            dtype=INT8,
            value_range=value_range,
            part=Part(name),
            orientation=orientation,
            init=init,
        )

    def fifo(name: str, page: Page) -> Buffer:
        return Buffer(name=name, kind=BufferKind.FIFO, page=page, holds=(whole,))

    def edge(source: str, buffer: str, destination: str) -> Edge:
        return Edge(f"{source}->{destination}", source, buffer, destination)

    a_by, b_by = Orientation.COLUMNS, Orientation.ROWS
    claim = Claim("a", "b", "c", spec.m, spec.n, spec.k, spec.k_pad, spec.map)
    return Program(
        name=f"matmul_{spec.m}x{spec.n}x{spec.k}",
        target=target,
        tile=tile,
        mesh=mesh_of(1),
        graph=graph_of(claim, (whole, whole, whole)),
        numerics=Numerics(operand=INT8, total=total),
        tensors=(
            operand("a", (spec.m, spec.k_total), a_by, spec.a_range, spec.a),
            operand("b", (spec.k_total, spec.n), b_by, spec.b_range, spec.b),
            Tensor(
                name="c",
                role=TensorRole.OUTPUT,
                rows=spec.m,
                cols=spec.n,
                tile=tile,
                dtype=total,
                value_range=total_range,
                part=Part("c"),
            ),
        ),
        stages=(
            Stage("load_a", Load("a"), outs=("a_pages",)),
            Stage("load_b", Load("b"), outs=("b_pages",)),
            Stage("matmul", MatmulTiles(), ins=("a_pages", "b_pages"), outs=("partial",)),
            *maps,
            Stage("store_c", Store("c"), ins=(result,)),
        ),
        buffers=(
            fifo("a_pages", Page(tile, tile, INT8, a_by)),
            fifo("b_pages", Page(tile, tile, INT8, b_by)),
            fifo("partial", total_page),
            *(fifo(result, total_page) for _ in maps),
        ),
        edges=(
            edge("load_a", "a_pages", "matmul"),
            edge("load_b", "b_pages", "matmul"),
            *(edge("matmul", "partial", stage.name) for stage in maps),
            edge(maps[0].name if maps else "matmul", result, "store_c"),
        ),
    )


def _total_range(spec: MatmulSpec, total: DType) -> ValueRange:
    """Range of the results; every partial sum on the way must fit too, in whatever order."""
    a, b = spec.a_range, spec.b_range
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    least, most = min(0, *products), max(0, *products)
    low, high = spec.k * least, spec.k * most
    if low < total.low or high > total.high:
        bounds = [limit // step for limit, step in ((total.low, least), (total.high, most)) if step]
        raise AccumulatorOverflowError(
            k=spec.k,
            low=low,
            high=high,
            dtype=total.name,
            k_max=min(bounds),
            most_bits=SUM_BITS[-1],
        )
    if spec.map is not None:
        least, most = widest_image(spec.map, low, high)
        if least < total.low or most > total.high:
            raise WorkloadError(
                f"map {spec.map} can reach [{least}, {most}], which {total} does not hold; use "
                f"more sum_bits"
            )
        low, high = image(spec.map, low, high)
    return ValueRange(low, high)
