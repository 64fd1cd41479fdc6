"""``shardwright host``: run on boards, over a serial port for each chip."""

from collections.abc import Iterator
from math import isnan
from typing import Any

import click

from compiler.ir.program import Program
from constraints.description import board_names, load_board
from host.drive import BoardRun, drive
from host.uart_bone import (
    BAUD,
    LEAST_BAUD,
    LONGEST_TIMEOUT_SECONDS,
    MOST_BAUD,
    TIMEOUT_SECONDS,
    check_serial,
)
from shardwright.outcome import show_outcome
from shardwright.paths import check_outputs
from shardwright.problem import load_or_state_problem, problem_options, program_option


class Seconds(click.FloatRange):
    """A number of seconds; click's own range lets through what is no number."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number."""
        seconds = super().convert(value, param, ctx)
        if isnan(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


@click.command()
@problem_options
@program_option
@click.option(
    "--port",
    "ports",
    metavar="PORT",
    multiple=True,
    required=True,
    help="Serial port of a chip's board, once for each chip, in the order of the chips.",
)
@click.option(
    "--baud",
    type=click.IntRange(LEAST_BAUD, MOST_BAUD),
    help="Bits per second of the serial ports.  [default: those of the board that the program "
    f"was compiled for, {BAUD} if it names none]",
)
@click.option(
    "--timeout",
    "timeout_seconds",
    metavar="SECONDS",
    type=Seconds(0, LONGEST_TIMEOUT_SECONDS, min_open=True),
    default=TIMEOUT_SECONDS,
    help="Silence after which a board counts as dead, and time for links to come up, and for a "
    f"run beyond twice its predicted time.  [default: {TIMEOUT_SECONDS:g}]",
)
@click.option(
    "-o", "--output", metavar="C.npy", type=click.Path(), help="Write the product (int32) if exact."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def host(
    ports: tuple[str, ...],
    baud: int | None,
    timeout_seconds: float,
    output: str | None,
    as_json: bool,
    **options,
) -> None:
    """Multiply A.npy by B.npy on boards and compare the product with numpy's.

    Loads every chip over its serial port, starts, waits and reads the product back. The boards
    must hold the chips of the same program. Without files, makes seeded random operands of --m,
    --n and --k.
    """
    check_serial()
    check_outputs(files={"-o": output}, **options)
    problem = load_or_state_problem(**options)
    run = drive(
        problem.program,
        problem.a,
        problem.b,
        ports=ports,
        baud=baud or _baud_of(problem.program),
        timeout_seconds=timeout_seconds,
    )
    show_outcome(
        run.result,
        output=output,
        as_json=as_json,
        reduce=options["reduce"],
        more={
            "homes": run.homes,
            "started": run.started,
            "chip_cycles": run.chip_cycles,
            "clock_hz": run.clock_hz,
        },
        notes=tuple(_cycles(run)),
    )


def _baud_of(program: Program) -> int:
    """The baud rate of the boards that a program was compiled for."""
    name = program.target.name
    return load_board(name).uart.baud if name in board_names() else BAUD


def _cycles(run: BoardRun) -> Iterator[str]:
    """What each chip measured, and beside it, where a chip stores, what the program predicts."""
    program = run.result.program
    assert program.schedule is not None
    ends = {timing.stage: timing.last_beat for timing in program.schedule.timings}
    for chip, (cycles, hertz) in enumerate(zip(run.chip_cycles, run.clock_hz, strict=True)):
        stored = [ends[stage.name] for stage in program.chips[chip].stores]
        line = f"chip {chip}: {cycles} cycles at {hertz / 1e6:g} MHz"
        yield line + (f", predicted {max(stored)}" if stored else "")
