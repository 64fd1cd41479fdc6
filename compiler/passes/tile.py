"""Tile: choose the order of the loops, and bake what each chip walks into its stages."""

from dataclasses import replace

from compiler.ir.choice import Chooser
from compiler.ir.graph import LoopOrder
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Stage, Store
from compiler.ir.tensor import Tensor
from compiler.ir.walk import Loop, Walk


def tile(program: Program) -> Program:
    """Choose the loop order over result tiles where there is none, and fill in walks and counts.

    All result tiles of a row of tiles are made before the next row (order ``mn``), and the
    contraction runs innermost, so a result page is summed without leaving the array. The shapes
    are those of the chip's own tensors.
    """
    product = program.graph.product
    if product is None:
        return program
    order = product.order or LoopOrder("mn", by=Chooser.COMPILER)
    loaded = {
        stage.outs[0]: program.tensor_by_name[stage.kind.tensor]
        for stage in program.stages
        if isinstance(stage.kind, Load)
    }
    pairs = {
        name: tuple(loaded.get(operand) for operand in stage.ins)
        for stage in program.stages
        if isinstance(stage.kind, MatmulTiles)
        for name in stage.ins
    }

    def baked(stage: Stage) -> Stage:
        match stage.kind:
            case Load(tensor, None):
                left, right = pairs.get(stage.outs[0], (None, None))
                if left is None or right is None:
                    return stage
                walk = _operand_walk(left, right, order, is_left=tensor == left.name)
                return replace(stage, kind=Load(tensor, walk))
            case MatmulTiles(None):
                left, _ = pairs[stage.ins[0]]
                return stage if left is None else replace(stage, kind=MatmulTiles(left.col_tiles))
            case Store(tensor, None):
                output = program.tensor_by_name[tensor]
                return replace(stage, kind=Store(tensor, _output_walk(output, order)))
            case _:
                return stage

    return replace(
        program,
        graph=replace(program.graph, operations=(replace(product, order=order),)),
        stages=tuple(map(baked, program.stages)),
    )


def _operand_walk(left: Tensor, right: Tensor, order: LoopOrder, *, is_left: bool) -> Walk:
    """How an operand is visited: all blocks of the contraction for each tile of the result."""
    m, n, k = left.row_tiles, right.col_tiles, left.col_tiles
    if is_left:
        free, blocks = {"m": Loop(m, k), "n": Loop(n, 0)}, Loop(k, 1)
    else:
        free, blocks = {"m": Loop(m, 0), "n": Loop(n, 1)}, Loop(k, n)
    return Walk((*(free[axis] for axis in order.loops), blocks))


def _output_walk(output: Tensor, order: LoopOrder) -> Walk:
    """How the output is visited. Tiles lie row-major in every tensor."""
    free = {"m": Loop(output.row_tiles, output.col_tiles), "n": Loop(output.col_tiles, 1)}
    return Walk(tuple(free[axis] for axis in order.loops))
