"""Counting: whatever is put into a buffer over a run is taken out of it."""

from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, MatmulTiles, Recv, Stage, Store


def check_counting(program: Program) -> None:
    """Follow page counts from the loads to the stores. Silent until the walks are chosen."""
    pages: dict[str, int] = {}
    waiting = list(program.stages)
    while waiting:
        stage = next(
            (s for s in waiting if all(name in pages for name in _sources(program, s))), None
        )
        if stage is None:
            return
        waiting.remove(stage)
        made = _pages_made(program, stage, pages)
        if made is None:
            return
        for name in stage.outs:
            pages[name] = made


def _sources(program: Program, stage: Stage) -> tuple[str, ...]:
    if isinstance(stage.kind, Recv):
        return tuple(edge.buffer for edge in program.edges_by_destination[stage.name])
    return stage.ins


def _pages_made(program: Program, stage: Stage, pages: dict[str, int]) -> int | None:
    """Pages that a stage puts out, if it takes all that its sources put in."""
    sources = _sources(program, stage)
    match stage.kind:
        case Load(tensor, walk):
            if walk is not None:
                _walk_fits(program, stage, tensor, walk)
            return walk and walk.page_count
        case MatmulTiles(block_count):
            if block_count is None:
                return None
            results = pages[sources[0]] // block_count
            for name in sources:
                _balanced(stage, name, pushed=pages[name], popped=results * block_count)
            return results
        case Store(tensor, walk):
            if walk is None:
                return None
            _walk_fits(program, stage, tensor, walk)
            _balanced(stage, sources[0], pushed=pages[sources[0]], popped=walk.page_count)
            visited = len(set(walk.pages()))
            if visited != program.tensor_by_name[tensor].page_count:
                raise ValidationError(
                    "OutputCoverage",
                    stage.name,
                    f"store {stage.name!r} writes {visited} pages of tensor {tensor!r}, which has "
                    f"{program.tensor_by_name[tensor].page_count}",
                )
            return 0
        case Recv() | Fold():
            for name in sources:
                _balanced(stage, name, pushed=pages[name], popped=pages[sources[0]])
            return pages[sources[0]]


def _balanced(stage: Stage, buffer: str, *, pushed: int, popped: int) -> None:
    if pushed != popped:
        raise ValidationError(
            "CountingImbalance",
            buffer,
            f"buffer {buffer!r} receives {pushed} pages, but {stage.name!r} takes {popped}",
        )


def _walk_fits(program: Program, stage: Stage, tensor: str, walk) -> None:
    furthest = sum((loop.count - 1) * loop.stride for loop in walk.loops)
    pages = program.tensor_by_name[tensor].page_count
    if furthest >= pages or any(loop.stride < 0 or loop.count < 1 for loop in walk.loops):
        raise ValidationError(
            "WalkLeavesTensor",
            stage.name,
            f"stage {stage.name!r} walks {walk} over tensor {tensor!r}, which has {pages} pages",
        )
