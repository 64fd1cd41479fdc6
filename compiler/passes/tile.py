"""Tile: choose the block plan, and bake it into the stages."""

from dataclasses import replace

from compiler.ir.program import Program, Trip, WorkPlan
from compiler.ir.stage import Load, MatmulTiles, Stage, Store
from compiler.ir.tensor import Tensor
from compiler.ir.walk import Loop, Walk


def tile(program: Program) -> Program:
    """Choose the loop order over result tiles where there is none, and fill in walks and counts.

    All result tiles of a row of tiles are made before the next row (order ``mn``), and the
    contraction runs innermost, so a result page is summed without leaving the array.
    """
    left = _loaded(program, program.claim.left)
    right = _loaded(program, program.claim.right)
    work = program.work or WorkPlan(
        m_tiles=left.row_tiles, n_tiles=right.col_tiles, k_blocks=left.col_tiles
    )
    walks = _walks(work)

    def baked(stage: Stage) -> Stage:
        match stage.kind:
            case Load(tensor, None):
                side = "left" if tensor == left.name else "right"
                return replace(stage, kind=Load(tensor, walks[side]))
            case MatmulTiles(None):
                return replace(stage, kind=MatmulTiles(work.k_blocks))
            case Store(tensor, None):
                return replace(stage, kind=Store(tensor, walks["output"]))
            case _:
                return stage

    stages = tuple(map(baked, program.stages))
    return replace(
        program, work=work, stages=stages, trips=program.trips or tuple(map(_trip, _moves(stages)))
    )


def _moves(stages: tuple[Stage, ...]) -> list[tuple[str, Walk]]:
    return [
        (stage.kind.tensor, stage.kind.walk)
        for stage in stages
        if isinstance(stage.kind, Load | Store) and stage.kind.walk is not None
    ]


def _trip(move: tuple[str, Walk]) -> Trip:
    tensor, walk = move
    pages = walk.distinct()
    return Trip(tensor, pages, walk.page_count // pages)


def _loaded(program: Program, whole: str) -> Tensor:
    """The tensor, or the first slice of it: all slices share one shape."""
    return next(
        tensor
        for tensor in program.tensors
        if tensor.name == whole or (tensor.slice_of and tensor.slice_of.whole == whole)
    )


def _walks(work: WorkPlan) -> dict[str, Walk]:
    """How each tensor is visited. Tiles lie row-major in every tensor."""
    m, n, k = work.m_tiles, work.n_tiles, work.k_blocks
    left = {"m": Loop(m, k), "n": Loop(n, 0)}
    right = {"m": Loop(m, 0), "n": Loop(n, 1)}
    output = {"m": Loop(m, n), "n": Loop(n, 1)}
    return {
        "left": Walk((*(left[axis] for axis in work.order), Loop(k, 1))),
        "right": Walk((*(right[axis] for axis in work.order), Loop(k, n))),
        "output": Walk(tuple(output[axis] for axis in work.order)),
    }
