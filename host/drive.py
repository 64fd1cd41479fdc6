"""Run a program on boards: load every chip, start, wait, read the results back."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic

import numpy as np

from compiler.check import require
from compiler.ir.program import Program
from host.board import BoardClient
from host.checked_line import ATTEMPTS
from host.errors import (
    ChipFaultError,
    ChipHungError,
    LineFaultError,
    LinksDownError,
    PortCountError,
)
from host.starts import first_starts
from host.uart_bone import BAUD, TIMEOUT_SECONDS, UartBoneClient, check_serial
from hw.chip_registers import chip_register_map
from hw.names import local_name
from hw.program_digest import program_digest
from sim.binding import Inputs, bind
from sim.reported_result import output_tensors, reported_result
from sim.result import RunResult
from sim.window_images import window_beats


@dataclass(frozen=True)
class BoardRun:
    """A finished run on boards.

    Attributes
    ----------
    result : RunResult
        As of a simulation, without timelines. Its cycles are the most of the homes.
    homes : tuple of int
        The chips that have parts of the product, or all of it.
    started : tuple of int
        The chips that the host has started. A start goes on to the others over the links.
    chip_cycles : tuple of int
        Cycles of each chip from its own start until it was done.
    clock_hz : tuple of int
        Frequency of each chip's clock.
    """

    result: RunResult
    homes: tuple[int, ...]
    started: tuple[int, ...]
    chip_cycles: tuple[int, ...]
    clock_hz: tuple[int, ...]


def drive(
    program: Program,
    *arrays: np.ndarray | None,
    inputs: Inputs | None = None,
    ports: Sequence[str],
    baud: int = BAUD,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> BoardRun:
    """Run a program on boards.

    Parameters
    ----------
    program : Program
        A finished program.
    *arrays : array or None
        Inputs in the order of ``program.graph.inputs``; ``None`` where the program holds them.
    inputs : mapping, optional
        Inputs by name.
    ports : sequence of str
        Serial ports by chip.
    baud : int
        Bits per second of the serial ports.
    timeout_seconds : float
        Silence after which a board counts as dead, and time for links to come up, and for a run
        beyond twice what the program predicts.

    Raises
    ------
    UncertifiedProgramError
        If the program carries no certificate, or does not meet an obligation.
    OperandError
        If the inputs do not fit the program.
    ToolMissingError
        If pyserial is not there.
    HostError
        If a board does not answer, is another, or does not do its part.
    """
    require(program)
    program = program.canonical
    contents = bind(program, *arrays, inputs=inputs)
    if len(ports) != program.chip_count:
        raise PortCountError(ports=len(ports), chips=program.chip_count)
    check_serial()
    digest = program_digest(program)
    first = first_starts(program)
    with ExitStack() as stack:
        boards = [
            BoardClient(
                stack.enter_context(
                    UartBoneClient(port, baud=baud, timeout_seconds=timeout_seconds)
                ),
                chip,
                chip_register_map(program, chip),
                link_count=_link_count(program, chip),
                digest=digest,
            )
            for chip, port in enumerate(ports)
        ]
        _start(program, boards, contents, first, timeout_seconds)
        assert program.schedule is not None
        slowest = min(board.clock_hz for board in boards)
        _wait(boards, timeout_seconds + 2 * program.schedule.cycles / slowest)
        return _read(program, boards, first, contents)


def _link_count(program: Program, chip: int) -> int:
    """Link ports of a chip."""
    view = program.chips[chip]
    return len(view.outgoing) + len(view.incoming)


def _start(
    program: Program,
    boards: Sequence[BoardClient],
    contents: dict[str, np.ndarray],
    first: tuple[int, ...],
    timeout_seconds: float,
) -> None:
    """Check and reset all boards, load them, and start the ``first``, which start the others.

    Where the line damages an order or an operand, nothing is known of what became of it, and all is
    done again from the beginning.
    """
    for attempt in range(ATTEMPTS):
        try:
            for board in boards:
                board.check()
            _reset(boards, timeout_seconds)
            _load(program, boards, contents)
            for chip in first:
                boards[chip].start()
        except LineFaultError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


def _reset(boards: Sequence[BoardClient], timeout_seconds: float) -> None:
    """Reset all chips and links together, and wait until every link is up."""
    for held in (True, False):
        for board in boards:
            board.set_hold(held)
    deadline = monotonic() + timeout_seconds
    for board in boards:
        while down := board.links_down():
            if monotonic() > deadline:
                raise LinksDownError(
                    port=board.port, chip=board.chip, down=down, seconds=timeout_seconds
                )


def _load(program: Program, boards: Sequence[BoardClient], contents: dict[str, np.ndarray]) -> None:
    for name, array in contents.items():
        tensor = program.tensor_by_name[name]
        board = boards[tensor.chip]
        window = board.registers.window(local_name(name))
        board.load(window.tensor, window_beats(array, tensor, window))
    for board in boards:
        board.check_errors("its operands were loaded")


def _wait(boards: Sequence[BoardClient], seconds: float) -> None:
    """Wait until all are done."""
    begun = monotonic()
    waiting = list(boards)
    while waiting:
        late = monotonic() > begun + seconds
        for board in tuple(waiting):
            state = board.state()
            if "fault" in state:
                raise ChipFaultError(port=board.port, chip=board.chip, state=_said(state))
            if "done" in state and "running" not in state:
                waiting.remove(board)
            elif late:
                raise ChipHungError(
                    port=board.port,
                    chip=board.chip,
                    state=_said(state),
                    cycles=board.cycles(),
                    seconds=monotonic() - begun,
                )


def _read(
    program: Program,
    boards: Sequence[BoardClient],
    first: tuple[int, ...],
    contents: dict[str, np.ndarray],
) -> BoardRun:
    outputs = output_tensors(program)
    counters = {board.chip: board.counters() for board in boards}
    windows = {
        output.name: boards[output.chip].beats(local_name(output.name)) for output in outputs
    }
    for board in boards:
        board.check_errors("it ran and its results were read")
    return BoardRun(
        result=reported_result(program, contents, windows=windows, counters=counters),
        homes=tuple(sorted({output.chip for output in outputs})),
        started=first,
        chip_cycles=tuple(counters[board.chip]["cycles"] for board in boards),
        clock_hz=tuple(board.clock_hz for board in boards),
    )


def _said(state: tuple[str, ...]) -> str:
    """A state in words."""
    return " and ".join(state) or "in no known state"
