"""Counting: whatever is put into a buffer over a run is taken out of it."""

from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Stage, Store
from compiler.ir.walk import Walk
from compiler.validate.flow import in_flow_order, sources_of


def check_counting(program: Program) -> None:
    """Follow page counts from the loads to the stores. Silent until the walks are chosen."""
    pages: dict[str, int | None] = {}
    for stage in in_flow_order(program):
        made = _pages_made(program, stage, pages)
        pages |= dict.fromkeys(stage.outs, made)


def _pages_made(program: Program, stage: Stage, pages: dict[str, int | None]) -> int | None:
    """Pages that a stage puts out, if it takes all that its sources put in."""
    sources = sources_of(program, stage)
    match stage.kind:
        case Load(tensor, walk):
            if walk is not None:
                _walk_fits(program, stage, tensor, walk)
            return walk and walk.page_count
        case MatmulTiles(block_count):
            if block_count is None:
                return None
            if block_count < 1:
                raise ValidationError(
                    "BlockCount",
                    stage.name,
                    f"product {stage.name!r} must sum at least 1 block, not {block_count}",
                )
            given = pages[sources[0]]
            if given is None:
                return None
            results = given // block_count
            for name in sources:
                _balanced(stage, name, pushed=pages[name], popped=results * block_count)
            return results
        case Store(tensor, walk):
            if walk is None:
                return None
            _walk_fits(program, stage, tensor, walk)
            _balanced(stage, sources[0], pushed=pages[sources[0]], popped=walk.page_count)
            visited, held = walk.distinct(), program.tensor_by_name[tensor].page_count
            if not walk.page_count == visited == held:
                raise ValidationError(
                    "OutputCoverage",
                    stage.name,
                    f"store {stage.name!r} writes {walk.page_count} pages, {visited} of them "
                    f"different, into tensor {tensor!r}, which has {held}",
                )
            return 0
        case Recv() | Fold() | Map():
            for name in sources:
                _balanced(stage, name, pushed=pages[name], popped=pages[sources[0]])
            return pages[sources[0]]


def _balanced(stage: Stage, buffer: str, *, pushed: int | None, popped: int | None) -> None:
    if None not in (pushed, popped) and pushed != popped:
        raise ValidationError(
            "CountingImbalance",
            buffer,
            f"buffer {buffer!r} receives {pushed} pages, but {stage.name!r} takes {popped}",
        )


def _walk_fits(program: Program, stage: Stage, tensor: str, walk: Walk) -> None:
    furthest = sum((loop.count - 1) * loop.stride for loop in walk.loops)
    pages = program.tensor_by_name[tensor].page_count
    if furthest >= pages or any(loop.stride < 0 or loop.count < 1 for loop in walk.loops):
        raise ValidationError(
            "WalkLeavesTensor",
            stage.name,
            f"stage {stage.name!r} walks {walk} over tensor {tensor!r}, which has {pages} pages",
        )
