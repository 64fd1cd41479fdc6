"""Counting: whatever is put into a buffer over a run is taken out of it."""

from compiler.errors import ValidationError
from compiler.flow.counts import known_page_counts
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Stage, Store
from compiler.ir.walk import Walk


def check_counting(program: Program) -> None:
    """Follow page counts from the loads to the stores. Silent until the walks are chosen.

    Raises
    ------
    ValidationError
        If a walk leaves its tensor, a product sums no block, or a store does not write each tile of
        its tensor once.
    FlowError
        If pages are left over in a buffer, or missing.
    """
    for stage in program.stages:
        _is_possible(program, stage)
    known_page_counts(program)
    for stage in program.stages:
        if isinstance(stage.kind, Store) and stage.kind.walk is not None:
            _covers(program, stage, stage.kind.tensor, stage.kind.walk)


def _is_possible(program: Program, stage: Stage) -> None:
    match stage.kind:
        case Load(tensor, walk) | Store(tensor, walk) if walk is not None:
            _walk_fits(program, stage, tensor, walk)
        case MatmulTiles(block_count) if block_count is not None and block_count < 1:
            raise ValidationError(
                "BlockCount",
                stage.name,
                f"product {stage.name!r} must sum at least 1 block, not {block_count}",
            )
        case _:
            pass


def _covers(program: Program, stage: Stage, tensor: str, walk: Walk) -> None:
    held = program.tensor_by_name[tensor].page_count
    if not walk.visits_once(held):
        visited = walk.distinct()
        raise ValidationError(
            "OutputCoverage",
            stage.name,
            f"store {stage.name!r} writes {walk.page_count} pages, "
            f"{'not all' if visited is None else visited} of them different, into tensor "
            f"{tensor!r}, which has {held}",
        )


def _walk_fits(program: Program, stage: Stage, tensor: str, walk: Walk) -> None:
    pages = program.tensor_by_name[tensor].page_count
    furthest = walk.span[1]
    strides = (*(loop.stride for loop in walk.loops), *walk.order)
    if (
        furthest >= pages
        or min(strides, default=0) < 0
        or any(each.count < 1 for each in walk.loops)
    ):
        raise ValidationError(
            "WalkLeavesTensor",
            stage.name,
            f"stage {stage.name!r} walks {walk} over tensor {tensor!r}, which has {pages} pages",
        )
