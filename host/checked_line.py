"""Reads and writes whose bytes are known to have crossed the serial line whole."""

from collections.abc import Sequence
from zlib import crc32

from host.errors import LineFaultError, PortSilentError
from host.uart_bone import BURST_WORDS, UartBoneClient, command_bytes
from hw.axi_lite import DATA_BYTES
from hw.board.board_registers import board_registers
from hw.board.uart_bone import Command

OFFSETS = {register.name: register.offset for register in board_registers()}
ATTEMPTS = 3
"""How often what the line damages is tried."""


class CheckedLine:
    """The way to a board's bus, block by block, each held to the board's checksum of all bytes.

    A read that was damaged is done again. A write is not: what the board has made of it is unknown,
    for bytes that were lost or changed may have made other commands of those behind them.

    Parameters
    ----------
    client : UartBoneClient
        The serial port.

    Attributes
    ----------
    refused : int
        Accesses that the board had refused when host and board last agreed on the checksum anew.
    """

    def __init__(self, client: UartBoneClient):
        self.client, self.refused = client, 0

    def agree(self) -> None:
        """Take the board's checksum for the line's, once all is silent.

        Raises
        ------
        PortSilentError, PortNoisyError
            If the board does not answer, or something sends without end.
        LineFaultError
            If the checksum that follows is not what the bytes in between make of it.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return self._agree()
            except (LineFaultError, PortSilentError):
                continue
        return self._agree()

    def read(self, address: int, count: int, *, block: str) -> list[int]:
        """Read words; ``block`` says what they are.

        Raises
        ------
        PortSilentError
            If the board does not answer.
        LineFaultError
            If they are damaged again and again.
        """
        words: list[int] = []
        for first in range(0, count, BURST_WORDS):
            burst = min(BURST_WORDS, count - first)
            place = address + DATA_BYTES * first
            words += self._read_block(place, burst, _named(block, first, burst, count))
        return words

    def write(self, address: int, words: Sequence[int], *, block: str) -> None:
        """Write words; ``block`` says what they are.

        Raises
        ------
        LineFaultError
            If they are damaged, or the board falls silent. It has to agree anew then.
        """
        for first in range(0, len(words), BURST_WORDS):
            burst = words[first : first + BURST_WORDS]
            name = f"{_named(block, first, len(burst), len(words))} written"
            self.client.write(address + DATA_BYTES * first, burst)
            try:
                self._verify(name)
            except PortSilentError as error:
                why = "the board does not say that they came in"
                raise LineFaultError(port=self.client.port, block=name, why=why) from error

    def _read_block(self, address: int, count: int, name: str) -> list[int]:
        for _ in range(ATTEMPTS - 1):
            try:
                return self._read_once(address, count, name)
            except (LineFaultError, PortSilentError):
                self.agree()
        return self._read_once(address, count, name)

    def _read_once(self, address: int, count: int, name: str) -> list[int]:
        words = self.client.read(address, count)
        self._verify(f"{name} read")
        return words

    def _verify(self, name: str) -> None:
        """Ask for the checksum: it is over all up to the question."""
        question = command_bytes(Command.READ, OFFSETS["checksum"], 1)
        expected = crc32(question, self.client.checksum)
        (said,) = self.client.read(OFFSETS["checksum"], 1)
        if said != expected:
            why = f"the board's checksum is {said:#010x}, not {expected:#010x}"
            raise LineFaultError(port=self.client.port, block=name, why=why)

    def _agree(self) -> None:
        self.client.wait_for_silence()
        (said,) = self.client.read(OFFSETS["checksum"], 1)
        self.client.checksum = crc32(said.to_bytes(DATA_BYTES, "big"), said)
        (self.refused,) = self._read_once(OFFSETS["bus_errors"], 1, "the count of refused accesses")


def _named(block: str, first: int, burst: int, count: int) -> str:
    """A block, and which words of it, if it takes several commands."""
    return block if burst == count else f"words {first} to {first + burst - 1} of {block}"
