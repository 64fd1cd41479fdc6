"""Pseudo terminals, in the place of the serial ports of simulated boards."""

import os
import select
import tty
from threading import Event, Thread
from types import TracebackType
from typing import Self

from compiler.ir.program import Program
from sim.board.boards import Boards
from sim.board.serial_line import SerialLine

TURN_CYCLES = 64
"""Cycles between two looks at the terminals."""
REST_SECONDS = 0.002
"""How long a turn without traffic takes at least, which leaves the processor to the hosts."""
BLOCK_BYTES = 4096


class SimulatedBoards:
    """Simulates the boards of a program in a thread, each behind a pseudo terminal.

    Simulated time goes on while a byte is on its way, and slowly otherwise.

    Parameters
    ----------
    program : Program
        A finished program.
    divisor : int
        Clock cycles per bit of the serial lines. The baud rate of a terminal has no meaning.

    Attributes
    ----------
    ports : tuple of str
        Names of the terminals by chip, which a program opens like serial ports.
    """

    def __init__(self, program: Program, *, divisor: int = 4):
        self.boards = Boards(program, divisor=divisor)
        self._lines = [SerialLine(divisor) for _ in range(program.chip_count)]
        self._ends: list[tuple[int, int]] = []
        self._stopped = Event()
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run, name="simulated boards", daemon=True)

    @property
    def ports(self) -> tuple[str, ...]:
        """Names of the terminals by chip."""
        return tuple(os.ttyname(far) for _, far in self._ends)

    def __enter__(self) -> Self:
        for _ in self._lines:
            near, far = os.openpty()
            tty.setraw(far)  # kept open, so that a host may come and go
            os.set_blocking(near, False)
            self._ends.append((near, far))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop, and raise what stopped the simulation if it did not get that far."""
        self._stopped.set()
        self._thread.join()
        self._close()
        if self._failure is not None:
            raise self._failure

    def _close(self) -> None:
        while self._ends:
            for end in self._ends.pop():
                os.close(end)

    def _run(self) -> None:
        try:
            simulator = self.boards.simulator()
            simulator.add_testbench(self._carry)
            simulator.run()
        except BaseException as failure:  # raised again in the thread that has started this one
            self._failure = failure
            self._close()  # so that no host waits for an answer

    async def _carry(self, ctx) -> None:
        """Carry bytes between the terminals and the lines until all is stopped."""
        chips = range(len(self._lines))
        rx = [getattr(self.boards, f"rx_{chip}") for chip in chips]
        tx = [getattr(self.boards, f"tx_{chip}") for chip in chips]
        driven = [1] * len(rx)
        while not self._stopped.is_set():
            self._exchange()
            for _ in range(TURN_CYCLES):
                wanted = [line.drive() for line in self._lines]
                if wanted != driven:
                    for pin, level in zip(rx, wanted, strict=True):
                        ctx.set(pin, level)
                    driven = wanted
                _, _, *levels = await ctx.tick(self.boards.domains[0]).sample(*tx)
                for level, line in zip(levels, self._lines, strict=True):
                    line.sample(level)

    def _exchange(self) -> None:
        """Take what the hosts have written, and give them what has come in."""
        rest = 0.0 if any(line.busy for line in self._lines) else REST_SECONDS
        wanted = {
            near: line
            for (near, _), line in zip(self._ends, self._lines, strict=True)
            if not line.waiting
        }
        readable, _, _ = select.select(list(wanted), [], [], rest)
        for near in readable:
            wanted[near].waiting.extend(os.read(near, BLOCK_BYTES))
        for (near, _), line in zip(self._ends, self._lines, strict=True):
            if line.received:
                try:
                    del line.received[: os.write(near, line.received)]
                except BlockingIOError:
                    continue  # the host does not read; it may yet
