"""Co-simulate: run the emitted Verilog of a program under its bench, and say what came out."""

import json
import tempfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from compiler.ir.dtype import integer
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Stage
from compiler.ir.tensor import Tensor, TensorRole
from hw.link_ports import sender_port
from hw.names import local_name
from hw.register_map import ELEMENT_BITS
from sim import reference
from sim.cosim.package import write_package
from sim.cosim.runner import check_tools, run_bench
from sim.errors import BenchFailedError
from sim.images import matrix_of
from sim.operands import assembled, bind
from sim.result import ChipActivity, LinkActivity, RunResult

PRODUCT_TEST = "product_is_exact_and_on_time"


def cosimulate(
    program: Program,
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
    *,
    simulator: str,
    folder: str | Path | None = None,
    every_test: bool = False,
) -> RunResult:
    """Run the Verilog of ``program`` under cocotb, loaded and read through its host ports.

    Parameters
    ----------
    program : Program
        A finished program.
    a, b : array, optional
        Operands; left out where the program holds them.
    simulator : str
        ``icarus`` or ``verilator``.
    folder : path, optional
        Folder to make and keep the Verilog, the bench and its logs in.
    every_test : bool
        Whether the bench also runs twice without a reset, and resets in the middle of a run.

    Returns
    -------
    RunResult
        As of a simulation, without timelines of activity. It is not exact where the product
        differs from numpy's.

    Raises
    ------
    UncertifiedProgramError, OperandError, OutputFileError
        As :func:`write_package` does.
    ToolMissingError
        If the simulator is not there.
    BenchBuildError
        If the simulator does not accept the Verilog.
    BenchFailedError
        If the bench fails for another reason than a product that differs.
    """
    check_tools(simulator)
    place = tempfile.TemporaryDirectory(prefix="shardwright.") if folder is None else nullcontext()
    with place as temporary:
        package = Path(folder) if folder is not None else Path(temporary or "") / "package"
        design = write_package(package, program, a, b)
        report = package / "report.json"
        try:
            run_bench(
                simulator,
                sources=sorted(package.glob("*.v")),
                top=design.top.name,
                module="test_system",
                folder=package,
                tests=None if every_test else (PRODUCT_TEST,),
                plusargs={
                    "manifest": package.resolve() / "manifest.json",
                    "report": report.resolve(),
                },
            )
        except BenchFailedError:
            if not report.is_file():
                raise
            result = _result(program, a, b, json.loads(report.read_text()))
            if result.exact:
                raise
            return result
        return _result(program, a, b, json.loads(report.read_text()))


def _result(
    program: Program, a: np.ndarray | None, b: np.ndarray | None, report: dict[str, Any]
) -> RunResult:
    """What the bench reports, as the result of a run."""
    contents, claim = bind(program, a, b), program.claim
    (output,) = (tensor for tensor in program.tensors if tensor.role is TensorRole.OUTPUT)
    counters = report["counters"]
    return RunResult(
        program=program,
        c=_matrix(report["product"], output),
        reference=reference.claimed(
            claim,
            assembled(program, contents, claim.left),
            assembled(program, contents, claim.right),
        ),
        cycles=report["cycles"],
        links=tuple(_links(program, counters)),
        chips=tuple(
            _chip(program, chip, counters[str(chip)]) for chip in range(program.chip_count)
        ),
    )


def _matrix(beats: list[str], tensor: Tensor) -> np.ndarray:
    """The matrix in the beats of a result window, given as the hex of their bytes."""
    sent = ELEMENT_BITS[tensor.role] // 8 * tensor.tile
    words = [int.from_bytes(bytes.fromhex(beat)[:sent], "little") for beat in beats]
    return matrix_of(words, replace(tensor, dtype=integer(ELEMENT_BITS[tensor.role])))


def _links(program: Program, counters: dict[str, dict[str, int]]) -> list[LinkActivity]:
    links: list[LinkActivity] = []
    for chip in range(program.chip_count):
        for edge in program.edges:
            source = program.stage_by_name[edge.source].site
            if not program.crosses(edge) or source is None or source.chip != chip:
                continue
            port = sender_port(edge)
            beats, busy, stalled = (
                counters[str(chip)][f"{port}_{event}_count"]
                for event in ("beats", "busy", "stalled")
            )
            assert edge.route
            links.append(LinkActivity(edge.route[0], beats, busy, stalled))
    return links


def _chip(program: Program, chip: int, counters: dict[str, int]) -> ChipActivity:
    products = [
        local_name(stage.name)
        for stage in program.stages
        if isinstance(stage.kind, MatmulTiles) and _chip_of(stage) == chip
    ]
    return ChipActivity(
        chip=chip,
        active_cycles=sum(counters[f"{product}_active_count"] for product in products),
        last_active_cycle=max(counters[f"{product}_active_last"] for product in products),
    )


def _chip_of(stage: Stage) -> int | None:
    return stage.site.chip if stage.site else None
