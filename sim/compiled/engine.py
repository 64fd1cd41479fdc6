"""Runs a program on compiled models of its chips, cycle by cycle."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from compiler.ir.program import Program
from hw.names import local_name
from hw.system import settling_cycles
from sim.amaranth_engine import TIMELINE_SPANS, EngineRun, Progress
from sim.compiled.build import build
from sim.compiled.cache import ModelCache
from sim.compiled.library import DriverLibrary, ModelLibrary
from sim.compiled.pace import Pace
from sim.compiled.system import CompiledChip, CompiledSystem
from sim.errors import SimulationHangError
from sim.images import words_for
from sim.result import ChipActivity, LinkActivity

UNNAMED_WAITS = "the stages that the amaranth engine names"


class CompiledEngine:
    """The chips of one program, each kind compiled once.

    The first engine of a program builds its models, which takes seconds; later ones find them in
    the cache. Runs are those of :class:`AmaranthEngine`, cycle for cycle.

    Parameters
    ----------
    program : Program
        A finished program.
    cache : path, optional
        Folder of built models; ``shardwright/models`` in the user's cache by default.
    threads : int, optional
        Threads that step the chips; by default one or one for each core, whichever is faster as
        the run goes.

    Raises
    ------
    MissingToolError, BrokenToolError
        If there is no compiler, or a tool does not work.
    ModelBuildError
        If a tool refuses a model.
    ModelCacheError, ModelLoadError
        If the cache cannot be written, or its models cannot be loaded.
    """

    def __init__(
        self, program: Program, *, cache: str | Path | None = None, threads: int | None = None
    ):
        self.program = program = program.canonical
        self._threads = threads
        driver, models = build(program, ModelCache(Path(cache) if cache is not None else None))
        libraries = {path: ModelLibrary(path) for path in {*models.values()}}
        self._driver = DriverLibrary(driver)
        self._libraries = {chip: libraries[path] for chip, path in models.items()}

    def run(
        self,
        contents: Mapping[str, list[int]],
        *,
        max_cycles: int,
        progress: Progress | None = None,
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

        Raises
        ------
        MemoryImageError
            If the words of a tensor do not fit its memory.
        SimulationHangError
            If the run does not end in ``max_cycles`` cycles.
        """
        system = CompiledSystem(self.program, self._libraries)
        for chip in system.chips:
            _load(chip, contents)
        self._driver.run(system.state, settling_cycles(self.program))
        self._driver.run(system.state, 1, start=True)
        assert self.program.schedule is not None
        span = -(-self.program.schedule.cycles // TIMELINE_SPANS)
        started = system.state.cycle
        counts: list[list[int]] = []
        pace = Pace(self._thread_counts())
        while system.done_cycle is None:
            cycles = system.state.cycle - started
            if cycles > max_cycles:
                raise SimulationHangError(cycles=max_cycles, waits=(UNNAMED_WAITS,))
            active = [_active_cycles(chip) for chip in system.chips]
            with pace.measured() as threads:
                steps = min(span, max_cycles + 1 - cycles)
                self._driver.run(system.state, steps, threads=threads)
            if system.done_cycle != started + cycles:
                counts.append(active)
                if progress:
                    progress(cycles)
        cycles = system.done_cycle - started
        counts.append([_active_cycles(chip) for chip in system.chips])
        return EngineRun(
            cycles,
            dict(_results(system)),
            [link for chip in system.chips for link in _link_activity(chip)],
            [
                _chip_activity(chip, np.array([row[index] for row in counts]), span, cycles)
                for index, chip in enumerate(system.chips)
            ],
        )

    def _thread_counts(self) -> tuple[int, ...]:
        """Numbers of threads among which the fastest is sought."""
        if self._threads is not None:
            return (self._threads,)
        return tuple({1, min(len(os.sched_getaffinity(0)), self.program.chip_count)})


def _load(chip: CompiledChip, contents: Mapping[str, list[int]]) -> None:
    for tensor in chip.ports.tensors:
        words = words_for(contents, tensor)
        memory = chip.memory(tensor)
        word_bytes = memory.shape[1] * memory.itemsize
        raw = b"".join(word.to_bytes(word_bytes, "little") for word in words)
        memory[: len(words)] = np.frombuffer(raw, "<u4").reshape(-1, memory.shape[1])


def _results(system: CompiledSystem) -> Iterator[tuple[str, list[int]]]:
    for chip in system.chips:
        for tensor in chip.ports.outputs:
            rows = chip.memory(tensor).astype("<u4")
            yield tensor.name, [int.from_bytes(row.tobytes(), "little") for row in rows]


def _active_events(chip: CompiledChip) -> list[str]:
    return [f"{local_name(stage.name)}_active" for stage in chip.ports.products]


def _active_cycles(chip: CompiledChip) -> int:
    return sum(chip.counter(f"{event}_count") for event in _active_events(chip))


def _chip_activity(chip: CompiledChip, counts: np.ndarray, span: int, cycles: int) -> ChipActivity:
    """Activity of a chip, from its active cycles before each span of the run and after the last."""
    lengths = np.full(len(counts) - 1, span)
    lengths[-1] = (cycles - 1) % span + 1
    return ChipActivity(
        chip=chip.ports.chip,
        active_cycles=int(counts[-1]),
        last_active_cycle=max(
            (chip.counter(f"{event}_last") for event in _active_events(chip)), default=0
        ),
        timeline=tuple((np.diff(counts) / lengths).tolist()),
    )


def _link_activity(chip: CompiledChip) -> Iterator[LinkActivity]:
    for end in chip.ports.senders:
        assert end.edge.link is not None
        beats, busy, stalled = (
            chip.counter(f"{end.port}_{event}_count") for event in ("beats", "busy", "stalled")
        )
        yield LinkActivity(end.edge.link, beats, busy, stalled)
