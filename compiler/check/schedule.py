"""Obligation ``schedule``: the stated cycles are possible."""

from collections import Counter
from collections.abc import Iterator

from compiler.check.run import ProgramRun, run_of
from compiler.check.tokens import check_flow, result_pages, stuck
from compiler.flow.components import Component, components
from compiler.flow.errors import FlowError
from compiler.ir.certificate import Obligation
from compiler.ir.edge import Edge
from compiler.ir.program import Program, Schedule
from compiler.ir.stage import MatmulTiles, Merge, Recv, Split, Store

STATEMENT = (
    "The stated schedule is no shorter than what the arrays and links need, keeps every "
    "dependence, and times every stage as the token graph does."
)


def schedule(program: Program) -> Obligation:
    """Compare the schedule with lower bounds, with the edges, and with the token graph."""
    stated = program.schedule
    if stated is None:
        return Obligation("schedule", STATEMENT, (), ("the program has no schedule",))
    try:
        check_flow(program)
        parts = components(program)
    except FlowError as error:
        return Obligation("schedule", STATEMENT, (), (str(error),))
    ideal = max((_ideal_cycles(program, part) * part.rounds for part in parts), default=0)
    between = (_most(_needed(program, part)) * (part.rounds - 1) for part in parts)
    least = max(ideal, *between)
    violations = list(_dependences(program))
    if stated.cycles < least:
        violations.append(f"{stated.cycles} cycles are stated, but {least} are needed at least")
    needs = "the arrays" if program.graph.product else "the links"
    if stated.ideal_cycles != ideal:
        violations.append(
            f"{stated.ideal_cycles} ideal cycles are stated, but {needs} need {ideal}"
        )
    bounds = _bounds(program, parts)
    if stated.bound not in bounds:
        violations.append(f"{stated.bound!r} is stated to bound the run, not {bounds[0]!r}")
    if not violations and result_pages(program) > 0 and not list(stuck(program)):
        run = run_of(program)
        violations += [] if run.stuck else _compared(stated, run)
    evidence = (("stated cycles", stated.cycles), ("least cycles", least))
    return Obligation("schedule", STATEMENT, evidence, tuple(violations))


def _ideal_cycles(program: Program, part: Component) -> int:
    """Cycles of a round that the arrays need, or the busiest link if nothing is multiplied."""
    if program.graph.product is None:
        return _most(_needed(program, part))
    return _array_cycles(program, part)


def _array_cycles(program: Program, part: Component) -> int:
    """Cycles of a round that the busiest array needs."""
    pairs = (
        part.share[stage.outs[0]] * (stage.kind.block_count or 0)
        for stage in part.stages
        if isinstance(stage.kind, MatmulTiles)
    )
    return max(pairs, default=0) * program.tile


def _needed(program: Program, part: Component) -> dict[str, int]:
    """Cycles of a round that the arrays and each link need."""
    needed = {"compute": _array_cycles(program, part)}
    for stage in part.stages:
        if not isinstance(stage.kind, Recv):
            continue
        for edge in program.edges_by_destination[stage.name]:
            if edge.link is not None:
                link, page = (
                    program.link_by_name[edge.link],
                    program.buffer_by_name[edge.buffer].page,
                )
                flits = page.beats * -(-page.beat_bits // link.width_bits)
                pages = part.share.get(edge.buffer, 0)
                needed[f"link {edge.link}"] = pages * flits * link.flit_cycles
    return needed


def _most(needed: dict[str, int]) -> int:
    return max(needed.values())


def _bounds(program: Program, parts: list[Component]) -> list[str]:
    """All that needs as many cycles over the whole run as anything does."""
    needed: dict[str, int] = {}
    for part in parts:
        for name, cycles in _needed(program, part).items():
            needed[name] = max(needed.get(name, 0), cycles * part.rounds)
    most = max(needed.values())
    return [name for name, cycles in needed.items() if cycles == most]


def _compared(stated: Schedule, run: ProgramRun) -> Iterator[str]:
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
        falls = program.buffer_by_name[edge.buffer].fall_through
        on_the_way = (0 if falls else 1) + _latency(program, edge)
        # A merge may begin with another input, and a split end with another output.
        merges = isinstance(program.stage_by_name[edge.destination].kind, Merge)
        if not merges and after.first_beat < before.first_beat + on_the_way:
            yield (
                f"{edge.destination} begins at cycle {after.first_beat}, but {edge.source} sends "
                f"its first beat at {before.first_beat}"
            )
        splits = isinstance(program.stage_by_name[edge.source].kind, Split)
        if not splits and after.last_beat < before.last_beat + on_the_way:
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


def _latency(program: Program, edge: Edge) -> int:
    return program.link_by_name[edge.link].latency_cycles if edge.link else 0
