"""Run the bench of this folder: ``python run.py [icarus|verilator]``.

It needs the simulator, and ``pip install cocotb cocotbext-axi``.
"""

import json
import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    """Build, run, and return how many tests failed."""
    simulator = sys.argv[1] if len(sys.argv) > 1 else "icarus"
    top = json.loads((FOLDER / "manifest.json").read_text())["top"]["name"]
    runner = get_runner(simulator)
    runner.build(
        sources=sorted(FOLDER.glob("*.v")),
        hdl_toplevel=top,
        build_dir=FOLDER / "build" / simulator,
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
    return failures


if __name__ == "__main__":
    sys.exit(main())
