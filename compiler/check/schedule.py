"""Obligation ``schedule``: the stated cycles are possible."""

from collections import Counter
from collections.abc import Iterator

from compiler.check.token_run import TokenRun
from compiler.check.tokens import stuck
from compiler.ir.certificate import Obligation
from compiler.ir.program import Program, Schedule
from compiler.ir.stage import MatmulTiles, Store

STATEMENT = (
    "The stated schedule is no shorter than what the arrays and links need, keeps every "
    "dependence, and times every stage as the token graph does."
)


def schedule(program: Program) -> Obligation:
    """Compare the schedule with lower bounds, with the edges, and with the token graph."""
    stated = program.schedule
    if stated is None:
        return Obligation("schedule", STATEMENT, (), ("the program has no schedule",))
    pages, (interval, bounds) = _pages(program), _interval(program)
    needed = max((_array_cycles(program, pages), (pages - 1) * interval))
    violations = list(_dependences(program))
    if stated.cycles < needed:
        violations.append(f"{stated.cycles} cycles are stated, but {needed} are needed at least")
    if stated.ideal_cycles != _array_cycles(program, pages):
        violations.append(
            f"{stated.ideal_cycles} ideal cycles are stated, but the arrays need "
            f"{_array_cycles(program, pages)}"
        )
    if stated.bound not in bounds:
        violations.append(f"{stated.bound!r} is stated to bound the run, not {bounds[0]!r}")
    if not violations and pages > 0 and not list(stuck(program)):
        violations += _compared(stated, TokenRun(program, pages).run())
    evidence = (("stated cycles", stated.cycles), ("least cycles", needed))
    return Obligation("schedule", STATEMENT, evidence, tuple(violations))


def _pages(program: Program) -> int:
    walks = [s.kind.walk for s in program.stages if isinstance(s.kind, Store) and s.kind.walk]
    return min((walk.page_count for walk in walks), default=0)


def _array_cycles(program: Program, pages: int) -> int:
    blocks = [s.kind.block_count or 0 for s in program.stages if isinstance(s.kind, MatmulTiles)]
    return pages * max(blocks, default=0) * program.tile


def _interval(program: Program) -> tuple[int, list[str]]:
    """Cycles from one result page to the next, and all that needs as many."""
    needed = {"compute": _array_cycles(program, 1)}
    for edge in program.edges:
        page = program.buffer_by_name[edge.buffer].page
        for name in edge.route or ():
            link = program.link_by_name[name]
            flits = page.beats * -(-page.beat_bits // link.width_bits)
            needed[f"link {name}"] = flits * link.flit_cycles
    most = max(needed.values())
    return most, [name for name, cycles in needed.items() if cycles == most]


def _compared(stated: Schedule, run: TokenRun) -> Iterator[str]:
    """Where a schedule says something else than the tokens do."""
    if stated.cycles != run.end:
        yield f"{stated.cycles} cycles are stated, but the tokens take {run.end}"
    for timing in stated.timings:
        first, last = run.sent[timing.stage]
        if (timing.first_beat, timing.last_beat) != (first, last):
            yield (
                f"{timing.stage} is said to send from {timing.first_beat} to {timing.last_beat}, "
                f"but the tokens pass from {first} to {last}"
            )


def _dependences(program: Program) -> Iterator[str]:
    assert program.schedule is not None
    times = {timing.stage: timing for timing in program.schedule.timings}
    for stage in program.stages:
        if stage.name not in times:
            yield f"{stage.name} has no time"
    for name, count in Counter(timing.stage for timing in program.schedule.timings).items():
        if name not in program.stage_by_name:
            yield f"{name} has a time, but is no stage"
        if count > 1:
            yield f"{name} has {count} times"
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
