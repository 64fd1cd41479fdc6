"""A client of the bridge on a board: reads and writes words over a serial port."""

import os
import termios
from collections.abc import Sequence
from importlib.util import find_spec
from time import monotonic, sleep
from types import TracebackType
from typing import Self
from zlib import crc32

from host.errors import LineSettingError, PortError, PortNoisyError, PortSilentError
from hw.axi_lite import DATA_BYTES
from hw.board.top import TIMEOUT_SECONDS as BRIDGE_TIMEOUT_SECONDS
from hw.board.uart import FRAME_BITS
from hw.board.uart_bone import Command
from sim.errors import ToolMissingError

BAUD = 115_200
LEAST_BAUD, MOST_BAUD = 300, 12_000_000
"""What the slowest serial ports and the fastest USB adapters do."""
TIMEOUT_SECONDS = 2.0
LONGEST_TIMEOUT_SECONDS = 86_400.0
LATENCY_SECONDS = 0.05
"""How late bytes may be that an adapter and an operating system hand on."""
LOOK_SECONDS = 0.005
"""How often a look is taken at what has come while all is to be silent."""
BURST_WORDS = 255
"""Most words of one command: their number is one byte."""
LONGEST_COMMAND_BYTES = 2 + DATA_BYTES + DATA_BYTES * BURST_WORDS


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
        Bits per second, from 300 to 12,000,000.
    timeout_seconds : float
        Silence after which an answer counts as missing, up to a day.

    Attributes
    ----------
    checksum : int
        CRC-32 of all bytes that were sent and received, in their order: the bridge keeps one too.

    Raises
    ------
    ToolMissingError
        If pyserial is not there.
    LineSettingError
        If ``baud`` or ``timeout_seconds`` is out of its range.
    PortError
        If the port cannot be opened, here, or fails later.
    """

    def __init__(self, port: str, *, baud: int = BAUD, timeout_seconds: float = TIMEOUT_SECONDS):
        check_serial()
        import serial

        if not isinstance(baud, int) or not LEAST_BAUD <= baud <= MOST_BAUD:
            rule = f"an integer from {LEAST_BAUD} to {MOST_BAUD}"
            raise LineSettingError(name="baud rate", value=baud, rule=rule)
        if not 0 < timeout_seconds <= LONGEST_TIMEOUT_SECONDS:  # which nan is not either
            raise LineSettingError(
                name="timeout in seconds",
                value=timeout_seconds,
                rule=f"above 0 and at most {LONGEST_TIMEOUT_SECONDS:g}",
            )
        self.port, self.baud, self.timeout_seconds = port, baud, timeout_seconds
        self.checksum = 0
        self._failures = (serial.SerialException, OSError, ValueError, termios.error)
        try:
            self._serial = serial.Serial(
                port,
                baud,
                timeout=timeout_seconds,
                write_timeout=timeout_seconds,
                exclusive=True,
            )
            self._serial.reset_output_buffer()  # what a host before this one has left there
        except self._failures as error:
            raise PortError(port=port, why=_reason(error)) from error
        self._silent_since = monotonic()

    @property
    def quiet_seconds(self) -> float:
        """Silence after which the bridge is at the beginning of a command, whatever was before.

        It drops a command that is not carried on, and no pause of an answer is as long. What an
        adapter still holds of a command of another host is on the line by then.
        """
        frames = LONGEST_COMMAND_BYTES * FRAME_BITS / self.baud
        return BRIDGE_TIMEOUT_SECONDS + frames + LATENCY_SECONDS

    def wait_for_silence(self) -> None:
        """Throw away what comes until nothing has come for :attr:`quiet_seconds`.

        Raises
        ------
        PortNoisyError
            If bytes come for longer than any answer takes.
        """
        begun = monotonic()
        while True:
            try:
                waiting = self._serial.in_waiting
                if waiting:
                    self._serial.read(waiting)
                    self._silent_since = monotonic()
            except self._failures as error:
                raise PortError(port=self.port, why=_reason(error)) from error
            now = monotonic()
            left = self._silent_since + self.quiet_seconds - now
            if not waiting and left <= 0:
                return
            if now > begun + 3 * self.quiet_seconds + self.timeout_seconds:
                raise PortNoisyError(port=self.port, seconds=self.quiet_seconds, baud=self.baud)
            sleep(min(max(left, 0), LOOK_SECONDS))

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
            self._send(command_bytes(Command.READ, address + DATA_BYTES * first, burst))
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
            command = command_bytes(Command.WRITE, address + DATA_BYTES * first, len(burst))
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
        self.checksum = crc32(data, self.checksum)
        self._silent_since = monotonic()

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
            self._silent_since = monotonic()
        self.checksum = crc32(received, self.checksum)
        return received


def command_bytes(command: Command, address: int, count: int) -> bytes:
    """A command, without the words that it may bring along."""
    return bytes((command, count)) + (address // DATA_BYTES).to_bytes(DATA_BYTES, "big")


def _reason(error: Exception) -> str:
    """What the system said, without the names of functions that pyserial puts around it."""
    for each in (error.__context__, error):
        number = each.args[0] if each is not None and each.args else None
        if isinstance(number, int):
            return os.strerror(number)
    return str(error)
