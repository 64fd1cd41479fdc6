"""Buffer: choose the depths with which nothing waits for room."""

from dataclasses import replace

from compiler.ir.buffer import Buffer
from compiler.ir.program import Program
from compiler.ir.stage import Load
from compiler.targets import Target
from compiler.timing import TimingModel, page_interval

OPERAND_PAGES = 2
"""Depth between a load and a product: a load keeps pace, so two pages only cover its start."""


def choose_depths(program: Program, target: Target) -> Program:
    """Give each buffer without a depth the least one that keeps the steady state at full rate.

    In the steady state every page does what the page before it did, one page interval later. So a
    few pages are timed with unbounded buffers, as many as the longest fold can hold, and the last
    of them is looked at; a slot that is busy for ``t`` cycles, from the moment it is promised to
    the moment its return is known, is needed ``ceil(t / interval)`` times, and never more often
    than there are pages.
    """
    interval, _ = page_interval(program, target)
    unbounded = tuple(replace(buffer, depth_pages=None) for buffer in program.buffers)
    model = TimingModel(
        replace(program, buffers=unbounded),
        pages=max(1, *(len(stage.ins) for stage in program.stages)),
        target=target,
        interval=interval,
    )
    times = model.solve()
    loaded = {
        name for stage in program.stages if isinstance(stage.kind, Load) for name in stage.outs
    }
    assert program.work is not None
    results = program.work.result_pages

    def depth(buffer: Buffer) -> int:
        if buffer.name in loaded:
            return OPERAND_PAGES
        busy = int(times.returned[buffer.name][-1] - times.promised[buffer.name][-1])
        return min(max(1, -(-busy // interval)), results)

    return replace(
        program,
        buffers=tuple(
            buffer if buffer.depth_pages else replace(buffer, depth_pages=depth(buffer))
            for buffer in program.buffers
        ),
    )
