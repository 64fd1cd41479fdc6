"""Schedule: predict when every stage's beats pass, and what the run takes in cycles."""

from dataclasses import replace

from compiler.errors import StalledPagesError
from compiler.flow.alike import alike
from compiler.flow.components import Component, components
from compiler.flow.stalls import full_buffers
from compiler.ir.program import Program, Schedule, StageTiming
from compiler.ir.stage import Load, MatmulTiles, Stage, Store
from compiler.latencies import FIFO_CYCLES, LOAD_CYCLES
from compiler.timing.rates import round_cycles
from compiler.timing.steady_state import Followed, follow


def schedule(program: Program) -> Program:
    """Predict cycles from ``start`` until the last output beat is in memory.

    Raises
    ------
    StalledPagesError
        If pages that go round a circle of stages wait for each other.
    """
    depths = {buffer.name: buffer.depth_pages or 1 for buffer in program.buffers}
    parts = components(program)
    if any(part.goes_round(program) for part in parts):
        full = full_buffers(program, depths)
        if full:
            raise StalledPagesError(buffers=tuple(full))
    timings: dict[str, StageTiming] = {}
    ends: list[int] = []
    bounds: list[tuple[int, str]] = []
    for group in alike(program, parts):
        first = group[0]
        followed = follow(program, first)
        ends.append(followed.end)
        cycles, bound = round_cycles(program, first)
        bounds.append((cycles * first.rounds, bound))
        timed = [_timing(followed, stage) for stage in first.stages]
        for part in group:
            for stage, (first_beat, last_beat) in zip(part.stages, timed, strict=True):
                timings[stage.name] = StageTiming(stage.name, first_beat, last_beat)
    _, bound = max(bounds, key=lambda bound: bound[0])
    return replace(
        program,
        schedule=Schedule(
            cycles=max(ends),
            ideal_cycles=max(_ideal_cycles(program, part) for part in parts),
            bound=bound,
            timings=tuple(timings[stage.name] for stage in program.stages),
        ),
    )


def _timing(followed: Followed, stage: Stage) -> tuple[int, int]:
    """The cycles in which the first and the last beat leave a stage."""
    times = followed.times
    match stage.kind:
        case Load() if stage.outs[0] not in followed.part.share:
            product = followed.model.reader_of(stage)
            return LOAD_CYCLES, followed.last(times.paired[product.outs[0]]) - FIFO_CYCLES
        case Store():
            beats = [times.stored[stage.name]]
        case _:
            beats = [times.written[name] for name in stage.outs]
    return min(int(each[0]) for each in beats), max(map(followed.last, beats))


def _ideal_cycles(program: Program, part: Component) -> int:
    """Cycles that the busiest array needs, or the busiest link if nothing is multiplied."""
    if program.graph.product is None:
        return part.rounds * round_cycles(program, part)[0]
    return _array_cycles(program, part)


def _array_cycles(program: Program, part: Component) -> int:
    """Cycles that the busiest array of a component needs for its products alone."""
    return max(
        (
            part.rounds * part.share[stage.outs[0]] * stage.kind.block_count * program.tile
            for stage in part.stages
            if isinstance(stage.kind, MatmulTiles) and stage.kind.block_count is not None
        ),
        default=0,
    )
