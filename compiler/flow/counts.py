"""How many pages pass through each buffer in a run."""

from collections import Counter

from compiler.flow.errors import FlowError
from compiler.flow.order import in_flow_order, sources_of
from compiler.flow.rounds import round_of
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Merge, Split, Stage, Store


def page_counts(program: Program) -> dict[str, int]:
    """Pages that each buffer is given, by its name. Walks and block counts must be chosen.

    Raises
    ------
    FlowError
        If a stage leaves pages in a buffer, or waits for pages that never come, or if walks or
        block counts are missing.
    """
    counts: dict[str, int] = {}
    for name, count in known_page_counts(program).items():
        if count is None:
            round_of(program)  # says where pages never begin to pass
            raise FlowError(
                "WalkMissing",
                name,
                f"it is not said how many pages buffer {name!r} is given; a walk or a block count "
                f"before it is missing",
            )
        counts[name] = count
    return counts


def known_page_counts(program: Program) -> dict[str, int | None]:
    """Pages that each buffer is given; ``None`` where that is not chosen yet.

    Raises
    ------
    FlowError
        If a stage leaves pages in a buffer, or waits for pages that never come.
    """
    order = in_flow_order(program)
    pushed: dict[str, int | None] = {name: None for stage in order for name in stage.outs}
    unknown = -1
    # Round a circle, a count is known only once it has come round to where the circle begins.
    while unknown != (unknown := sum(count is None for count in pushed.values())):
        for stage in order:
            sources = sources_of(program, stage)
            given = [pushed[name] for name in sources]
            shares, made = _shares(stage, len(sources))
            rounds = _rounds(stage, given, shares)
            for name, has, share in zip(sources, given, shares, strict=True):
                if rounds is not None and has is not None and has != rounds * share:
                    raise FlowError(
                        "CountingImbalance",
                        name,
                        f"buffer {name!r} receives {has} pages, but {stage.name!r} takes "
                        f"{rounds * share}",
                    )
            for name, share in zip(stage.outs, made, strict=True):
                pushed[name] = None if rounds is None else rounds * share
    return pushed


def _shares(stage: Stage, sources: int) -> tuple[list[int], list[int]]:
    """Pages that a stage takes from each source and puts into each output in one round."""
    match stage.kind:
        case MatmulTiles(block_count):
            return [max(1, block_count or 1)] * sources, [1]
        case Merge(turns):
            each = Counter(turns)
            return [each[index] for index in range(sources)], [len(turns)]
        case Split(turns):
            each = Counter(turns)
            return [len(turns)], [each[index] for index in range(len(stage.outs))]
        case _:
            return [1] * sources, [1] * len(stage.outs)


def _rounds(stage: Stage, given: list[int | None], shares: list[int]) -> int | None:
    """How often a stage does so: as often as its walk says, or its first source lets it."""
    match stage.kind:
        case Load(_, walk) | Store(_, walk):
            return None if walk is None else walk.page_count
        case MatmulTiles(None):
            return None
        case _:
            known = zip(given, shares, strict=True)
            return next((has // max(1, share) for has, share in known if has is not None), None)
