"""A program in which the pages of two chips take turns."""

from dataclasses import replace

from compiler.ir.edge import Edge
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Merge, Split, Stage
from tests.compiler.programs import changed, spread


def merged(turns: tuple[int, ...], again: tuple[int, ...]) -> Program:
    """Two products of 8 results each take turns on their way to their stores."""
    program = spread(mesh=Mesh(tp=2), shard=(("m", "tp"),))
    sums, stores = ("c0.partial", "c1.partial"), ("c0.store_c", "c1.store_c")
    page = program.buffer_by_name["c0.partial"]
    kept = tuple(edge for edge in program.edges if edge.buffer not in sums)
    for store, source in zip(stores, ("x", "y"), strict=True):
        program = changed(program, store, ins=(source,))
    return replace(
        program,
        stages=(
            *program.stages,
            Stage("merge", Merge(turns), ins=sums, outs=("joint",)),
            Stage("split", Split(again), ins=("joint",), outs=("x", "y")),
        ),
        buffers=(*program.buffers, *(replace(page, name=name) for name in ("joint", "x", "y"))),
        edges=(
            *kept,
            Edge("1", "c0.matmul", sums[0], "merge"),
            Edge("2", "c1.matmul", sums[1], "merge"),
            Edge("3", "merge", "joint", "split"),
            Edge("4", "split", "x", stores[0]),
            Edge("5", "split", "y", stores[1]),
        ),
    )
