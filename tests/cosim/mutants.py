"""Faults put into the emitted Verilog, each of which a bench must notice.

``python -m tests.cosim.mutants`` prints what notices each of them.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten

from hw.verilog.convert import to_verilog
from sim.cosim.runner import run_bench
from sim.errors import BenchFailedError
from tests.cosim.bodies import UNITS
from tests.cosim.configurations import Configuration
from tests.cosim.packages import package, run_package

SYSTEM = Configuration(8, 8, 32, 4, 4, width=40, latency=3)
"""Two blocks of the contraction on each chip, four pages over each link, four flits a beat."""
TIMEOUT_SECONDS = 60
UNIT_TEST = "does_as_its_body_asks"


@dataclass(frozen=True)
class Mutant:
    """One replacement in one module of the emitted text, for a system or a unit bench.

    ``module`` is how the name of the module ends; ``pattern`` must be found in it.
    """

    what: str
    bench: Configuration | str
    module: str
    pattern: str
    replacement: str

    def __str__(self) -> str:
        return self.what


MUTANTS = (
    # The whole system, by its host ports.
    Mutant(
        "a fold subtracts in one lane",
        SYSTEM,
        "_fold",
        r"(i__0__payload\[63:32\]) \+ (i__1__payload\[63:32\])",
        r"\1 - \2",
    ),
    Mutant(
        "a product is added without its sign",
        SYSTEM,
        "_matmul",
        r"\{\{16\{row_1_product\[31\]\}\}, (row_1_product\[31:16\])\}",
        r"{16'd0, \1}",
    ),
    Mutant(
        "a multiplication is unsigned",
        SYSTEM,
        "_matmul",
        r"\$signed\((row_2_a)\) \* \$signed\((row_2_b\[15:8\])\)",
        r"\1 * \2",
    ),
    Mutant(
        "rows are drained one short",
        SYSTEM,
        "_matmul",
        r"else finished <= \{finished\[2:0\], (\w+)\};",
        r"else finished <= {1'b0, finished[1:0], \1};",
    ),
    Mutant(
        "totals are not written",
        SYSTEM,
        "_matmul",
        r"if \(write__en\) totals\[",
        r"if (1'b0) totals[",
    ),
    Mutant(
        "a reset shows the rows that it clears the totals with",
        SYSTEM,
        "_matmul",
        r"if \(rst\) clearing <= 1'b1;",
        r"if (rst) clearing <= 1'b0;",
    ),
    Mutant(
        "a walk has a wrong stride",
        SYSTEM,
        "_load_b_walk",
        r"address \+ 4'd9",
        r"address + 4'd8",
    ),
    Mutant(
        "a load walks on for ever",
        SYSTEM,
        "_load_a",
        r"walking <= !walk__loop_0_done",
        r"walking <= 1'b1",
    ),
    Mutant(
        "flits leave from the wrong place",
        SYSTEM,
        "_transmitter_serializer",
        r"8'd40 \+: 40",
        r"8'd32 +: 40",
    ),
    Mutant(
        "the first flit of a page is not valid",
        SYSTEM,
        "_partial_transmitter",
        r"else link__flit__valid <= sends;",
        r"else link__flit__valid <= sends & (flit != 4'd0);",
    ),
    Mutant(
        "no credit comes back",
        SYSTEM,
        "channel_token_40_bits_3_cycles",
        r"assign sender__credit = [^;]+;",
        r"assign sender__credit = 1'b0;",
    ),
    Mutant(
        "the host writes B at the wrong address",
        SYSTEM,
        "_host_port",
        r"(write_b__addr = [^;]+ address)\[5:2\]",
        r"\1[6:3]",
    ),
    Mutant(
        "a byte of an operand is another one's",
        SYSTEM,
        "_memory_a",
        r"(\[15:8\] <= host_write__data)\[15:8\]",
        r"\1[7:0]",
    ),
    Mutant(
        "a store is done one page early",
        SYSTEM,
        "_store_c",
        r"step & walk__loop_0_done",
        r"step & (walk.address >= 4'd11)",
    ),
    Mutant(
        "a start in mid-run begins a run",
        SYSTEM,
        "start_guard",
        r"start & \(!running \| done\)",
        r"start",
    ),
    # Units, where back-pressure and latency vary.
    Mutant(
        "a FIFO is one beat less deep",
        "page_fifo",
        "dut",
        r"i__ready <= level != 3'd5",
        r"i__ready <= level != 3'd4",
    ),
    Mutant(
        "a FIFO releases a page one beat early",
        "page_fifo",
        "dut",
        r"read_beat == 2'd2",
        r"read_beat == 2'd1",
    ),
    Mutant(
        "a FIFO shows a page before its commit",
        "page_fifo_that_commits",
        "dut",
        r"else o__valid <= \w+ != 3'd0;",
        r"else o__valid <= level != 3'd0;",
    ),
    Mutant(
        "a beat falls through past those that wait",
        "page_fifo_to_fall_through",
        "dut",
        r"o__payload = has_beat \? read__data : i__payload",
        r"o__payload = i__valid ? i__payload : read__data",
    ),
    Mutant(
        "a beat that falls through is kept as well",
        "page_fifo_to_fall_through",
        "dut",
        r"if \(write__en & !_1\) has_beat",
        r"if (write__en) has_beat",
    ),
    Mutant(
        "a load goes on while its beat waits",
        "load_unit",
        "dut",
        r"step = \(walking \| start\) & [^;]+;",
        r"step = walking | start;",
    ),
    Mutant(
        "a store starts at its second word",
        "store_unit",
        "dut_walk",
        r"if \(rst\) address <= 4'd0;",
        r"if (rst) address <= 4'd1;",
    ),
    Mutant(
        "a fold takes an operand without the other",
        "fold_unit",
        "dut",
        r"i__0__ready = (\w+) & i__1__valid",
        r"i__0__ready = \1",
    ),
    Mutant(
        "a maximum compares without signs",
        "fold_unit_of_maxima",
        "dut",
        r"\$signed\((op_0_2__payload\[15:8\])\) > \$signed\((i__1__payload\[15:8\])\)",
        r"\1 > \2",
    ),
    Mutant(
        "a product starts without room for it",
        "tile_unit",
        "dut",
        r"(else admitted <= !next_first \|) [^;]+;",
        r"\1 1'b1;",
    ),
    Mutant(
        "a sender has one credit too many",
        "credit_link",
        "dut_sender",
        r"if \(rst\) slots <= 2'd2;",
        r"if (rst) slots <= 2'd3;",
    ),
    Mutant(
        "a receiver offers one slot too many",
        "semaphore_link",
        "dut_receiver",
        r"if \(rst\) unoffered <= 2'd2;",
        r"if (rst) unoffered <= 2'd3;",
    ),
    Mutant(
        "valid is raised with the last flit, not behind it",
        "semaphore_link",
        "dut_sender",
        r"last_on_link <= sends & \(flit == 4'd8\)",
        r"last_on_link <= sends & (flit == 4'd7)",
    ),
)


def mutated(text: str, mutant: Mutant) -> str | None:
    """The text with the fault in it, or ``None`` where its module is not there."""
    module = re.search(
        rf"^module \w*{mutant.module} \(.*?^endmodule", text, re.MULTILINE | re.DOTALL
    )
    if module is None:
        return None
    body, count = re.subn(mutant.pattern, mutant.replacement, module[0], count=1)
    assert count == 1, f"{mutant.what}: {mutant.pattern} is not in {module[0]}"
    assert body != module[0]
    return text[: module.start()] + body + text[module.end() :]


def run_mutant(mutant: Mutant, folder: Path) -> tuple[str, ...]:
    """Run the bench of a mutant on Icarus; return what failed."""
    try:
        if isinstance(mutant.bench, str):
            _run_unit(mutant, mutant.bench, folder)
        else:
            _run_system(mutant, mutant.bench, folder)
    except BenchFailedError as error:
        return error.failures
    return ()


def _run_system(mutant: Mutant, configuration: Configuration, folder: Path) -> None:
    made = package(folder, configuration)
    for path in sorted(made.glob("*.v")):
        text = mutated(path.read_text(), mutant)
        if text is not None:
            path.write_text(text)
            break
    else:
        raise AssertionError(f"{mutant.what}: there is no module {mutant.module}")
    run_package(made, timeout_seconds=TIMEOUT_SECONDS)


def _run_unit(mutant: Mutant, unit: str, folder: Path) -> None:
    source = folder / "dut.v"
    text = mutated(to_verilog(UNITS[unit].build(), "dut"), mutant)
    assert text is not None, f"{mutant.what}: there is no module {mutant.module}"
    source.write_text(text)
    run_bench(
        "icarus",
        sources=[source],
        top="dut",
        module="tests.cosim.bench_unit",
        folder=folder,
        plusargs={"unit": unit},
        timeout_seconds=TIMEOUT_SECONDS,
    )


def _shown(failures: tuple[str, ...]) -> str:
    if not failures:
        return "NOTHING"
    first = shorten(failures[0].removeprefix(f"{UNIT_TEST}/").replace("|", "/"), 100)
    return first + (f" (and {len(failures) - 1} more)" if len(failures) > 1 else "")


def main() -> int:
    """Print the table; return how many mutants live."""
    print("| fault in the emitted Verilog | bench | killed by |")
    print("| --- | --- | --- |")
    alive = 0
    for mutant in MUTANTS:
        with TemporaryDirectory() as folder:
            failures = run_mutant(mutant, Path(folder))
        alive += not failures
        bench = mutant.bench if isinstance(mutant.bench, str) else "system"
        print(f"| {mutant.what} | {bench} | {_shown(failures)} |", flush=True)
    print(f"\n{len(MUTANTS) - alive} of {len(MUTANTS)} mutants are killed")
    return alive


if __name__ == "__main__":
    sys.exit(main())
