"""How many pages pass through each buffer in a run."""

from collections import Counter

from compiler.flow.errors import FlowError
from compiler.flow.order import in_flow_order, sources_of
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Merge, Split, Stage, Store


def page_counts(program: Program) -> dict[str, int]:
    """Pages that each buffer is given, by its name. Walks and block counts must be chosen.

    Raises
    ------
    FlowError
        If a stage leaves pages in a buffer, or waits for pages that never come.
    """
    pushed: dict[str, int] = {}
    for stage in in_flow_order(program):
        sources = sources_of(program, stage)
        given = [pushed[name] for name in sources]
        taken, made = _passed(stage, given)
        for name, has, takes in zip(sources, given, taken, strict=True):
            if has != takes:
                raise FlowError(
                    "CountingImbalance",
                    name,
                    f"buffer {name!r} receives {has} pages, but {stage.name!r} takes {takes}",
                )
        pushed.update(zip(stage.outs, made, strict=True))
    return pushed


def _passed(stage: Stage, given: list[int]) -> tuple[list[int], list[int]]:
    """Pages that a stage takes from each source and puts into each output."""
    match stage.kind:
        case Load(_, walk):
            return [], [walk.page_count if walk else 0]
        case Store(_, walk):
            return [walk.page_count if walk else 0], []
        case MatmulTiles(block_count):
            each = max(1, block_count or 1)
            results = given[0] // each
            return [results * each] * len(given), [results]
        case Merge(turns):
            rounds = given[0] // max(1, turns.count(0))
            return [rounds * turns.count(i) for i in range(len(given))], [rounds * len(turns)]
        case Split(turns):
            rounds, share = given[0] // max(1, len(turns)), Counter(turns)
            return [rounds * len(turns)], [rounds * share[i] for i in range(len(stage.outs))]
        case _:
            return [given[0]] * len(given), [given[0]] * len(stage.outs)
