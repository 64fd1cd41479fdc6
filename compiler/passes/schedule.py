"""Schedule: predict when every stage's beats pass, and what the run takes in cycles."""

from dataclasses import replace

from compiler.ir.program import Program, Schedule, StageTiming
from compiler.ir.stage import Load, Stage
from compiler.latencies import LOAD_CYCLES
from compiler.targets import Target
from compiler.timing import TimingModel, page_interval

FOLLOWED_PAGES = 64
"""Result pages that are timed one by one; behind them the steady state goes on."""


def schedule(program: Program, target: Target) -> Program:
    """Predict cycles from ``start`` until the last output beat is in memory."""
    assert program.work is not None
    pages = program.work.result_pages
    followed = min(pages, FOLLOWED_PAGES)
    interval, bound = page_interval(program, target)
    times = TimingModel(program, pages=followed, target=target).solve()
    assert times.stored is not None
    rest = (pages - followed) * interval
    block = program.work.k_blocks * program.tile

    def timing(stage: Stage) -> StageTiming:
        if isinstance(stage.kind, Load):
            first = LOAD_CYCLES
            (product_in,) = stage.outs
            consumer = next(e.destination for e in program.edges if e.buffer == product_in)
            (out,) = program.stage_by_name[consumer].outs
            last = int(times.promised[out][-1]) + block - 2
        else:
            beats = times.written[stage.outs[0]] if stage.outs else times.stored
            assert beats is not None
            first, last = int(beats[0]), int(beats[-1])
        return StageTiming(stage.name, first, last + rest)

    return replace(
        program,
        schedule=Schedule(
            cycles=int(times.stored[-1]) + rest,
            ideal_cycles=pages * block,
            bound=bound,
            timings=tuple(map(timing, program.stages)),
        ),
    )
