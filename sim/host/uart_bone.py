"""A client of the bridge on a board: reads and writes words over a serial port."""

import os
import termios
from collections.abc import Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import Self

from hw.axi_lite import DATA_BYTES
from hw.board.uart_bone import Command
from sim.errors import ToolMissingError
from sim.host.errors import PortError, PortSilentError

BAUD = 115_200
TIMEOUT_SECONDS = 2.0
BURST_WORDS = 255
"""Most words of one command: their number is one byte."""
WORD_LIMIT = 1 << 8 * DATA_BYTES


def check_serial() -> None:
    """Check that serial ports can be used.

    Raises
    ------
    ToolMissingError
        If pyserial is not there.
    """
    if find_spec("serial") is None:
        raise ToolMissingError(
            tool="pyserial", purpose="a serial port", way="pip install 'shardwright[host]'"
        )


class UartBoneClient:
    """Speaks LiteX's UART bone protocol over a serial port.

    Parameters
    ----------
    port : str
        Name of the serial port.
    baud : int
        Bits per second.
    timeout_seconds : float
        Silence after which an answer counts as missing.

    Raises
    ------
    ToolMissingError
        If pyserial is not there.
    PortError
        If the port cannot be opened, here, or fails later.
    """

    def __init__(self, port: str, *, baud: int = BAUD, timeout_seconds: float = TIMEOUT_SECONDS):
        check_serial()
        import serial

        self.port, self.baud, self.timeout_seconds = port, baud, timeout_seconds
        self._failures = (serial.SerialException, OSError, ValueError, termios.error)
        try:
            self._serial = serial.Serial(
                port,
                baud,
                timeout=timeout_seconds,
                write_timeout=timeout_seconds,
                exclusive=True,
            )
        except self._failures as error:
            raise PortError(port=port, why=_reason(error)) from error

    def read(self, address: int, count: int) -> list[int]:
        """Read ``count`` words from a byte address on.

        Raises
        ------
        PortSilentError
            If not all of them come.
        """
        words: list[int] = []
        for first in range(0, count, BURST_WORDS):
            burst = min(BURST_WORDS, count - first)
            self._discard_input()
            self._send(_command(Command.READ, address + DATA_BYTES * first, burst))
            answer = self._receive(DATA_BYTES * burst)
            words += [
                int.from_bytes(answer[i : i + DATA_BYTES], "big")
                for i in range(0, len(answer), DATA_BYTES)
            ]
        return words

    def write(self, address: int, words: Sequence[int]) -> None:
        """Write words from a byte address on. The board does not answer."""
        for first in range(0, len(words), BURST_WORDS):
            burst = words[first : first + BURST_WORDS]
            command = _command(Command.WRITE, address + DATA_BYTES * first, len(burst))
            self._send(command + b"".join(word.to_bytes(DATA_BYTES, "big") for word in burst))

    def close(self) -> None:
        """Close the port."""
        self._serial.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _discard_input(self) -> None:
        try:
            self._serial.reset_input_buffer()
        except self._failures as error:
            raise PortError(port=self.port, why=_reason(error)) from error

    def _send(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except self._failures as error:
            raise PortError(port=self.port, why=_reason(error)) from error

    def _receive(self, size: int) -> bytes:
        received = b""
        while len(received) < size:
            try:
                ready = min(max(1, self._serial.in_waiting), size - len(received))
                more = self._serial.read(ready)
            except self._failures as error:
                raise PortError(port=self.port, why=_reason(error)) from error
            if not more:
                raise PortSilentError(
                    port=self.port,
                    wanted=size,
                    got=len(received),
                    seconds=self.timeout_seconds,
                    baud=self.baud,
                )
            received += more
        return received


def _command(command: Command, address: int, count: int) -> bytes:
    return bytes((command, count)) + (address // DATA_BYTES).to_bytes(DATA_BYTES, "big")


def _reason(error: Exception) -> str:
    """What the system said, without the names of functions that pyserial puts around it."""
    for each in (error.__context__, error):
        number = each.args[0] if each is not None and each.args else None
        if isinstance(number, int):
            return os.strerror(number)
    return str(error)
