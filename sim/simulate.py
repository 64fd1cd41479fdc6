"""Simulate: run a program on its operands and compare the product with numpy's."""

from pathlib import Path

import numpy as np

from compiler.check import require
from compiler.ir.program import Program
from compiler.ir.stage import Store
from sim import reference
from sim.amaranth_engine import AmaranthEngine, Progress
from sim.compiled.engine import CompiledEngine
from sim.compiled.errors import UnknownEngineError, WavesEngineError
from sim.errors import CyclesDifferError
from sim.images import matrix_of, words
from sim.operands import assembled, bind
from sim.result import RunResult

ENGINES = ("amaranth", "compiled")
"""Names of the engines, which agree in every result: Amaranth's simulator, and compiled models."""


def simulate(
    program: Program,
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
    *,
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
    a, b : array, optional
        Operands of ``m x k`` and ``k x n`` elements of any integer type whose values fit int8.
        Left out where the program holds the values itself.
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
        If the operands do not fit the program.
    SimulationHangError
        If the run does not end; the amaranth engine names the stages that wait, and on what.
    CyclesDifferError
        If the product is exact, but took other cycles than the schedule states.
    EngineError
        If the engine cannot be used as asked.
    """
    _check_engine(engine, waves)
    require(program)
    program = program.canonical
    contents = bind(program, a, b)
    claim = program.claim
    assert program.schedule is not None
    images = {
        name: words(
            array, program.tensor_by_name[name], by_columns=_holds(program, name, claim.left)
        )
        for name, array in contents.items()
    }
    limit = max_cycles or 2 * program.schedule.cycles + 1000
    if engine == "compiled":
        run = CompiledEngine(program).run(images, max_cycles=limit, progress=progress)
    else:
        run = AmaranthEngine(program).run(images, max_cycles=limit, progress=progress, waves=waves)
    (output,) = (stage.kind.tensor for stage in program.stages if isinstance(stage.kind, Store))
    result = RunResult(
        program=program,
        c=matrix_of(run.memories[output], program.tensor_by_name[output]),
        reference=reference.claimed(
            claim,
            assembled(program, contents, claim.left),
            assembled(program, contents, claim.right),
        ),
        cycles=run.cycles,
        links=tuple(run.links),
        chips=tuple(run.chips),
    )
    stated = program.schedule.cycles
    if result.exact and result.cycles != stated:
        raise CyclesDifferError(program=program.name, cycles=result.cycles, stated=stated)
    return result


def _holds(program: Program, tensor: str, whole: str) -> bool:
    """Whether a tensor is the whole of that name, or a slice of it."""
    piece = program.tensor_by_name[tensor].slice_of
    return tensor == whole or (piece is not None and piece.whole == whole)


def _check_engine(engine: str, waves: str | Path | None) -> None:
    if engine not in ENGINES:
        raise UnknownEngineError(engine=engine, engines=ENGINES)
    if waves is not None and engine != "amaranth":
        raise WavesEngineError(engine=engine)
