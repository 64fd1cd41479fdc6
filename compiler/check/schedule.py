"""Obligation ``schedule``: the stated cycles are possible."""

from collections.abc import Iterator

from compiler.check.token_run import TokenRun
from compiler.check.tokens import FOLLOWED_PAGES
from compiler.ir.certificate import Obligation
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Store

STATEMENT = (
    "The stated schedule is no shorter than what the arrays and links need, keeps every "
    "dependence, and ends when the token graph does."
)


def schedule(program: Program) -> Obligation:
    """Compare the schedule with lower bounds, with the edges, and with the token graph."""
    stated = program.schedule
    if stated is None:
        return Obligation("schedule", STATEMENT, (), ("the program has no schedule",))
    pages, interval = _pages(program), _interval(program)
    needed = max((_array_cycles(program, pages), (pages - 1) * interval))
    violations = list(_dependences(program))
    if stated.cycles < needed:
        violations.append(f"{stated.cycles} cycles are stated, but {needed} are needed at least")
    if stated.ideal_cycles != _array_cycles(program, pages):
        violations.append(
            f"{stated.ideal_cycles} ideal cycles are stated, but the arrays need "
            f"{_array_cycles(program, pages)}"
        )
    followed = min(pages, FOLLOWED_PAGES)
    runnable = all(b.depth_pages for b in program.buffers) and all(
        e.route for e in program.edges if program.crosses(e)
    )
    if runnable and followed:
        ends = TokenRun(program, followed).run().end + (pages - followed) * interval
        if ends != stated.cycles:
            violations.append(f"{stated.cycles} cycles are stated, but the tokens take {ends}")
    evidence = (("stated cycles", stated.cycles), ("least cycles", needed))
    return Obligation("schedule", STATEMENT, evidence, tuple(violations))


def _pages(program: Program) -> int:
    walks = [s.kind.walk for s in program.stages if isinstance(s.kind, Store) and s.kind.walk]
    return min((walk.page_count for walk in walks), default=0)


def _array_cycles(program: Program, pages: int) -> int:
    blocks = [s.kind.block_count or 0 for s in program.stages if isinstance(s.kind, MatmulTiles)]
    return pages * max(blocks, default=0) * program.tile


def _interval(program: Program) -> int:
    """Cycles from one result page to the next that arrays and links need."""
    needed = [_array_cycles(program, 1)]
    for edge in program.edges:
        page = program.buffer_by_name[edge.buffer].page
        for name in edge.route or ():
            width = program.link_by_name[name].width_bits
            needed.append(page.beats * -(-page.beat_bits // width))
    return max(needed)


def _dependences(program: Program) -> Iterator[str]:
    assert program.schedule is not None
    times = {timing.stage: timing for timing in program.schedule.timings}
    for stage in program.stages:
        if stage.name not in times:
            yield f"{stage.name} has no time"
    for name in times:
        if name not in program.stage_by_name:
            yield f"{name} has a time, but is no stage"
    for edge in program.edges:
        before, after = times.get(edge.source), times.get(edge.destination)
        if not before or not after:
            continue
        hops = [program.link_by_name[name].latency_cycles for name in edge.route or ()]
        if after.first_beat < before.first_beat + 1 + sum(hops):
            yield (
                f"{edge.destination} begins at cycle {after.first_beat}, but {edge.source} sends "
                f"its first beat at {before.first_beat}"
            )
        if after.last_beat < before.last_beat + 1 + sum(hops):
            yield (
                f"{edge.destination} ends at cycle {after.last_beat}, but {edge.source} sends its "
                f"last beat at {before.last_beat}"
            )
    ends = [
        times[s.name].last_beat
        for s in program.stages
        if isinstance(s.kind, Store) and s.name in times
    ]
    if ends and max(ends) != program.schedule.cycles:
        yield f"the last store ends at {max(ends)}, not at the stated {program.schedule.cycles}"
