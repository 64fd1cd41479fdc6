"""What a run looks like: as a record for machines, as a table and bars for people."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from compiler.ir.program import Program
from compiler.ir.tensor import Tensor
from sim.reported_result import output_tensors
from sim.result import ChipActivity, RunResult

LEVELS = " ▁▂▃▄▅▆▇█"
ASCII_LEVELS = " .:-=+*#@"
"""The same for a stream that is not UTF."""
SHOWN_DIFFERENCES = 5
MOST_BELOW_ALL = 0.999
"""What is shown of a share that would be rounded to all, and is not."""


def record(result: RunResult, *, reduce: str | None = None) -> dict[str, Any]:
    """A run as plain data. Widths are in bits, times in cycles.

    ``reduce`` is the algorithm that was asked for, which a program of one chip does not hold.
    """
    program, claim = result.program, result.program.claim
    assert program.schedule is not None
    links = program.links
    return {
        "m": claim.m,
        "n": claim.n,
        "k": claim.k,
        "k_pad": claim.k_pad,
        "chips": program.chip_count,
        "mesh": {axis.name: axis.size for axis in program.mesh.axes},
        "layouts": {
            value.name: dict(zip(program.mesh.names, map(str, value.layout), strict=True))
            for value in program.graph.values
        },
        "tile": program.tile,
        "target": program.target.name,
        "reduce": program.collectives[0].algorithm if program.collectives else reduce,
        "link_width": links[0].width_bits if links else program.target.link_width_bits,
        "link_latency": links[0].latency_cycles if links else program.target.link_latency_cycles,
        "link_flit_cycles": links[0].flit_cycles if links else program.target.link_flit_cycles,
        "cycles": result.cycles,
        "predicted_cycles": program.schedule.cycles,
        "ideal_cycles": result.ideal_cycles,
        "utilization": result.utilization,
        "useful_multiplications": result.useful_multiplications,
        "exposed_reduction_cycles": result.exposed_reduction_cycles,
        "bound": program.schedule.bound,
        "exact": result.exact,
        "links": [
            {
                "name": link.link,
                "beats": link.beats,
                "busy_cycles": link.busy_cycles,
                "stall_cycles": link.stall_cycles,
            }
            for link in result.links
        ],
        "activity": [
            {"chip": chip.chip, "active_cycles": chip.active_cycles} for chip in result.chips
        ],
        "outputs": [_output(program, tensor) for tensor in output_tensors(program)],
        "differences": [asdict(each) for each in result.differences(SHOWN_DIFFERENCES)],
    }


def _output(program: Program, tensor: Tensor) -> dict[str, Any]:
    """What one chip has of an output: which rows and columns."""
    rows, cols = program.real_shape(tensor)
    return {
        "output": tensor.value,
        "chip": tensor.chip,
        "row": tensor.part.row,
        "col": tensor.part.col,
        "rows": rows,
        "cols": cols,
    }


def summary(result: RunResult) -> str:
    """A run in one line."""
    claim, chips = result.program.claim, result.program.chip_count
    counting = "" if result.useful_multiplications == 1 else f", {_counting(result)}"
    return (
        f"{claim.m}x{claim.n}x{claim.k} on {chips} chip{'s' if chips > 1 else ''}: "
        f"{result.cycles} cycles, utilisation {result.utilization:.1%}{counting}, "
        f"{_verdict(result)}"
    )


def pictures(result: RunResult) -> RenderableType:
    """A run as a table and a bar of activity for each chip."""
    return Group(_table(result), _Bars(result))


def _table(result: RunResult) -> Table:
    program, claim = result.program, result.program.claim
    shape = f"{claim.m} x {claim.n} x {claim.k}"
    if claim.k_pad:
        shape += f" (k padded to {claim.k + claim.k_pad})"
    chips = str(program.chip_count)
    if len(program.mesh.axes) > 1:
        chips += f" ({program.mesh})"
    if program.collectives:
        chips += f", {program.collectives[0].algorithm} reduction"
    rows = {
        "shape m x n x k": shape,
        "chips": chips,
        "tile, target": f"{program.tile}, {program.target.name}",
        "cycles": f"{result.cycles:,}",
        "ideal cycles": f"{result.ideal_cycles:,}",
        "utilisation": f"{result.utilization:.1%}, {_counting(result)}",
        "exposed reduction": f"{result.exposed_reduction_cycles:,} cycles",
        "result": _places(program),
        "equals numpy": _verdict(result),
    }
    table = Table(show_header=False)
    for name, value in rows.items():
        if not value:
            continue
        wrong = name == "equals numpy" and not result.exact
        table.add_row(name, Text(value, style="bold red" if wrong else ""))
    return table


def _places(program: Program) -> str:
    """Where the outputs are, unless that is one chip."""
    outputs = output_tensors(program)
    chips = len({tensor.chip for tensor in outputs})
    if chips == 1:
        return ""
    parts = {(tensor.value, tensor.part.row, tensor.part.col) for tensor in outputs}
    if len(parts) == len(program.graph.outputs):
        return f"whole on {'every chip' if chips == program.chip_count else f'{chips} chips'}"
    return f"in {len(parts)} parts on {chips} chips"


def _counting(result: RunResult) -> str:
    """How many of the multiplications are not of the zeros that fill up tiles."""
    share = result.useful_multiplications
    if share == 1:
        return "all multiplications count"
    return f"{min(share, MOST_BELOW_ALL):.1%} of multiplications count"


def _verdict(result: RunResult) -> str:
    if result.exact:
        return "exact"
    several = len({tensor.chip for tensor in output_tensors(result.program)}) > 1
    differences = [
        f"{each.output}[{each.row},{each.col}] {f'of chip {each.chip} ' if several else ''}"
        f"is {each.got}, not {each.want}"
        for each in result.differences(SHOWN_DIFFERENCES)
    ]
    return "NOT EXACT: " + "; ".join(differences)


class _Bars:
    """A bar of activity for each chip, in blocks where a stream can show them."""

    def __init__(self, result: RunResult):
        self.result = result

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        levels = ASCII_LEVELS if options.ascii_only else LEVELS
        yield Text("tile unit activity, from start to done:", style="dim")
        chips = self.result.chips
        width = len(str(len(chips) - 1))
        for chip in chips:
            share = chip.active_cycles / self.result.cycles
            bar = _bar(chip, levels)
            yield Text(f"chip {chip.chip:{width}} ").append(bar, "green").append(f" {share:.0%}")


def _bar(chip: ChipActivity, levels: str) -> str:
    top = len(levels) - 1
    return "".join(levels[min(top, round(share * top))] for share in chip.timeline)
