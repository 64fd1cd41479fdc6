"""The host's end of a simulated serial line, cycle by cycle."""

from collections import deque

DATA_BITS = 8
FRAME_BITS = DATA_BITS + 2


class SerialLine:
    """Sends and receives bytes, each with a start bit and a stop bit.

    Parameters
    ----------
    divisor : int
        Cycles per bit.

    Attributes
    ----------
    waiting : deque of int
        Bytes that are still to be sent.
    received : bytearray
        Bytes that came in.
    """

    def __init__(self, divisor: int):
        self.divisor = divisor
        self.waiting: deque[int] = deque()
        self.received = bytearray()
        self._frame = self._sent_cycles = 0
        self._sampled_cycles = -1
        self._bits = 0

    @property
    def busy(self) -> bool:
        """Whether a byte is on its way in one of the directions."""
        return bool(self._frame or self.waiting or self._sampled_cycles >= 0)

    def drive(self) -> int:
        """The level of the line to the chip in the next cycle."""
        if not self._frame and self.waiting:
            self._frame = self.waiting.popleft() << 1 | 1 << FRAME_BITS - 1
            self._sent_cycles = 0
        if not self._frame:
            return 1
        bit = self._sent_cycles // self.divisor
        level = self._frame >> bit & 1
        self._sent_cycles += 1
        if self._sent_cycles == FRAME_BITS * self.divisor:
            self._frame = 0
        return level

    def sample(self, level: int) -> None:
        """Take the level of the line from the chip in this cycle."""
        if self._sampled_cycles < 0:
            if level:
                return
            self._sampled_cycles, self._bits = 0, 0
        bit, cycle = divmod(self._sampled_cycles, self.divisor)
        if cycle == self.divisor // 2:
            self._bits |= level << bit
        self._sampled_cycles += 1
        if bit == FRAME_BITS - 1 and cycle == self.divisor // 2:
            self._sampled_cycles = -1
            start, stop = self._bits & 1, self._bits >> FRAME_BITS - 1
            if stop and not start:
                self.received.append(self._bits >> 1 & 0xFF)
