"""Simulate: run a program on its inputs and compare its outputs with numpy's."""

from pathlib import Path

import numpy as np

from compiler.check import require
from compiler.ir.program import Program
from sim import reference
from sim.amaranth_engine import AmaranthEngine, Progress
from sim.binding import Inputs, bind
from sim.compiled.engine import CompiledEngine
from sim.compiled.errors import UnknownEngineError, WavesEngineError
from sim.errors import CyclesDifferError
from sim.images import matrix_of, words
from sim.parts import assembled
from sim.result import RunResult

ENGINES = ("amaranth", "compiled")
"""Names of the engines, which agree in every result: Amaranth's simulator, and compiled models."""


def simulate(
    program: Program,
    *arrays: np.ndarray | None,
    inputs: Inputs | None = None,
    waves: str | Path | None = None,
    progress: Progress | None = None,
    max_cycles: int | None = None,
    engine: str = "amaranth",
) -> RunResult:
    """Run ``program`` on the hardware that it describes, cycle by cycle.

    Parameters
    ----------
    program : Program
        A finished program.
    *arrays : array or None
        Inputs in the order of ``program.graph.inputs``: ``a`` of ``m x k`` and ``b`` of ``k x n``
        elements, of any integer type whose values fit int8. ``None`` where the program holds the
        values itself, or ``inputs`` has them.
    inputs : mapping, optional
        Inputs by name.
    waves : path, optional
        Where to write the waves of every signal, as VCD.
    progress : callable, optional
        Called now and then with the number of cycles that have passed.
    max_cycles : int, optional
        Cycles after which the run counts as hung; twice the predicted number and 1000 by default.
    engine : str
        ``amaranth``, or ``compiled`` for a run that is hundreds of times as fast. It needs g++,
        builds each distinct chip once, and writes no waves.

    Raises
    ------
    UncertifiedProgramError
        If the program carries no certificate, or does not meet an obligation.
    OperandError
        If the inputs do not fit the program.
    SimulationHangError
        If the run does not end; the amaranth engine names the stages that wait, and on what.
    CyclesDifferError
        If all is exact, but took other cycles than the schedule states.
    EngineError
        If the engine cannot be used as asked.
    """
    _check_engine(engine, waves)
    require(program)
    program = program.canonical
    contents = bind(program, *arrays, inputs=inputs)
    assert program.schedule is not None
    images = {name: words(array, program.tensor_by_name[name]) for name, array in contents.items()}
    limit = max_cycles or 2 * program.schedule.cycles + 1000
    if engine == "compiled":
        run = CompiledEngine(program).run(images, max_cycles=limit, progress=progress)
    else:
        run = AmaranthEngine(program).run(images, max_cycles=limit, progress=progress, waves=waves)
    result = RunResult(
        program=program,
        stored={
            name: matrix_of(memory, program.tensor_by_name[name])
            for name, memory in run.memories.items()
        },
        references=reference.claimed(
            program.graph,
            {name: assembled(program, contents, name) for name in program.graph.inputs},
        ),
        cycles=run.cycles,
        links=tuple(run.links),
        chips=tuple(run.chips),
    )
    stated = program.schedule.cycles
    if result.exact and result.cycles != stated:
        raise CyclesDifferError(program=program.name, cycles=result.cycles, stated=stated)
    return result


def _check_engine(engine: str, waves: str | Path | None) -> None:
    if engine not in ENGINES:
        raise UnknownEngineError(engine=engine, engines=ENGINES)
    if waves is not None and engine != "amaranth":
        raise WavesEngineError(engine=engine)
