"""A board in Python behind a pseudo terminal: the protocol, a dictionary of words, and faults."""

import os
import select
import tty
import zlib
from collections.abc import Callable, Set
from threading import Event, Thread

from compiler.ir.program import Program
from hw.chip_registers import chip_register_map
from hw.names import local_name
from hw.program_digest import program_digest

ERROR_WORD = 0xFFFF_FFFF
BOARD = {
    "identity": 0,
    "hold": 4,
    "link_count": 8,
    "links_up": 12,
    "bus_errors": 16,
    "clock_hz": 20,
    "start": 24,
    "version": 28,
    "checksum": 32,
    "digest_high": 36,
    "digest_low": 40,
}
"""Byte offsets from 0x80000000."""
IDLE, RUNNING, DONE, FAULT = 1, 2, 4, 8
DROPS_AFTER_SECONDS = 0.05
"""Silence that ends a command that has begun."""


def board(name: str) -> int:
    """The address of a register of the board."""
    return 0x8000_0000 + BOARD[name]


class FakeBoard:
    """Answers reads from ``words`` and counts what it does not have, as a board does.

    Parameters
    ----------
    words : dict
        Words by byte address.
    read_only : set
        Addresses at which writes are refused, beside those of the board's registers.
    deaf_bytes : int
        Bytes that it drops at first.
    heard, said : dict
        What the line does to single bytes on their way to the board and from it, by their number:
        a mask of the bits that it flips, or ``None`` for a byte that is lost.
    answer_limit : int or None
        Bytes that it sends before it falls silent.
    on_write : callable
        Called with the address and the word of every write.
    """

    def __init__(
        self,
        words: dict[int, int],
        *,
        read_only: Set[int] = frozenset(),
        deaf_bytes: int = 0,
        heard: dict[int, int | None] | None = None,
        said: dict[int, int | None] | None = None,
        answer_limit: int | None = None,
        on_write: Callable[[int, int], object] | None = None,
    ):
        self.words, self.on_write = words, on_write
        registers = {board(name) for name in BOARD if name not in ("hold", "start")}
        self.read_only = read_only | registers
        self.deaf_bytes, self.answer_limit = deaf_bytes, answer_limit
        self.heard, self.said = heard or {}, said or {}
        self.heard_count = self.said_count = self.checksum = 0
        self.writes: list[tuple[int, int]] = []
        self.commands: list[tuple[int, int, int]] = []
        self._stopped = Event()
        self._thread = Thread(target=self._serve)

    def __enter__(self):
        self._near, self._far = os.openpty()
        tty.setraw(self._far)
        self.port = os.ttyname(self._far)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._thread.join()
        os.close(self._near)
        os.close(self._far)

    def _serve(self):
        data = b""
        while not self._stopped.is_set():
            silence = DROPS_AFTER_SECONDS if data else 0.01
            if not select.select([self._near], [], [], silence)[0]:
                self.checksum = 0 if data else self.checksum
                data = b""
                continue
            more = os.read(self._near, 4096)
            dropped = min(self.deaf_bytes, len(more))
            self.deaf_bytes -= dropped
            data += damaged(more[dropped:], self.heard, self.heard_count)
            self.heard_count += len(more) - dropped
            while (rest := self._command(data)) is not None:
                data = rest

    def _command(self, data: bytes) -> bytes | None:
        """Do the first command if it is whole, and return what follows it."""
        if len(data) < 6:
            return None
        kind, count, first = data[0], data[1], 4 * int.from_bytes(data[2:6], "big")
        size = 6 + (4 * count if kind in (1, 3) else 0)
        if len(data) < size:
            return None
        self.checksum = zlib.crc32(data[:size], self.checksum)
        self.commands.append((kind, count, first))
        for index in range(count):
            address = first + (4 * index if kind in (1, 2) else 0)
            if kind in (1, 3):
                self._write(address, int.from_bytes(data[6 + 4 * index :][:4], "big"))
            elif kind in (2, 4):
                self._send(self._read(address).to_bytes(4, "big"))
        return data[size:]

    def _write(self, address: int, word: int) -> None:
        self.writes.append((address, word))
        if address not in self.words or address in self.read_only:
            self._count_error()
        else:
            self.words[address] = word
        if self.on_write:
            self.on_write(address, word)

    def _read(self, address: int) -> int:
        if address == board("checksum"):
            return self.checksum
        if address in self.words and address != board("start"):
            return self.words[address]
        self._count_error()
        return ERROR_WORD

    def _count_error(self) -> None:
        if board("bus_errors") in self.words:
            self.words[board("bus_errors")] += 1

    def _send(self, data: bytes) -> None:
        self.checksum = zlib.crc32(data, self.checksum)
        data, first = damaged(data, self.said, self.said_count), self.said_count
        self.said_count = first + 4
        if self.answer_limit is not None:
            data = data[: self.answer_limit]
            self.answer_limit -= len(data)
        os.write(self._near, data)


def damaged(data: bytes, faults: dict[int, int | None], first: int) -> bytes:
    """Bytes as they come out of a line, of which the first has the number ``first``."""
    masks = (faults.get(first + index, 0) for index in range(len(data)))
    return bytes(byte ^ mask for byte, mask in zip(data, masks, strict=True) if mask is not None)


def words_of(program: Program, chip: int, *, link_count: int) -> dict[int, int]:
    """Every word of a board whose chip is that of a program and is done with a product of zeros."""
    registers = chip_register_map(program, chip)
    words = {board(name): 0 for name in BOARD}
    words[board("identity")] = 0x424F5244
    words[board("version")] = 2
    digest = program_digest(program)
    words[board("digest_high")], words[board("digest_low")] = divmod(digest, 1 << 32)
    words[board("link_count")] = link_count
    words[board("links_up")] = (1 << link_count) - 1
    words[board("clock_hz")] = 1_000_000
    for register in registers.registers:
        words[register.offset] = register.value or 0
    words[registers.register("coordinate").offset] = chip
    words[registers.register("status").offset] = IDLE | DONE
    words[registers.register("cycles").offset] = 1
    for tensor in program.tensors:
        if tensor.chip == chip:
            window = registers.window(local_name(tensor.name))
            words |= dict.fromkeys(range(window.offset, window.offset + window.span_bytes, 4), 0)
    return words
