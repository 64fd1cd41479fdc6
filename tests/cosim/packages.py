"""Packages of emitted Verilog, made once for all tests of a process."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from sim.cosim.package import write_package
from sim.cosim.runner import run_bench
from tests.cosim.configurations import Configuration

SMALL = Configuration(4, 4, 8, 2, 2, width=40, latency=3)


@cache
def _made(configuration: Configuration) -> Path:
    folder = Path(mkdtemp(prefix="shardwright.")) / "package"
    program = configuration.program()
    write_package(folder, program, *configuration.operands(program))
    return folder


def package(folder: Path, configuration: Configuration = SMALL) -> Path:
    """A package in a folder that may be changed."""
    return Path(shutil.copytree(_made(configuration), folder / "package"))


def run_package(folder: Path, simulator: str = "icarus", **options) -> int:
    """Run the bench of a package."""
    return run_bench(
        simulator,
        sources=sorted(folder.glob("*.v")),
        top=next(path.stem for path in folder.glob("matmul_*.v")),
        module="test_system",
        folder=folder,
        plusargs={"manifest": folder / "manifest.json"},
        **options,
    )
