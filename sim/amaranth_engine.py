"""Runs a program on Amaranth's simulator, cycle by cycle."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amaranth.sim import Simulator

from compiler.ir.program import Program
from hw.chip import Chip
from hw.link_ports import sender_port
from hw.names import local_name
from hw.system import System, settling_cycles
from sim.errors import SimulationHangError
from sim.files import check_writable
from sim.hang import waiting_stages
from sim.images import words_for
from sim.result import ChipActivity, LinkActivity
from sim.waves import written_waves

CLOCK_PERIOD_SECONDS = 1e-8
TIMELINE_SPANS = 48
"""Spans of a run that takes as long as predicted, at most."""

Progress = Callable[[int], None]


@dataclass
class EngineRun:
    """What an engine hands back: cycles until all was done, output memories, and activity."""

    cycles: int
    memories: dict[str, list[int]]
    links: list[LinkActivity] = field(default_factory=list)
    chips: list[ChipActivity] = field(default_factory=list)


class AmaranthEngine:
    """One elaborated system on Amaranth's simulator.

    Parameters
    ----------
    program : Program
        A finished program.
    """

    def __init__(self, program: Program):
        self.program = program = program.canonical
        self.system = System(program)
        self.simulator = Simulator(self.system)
        self.simulator.add_clock(CLOCK_PERIOD_SECONDS)
        self._job: Callable[[Any], Awaitable[None]] | None = None

    def run(
        self,
        contents: Mapping[str, list[int]],
        *,
        max_cycles: int,
        progress: Progress | None = None,
        waves: str | Path | None = None,
    ) -> EngineRun:
        """Load the memories, start, wait for ``done``, and read the outputs back.

        Parameters
        ----------
        contents : mapping
            Words of every input tensor, by tensor name.
        max_cycles : int
            Cycles after which the run counts as hung.
        progress : callable, optional
            Called with the number of cycles now and then.
        waves : path, optional
            Where to write a VCD file of all signals.

        Raises
        ------
        MemoryImageError
            If the words of a tensor do not fit its memory.
        SimulationHangError
            If the run does not end in ``max_cycles`` cycles.
        OutputFileError
            If the waves cannot be written.
        """
        if waves is not None:
            check_writable(waves)
        outcome = EngineRun(0, {})
        spans: list[dict[int, int]] = []

        async def job(ctx):
            for chip in self.system.chips:
                for name, memory in chip.memories.items():
                    tensor = self.program.tensor_by_name[name]
                    for row, word in enumerate(words_for(contents, tensor)):
                        ctx.set(memory.data[row].as_value(), word)
            for _ in range(settling_cycles(self.program)):
                await ctx.tick()
            ctx.set(self.system.start, 1)
            await ctx.tick()
            ctx.set(self.system.start, 0)
            assert self.program.schedule is not None
            span = -(-self.program.schedule.cycles // TIMELINE_SPANS)
            cycles = 0
            while not ctx.get(self.system.done):
                if cycles >= max_cycles:
                    waits = waiting_stages(self.system, ctx.get)
                    raise SimulationHangError(cycles=cycles, waits=tuple(waits))
                if cycles % span == 0:
                    spans.append(self._active_counts(ctx))
                    if progress:
                        progress(cycles)
                await ctx.tick()
                cycles += 1
            spans.append(self._active_counts(ctx))
            outcome.cycles = cycles
            self._collect(ctx, outcome, spans, span)

        self._prepare(job)
        with written_waves(self.simulator, waves) if waves is not None else nullcontext():
            self.simulator.run()
        return outcome

    def _prepare(self, job: Callable[[Any], Awaitable[None]]) -> None:
        """Set what the only testbench does: the simulator keeps its testbenches when it resets."""

        async def testbench(ctx):
            assert self._job is not None
            await self._job(ctx)

        if self._job is None:
            self.simulator.add_testbench(testbench)
        else:
            self.simulator.reset()
        self._job = job

    def _active_counts(self, ctx) -> dict[int, int]:
        return {
            chip.chip: sum(ctx.get(counter) for counter in _active_counters(chip))
            for chip in self.system.chips
        }

    def _collect(self, ctx, outcome: EngineRun, spans: list[dict[int, int]], span: int) -> None:
        for chip in self.system.chips:
            for stage in self.program.chips[chip.chip].stores:
                memory = chip.memories[stage.kind.tensor]
                outcome.memories[stage.kind.tensor] = [
                    ctx.get(memory.data[row].as_value()) for row in range(memory.depth)
                ]
            counts = [span_counts[chip.chip] for span_counts in spans]
            lengths = [span] * (len(counts) - 2) + [(outcome.cycles - 1) % span + 1]
            outcome.chips.append(
                ChipActivity(
                    chip=chip.chip,
                    active_cycles=counts[-1],
                    last_active_cycle=max(
                        (
                            ctx.get(chip.activity.last(f"{local_name(stage.name)}_active"))
                            for stage in chip.products
                        ),
                        default=0,
                    ),
                    timeline=tuple(
                        (after - before) / length
                        for before, after, length in zip(
                            counts[:-1], counts[1:], lengths, strict=True
                        )
                    ),
                )
            )
            for edge in chip.outgoing:
                beats, busy, stalled = (
                    ctx.get(chip.activity.count(f"{sender_port(edge)}_{event}"))
                    for event in ("beats", "busy", "stalled")
                )
                assert edge.link is not None
                outcome.links.append(LinkActivity(edge.link, beats, busy, stalled))


def _active_counters(chip: Chip) -> list:
    return [chip.activity.count(f"{local_name(stage.name)}_active") for stage in chip.products]
