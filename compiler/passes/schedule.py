"""Schedule: predict when every stage's beats pass, and what the run takes in cycles."""

from dataclasses import replace

from compiler.ir.program import Program, Schedule, StageTiming
from compiler.ir.stage import Load, Stage
from compiler.latencies import FIFO_CYCLES, LOAD_CYCLES
from compiler.steady_state import follow
from compiler.targets import Target
from compiler.timing import Cycles, page_interval


def schedule(program: Program, target: Target) -> Program:
    """Predict cycles from ``start`` until the last output beat is in memory."""
    assert program.work is not None
    pages = program.work.result_pages
    _, bound = page_interval(program, target)
    times, repetition = follow(program, target, pages=pages)
    assert times.stored is not None

    def last(by_page: Cycles) -> int:
        return repetition.at(pages - 1, by_page)

    def timing(stage: Stage) -> StageTiming:
        if isinstance(stage.kind, Load):
            (operand,) = stage.outs
            product = next(e.destination for e in program.edges if e.buffer == operand)
            (out,) = program.stage_by_name[product].outs
            return StageTiming(stage.name, LOAD_CYCLES, last(times.paired[out]) - FIFO_CYCLES)
        beats = times.written[stage.outs[0]] if stage.outs else times.stored
        assert beats is not None
        ends = beats[program.tile - 1 :: program.tile]
        return StageTiming(stage.name, int(beats[0]), last(ends))

    return replace(
        program,
        schedule=Schedule(
            cycles=last(times.stored[program.tile - 1 :: program.tile]),
            ideal_cycles=pages * program.work.k_blocks * program.tile,
            bound=bound,
            timings=tuple(map(timing, program.stages)),
        ),
    )
