"""Co-simulate: run the emitted Verilog of a program under its bench, and say what came out."""

import json
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from compiler.ir.program import Program
from sim.binding import Inputs, bind
from sim.cosim.package import write_package
from sim.cosim.runner import check_tools, run_bench
from sim.errors import BenchFailedError
from sim.reported_result import reported_result
from sim.result import RunResult

PRODUCT_TEST = "product_is_exact_and_on_time"


def cosimulate(
    program: Program,
    *arrays: np.ndarray | None,
    inputs: Inputs | None = None,
    simulator: str,
    folder: str | Path | None = None,
    every_test: bool = False,
) -> RunResult:
    """Run the Verilog of ``program`` under cocotb, loaded and read through its host ports.

    Parameters
    ----------
    program : Program
        A finished program.
    *arrays : array or None
        Inputs in the order of ``program.graph.inputs``; ``None`` where the program holds them.
    inputs : mapping, optional
        Inputs by name.
    simulator : str
        ``icarus`` or ``verilator``.
    folder : path, optional
        Folder to make and keep the Verilog, the bench and its logs in.
    every_test : bool
        Whether the bench also runs without a reset, and starts and resets in the middle of a run.

    Returns
    -------
    RunResult
        As of a simulation, without timelines of activity. It is not exact where an output
        differs from numpy's on a chip that has it.

    Raises
    ------
    UncertifiedProgramError, OperandError, OutputFileError
        As :func:`write_package` does.
    ToolMissingError
        If the simulator is not there.
    BenchBuildError
        If the simulator does not accept the Verilog.
    BenchFailedError
        If the bench fails for another reason than an output that differs.
    """
    check_tools(simulator)
    place = tempfile.TemporaryDirectory(prefix="shardwright.") if folder is None else nullcontext()
    with place as temporary:
        package = Path(folder) if folder is not None else Path(temporary or "") / "package"
        design = write_package(package, program, *arrays, inputs=inputs)
        contents = bind(program, *arrays, inputs=inputs)
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
            result = _result(program, contents, report, simulator)
            if result.exact:
                raise
            return result
        return _result(program, contents, report, simulator)


def _result(
    program: Program, contents: dict[str, np.ndarray], report: Path, simulator: str
) -> RunResult:
    """What the bench reports, as the result of a run."""
    try:
        said = json.loads(report.read_text())
    except ValueError as error:  # the simulator was ended while it wrote
        failures = (f"the bench left a report that cannot be read: {error}",)
        raise BenchFailedError(simulator=simulator, failures=failures) from error
    return reported_result(
        program,
        contents,
        windows={
            tensor: [bytes.fromhex(beat) for beat in beats]
            for tensor, beats in said["outputs"].items()
        },
        counters={int(chip): counters for chip, counters in said["counters"].items()},
    )
