"""Run a program on boards: load every chip, start, wait, read the product back."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic

import numpy as np

from compiler.check import require
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor, TensorRole
from host.board import BoardClient
from host.checked_line import ATTEMPTS
from host.errors import (
    ChipFaultError,
    ChipHungError,
    LineFaultError,
    LinksDownError,
    PortCountError,
)
from host.uart_bone import BAUD, TIMEOUT_SECONDS, UartBoneClient, check_serial
from hw.chip_registers import chip_register_map
from hw.names import local_name
from hw.program_digest import program_digest
from sim.operands import bind
from sim.reported_result import reported_result
from sim.result import RunResult
from sim.window_images import window_beats


@dataclass(frozen=True)
class BoardRun:
    """A finished run on boards.

    Attributes
    ----------
    result : RunResult
        As of a simulation, without timelines. Its cycles are those of the home.
    home : int
        The chip that has the product. Its start goes on to the others over the links.
    chip_cycles : tuple of int
        Cycles of each chip from its own start until it was done.
    clock_hz : tuple of int
        Frequency of each chip's clock.
    """

    result: RunResult
    home: int
    chip_cycles: tuple[int, ...]
    clock_hz: tuple[int, ...]


def drive(
    program: Program,
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
    *,
    ports: Sequence[str],
    baud: int = BAUD,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> BoardRun:
    """Run a program on boards.

    Parameters
    ----------
    program : Program
        A finished program.
    a, b : array, optional
        Operands; left out where the program holds them.
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
        If the operands do not fit the program.
    ToolMissingError
        If pyserial is not there.
    HostError
        If a board does not answer, is another, or does not do its part.
    """
    require(program)
    program = program.canonical
    contents = bind(program, a, b)
    if len(ports) != program.chip_count:
        raise PortCountError(ports=len(ports), chips=program.chip_count)
    check_serial()
    digest = program_digest(program)
    (output,) = (tensor for tensor in program.tensors if tensor.role is TensorRole.OUTPUT)
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
        _start(program, boards, contents, output, timeout_seconds)
        assert program.schedule is not None
        slowest = min(board.clock_hz for board in boards)
        _wait(boards, timeout_seconds + 2 * program.schedule.cycles / slowest)
        return _read(program, boards, output, contents)


def _link_count(program: Program, chip: int) -> int:
    """Link ports of a chip."""
    sites = (
        (program.stage_by_name[edge.source].site, program.stage_by_name[edge.destination].site)
        for edge in program.edges
        if program.crosses(edge)
    )
    return sum(site is not None and site.chip == chip for ends in sites for site in ends)


def _start(
    program: Program,
    boards: Sequence[BoardClient],
    contents: dict[str, np.ndarray],
    output: Tensor,
    timeout_seconds: float,
) -> None:
    """Check and reset all boards, load them, and start the home, which starts the others.

    Where the line damages an order or an operand, nothing is known of what became of it, and all is
    done again from the beginning.
    """
    for attempt in range(ATTEMPTS):
        try:
            for board in boards:
                board.check()
            _reset(boards, timeout_seconds)
            _load(program, boards, contents)
            boards[output.chip].start()
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
        board.load(window.tensor, window_beats(array, tensor, window, program.claim))
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
    output: Tensor,
    contents: dict[str, np.ndarray],
) -> BoardRun:
    counters = {board.chip: board.counters() for board in boards}
    product = boards[output.chip].beats(local_name(output.name))
    for board in boards:
        board.check_errors("it ran and its results were read")
    cycles = tuple(counters[board.chip]["cycles"] for board in boards)
    return BoardRun(
        result=reported_result(
            program,
            contents,
            product=product,
            cycles=cycles[output.chip],
            counters=counters,
        ),
        home=output.chip,
        chip_cycles=cycles,
        clock_hz=tuple(board.clock_hz for board in boards),
    )


def _said(state: tuple[str, ...]) -> str:
    """A state in words."""
    return " and ".join(state) or "in no known state"
