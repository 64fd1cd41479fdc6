"""One board and its chip, by the names of their registers and windows."""

from collections.abc import Sequence

from hw.axi_lite import DATA_BYTES
from hw.board.board_registers import IDENTITY as BOARD_IDENTITY
from hw.board.board_registers import board_registers
from hw.board.uart_bone import ERROR_COUNT_BITS
from hw.register_map import Access, Register, RegisterMap
from sim.host.errors import (
    AccessCountFullError,
    AccessRefusedError,
    BoardMismatchError,
    PortSilentError,
)
from sim.host.uart_bone import UartBoneClient

BOARD_REGISTERS = {register.name: register for register in board_registers()}
STATES = ("idle", "running", "done", "fault")
"""Names of the bits of a chip's status, from bit 0 on."""
MOST_ERRORS = (1 << ERROR_COUNT_BITS) - 1
"""Refused accesses up to which a board counts."""
REBUILD = "build the board's bitstream from this program"


class BoardClient:
    """The host's end of one board.

    Parameters
    ----------
    client : UartBoneClient
        The serial port.
    chip : int
        Coordinate of the chip that is to be on the board.
    registers : RegisterMap
        Registers and windows of the chip.
    link_count : int
        Link ports of the chip.

    Attributes
    ----------
    clock_hz : int
        Frequency of the chip's clock, once the board is checked.
    """

    def __init__(
        self, client: UartBoneClient, chip: int, registers: RegisterMap, *, link_count: int
    ):
        self.client, self.chip, self.registers = client, chip, registers
        self.link_count = link_count
        self.clock_hz = self._errors = 0

    @property
    def port(self) -> str:
        """Name of the serial port."""
        return self.client.port

    def check(self) -> None:
        """Check that there is a board, and that its chip is that of the program.

        Raises
        ------
        PortSilentError
            If nothing answers.
        BoardMismatchError
            If a register says that it is another.
        """
        found = self._first_answer()
        self._compare(
            "identity",
            found["identity"],
            BOARD_IDENTITY,
            "check that the port leads to a board of this project, and the baud rate",
        )
        self._compare("link_count", found["link_count"], self.link_count, REBUILD)
        self._errors, self.clock_hz = found["bus_errors"], found["clock_hz"]
        if found["hold"]:
            self.set_hold(False)
        constants = {r: r.value for r in self.registers.registers if r.value is not None}
        found = self._read([*constants, self.registers.register("coordinate")])
        for register, value in constants.items():
            self._compare(register.name, found[register.name], value, REBUILD)
        order = "give the ports in the order of the chips"
        self._compare("coordinate", found["coordinate"], self.chip, order)

    def check_errors(self, during: str) -> None:
        """Check that the board refused nothing since the last time.

        Raises
        ------
        AccessRefusedError
            If it did.
        AccessCountFullError
            If its count is at its end, which refusals no longer change.
        """
        errors = self.board_register("bus_errors")
        if errors >= MOST_ERRORS:
            raise AccessCountFullError(port=self.port, chip=self.chip, count=errors, during=during)
        count, self._errors = errors - self._errors, errors
        if count:
            raise AccessRefusedError(port=self.port, chip=self.chip, count=count, during=during)

    def board_register(self, name: str) -> int:
        """The value of a register of the board."""
        return self.client.read(BOARD_REGISTERS[name].offset, 1)[0]

    def set_hold(self, held: bool) -> None:
        """Hold chip and links in reset, or release them; it is so when this returns.

        Raises
        ------
        BoardMismatchError
            If it is not.
        """
        self.client.write(BOARD_REGISTERS["hold"].offset, [int(held)])
        self._compare("hold", self.board_register("hold"), int(held), "use no other host meanwhile")

    def links_down(self) -> tuple[int, ...]:
        """Link ports that are not up."""
        up = self.board_register("links_up")
        return tuple(link for link in range(self.link_count) if not up >> link & 1)

    def start(self) -> None:
        """Start a run of this chip and of all that send to it."""
        self.client.write(BOARD_REGISTERS["start"].offset, [1])

    def state(self) -> tuple[str, ...]:
        """Names of what the chip's status says."""
        status = self.client.read(self.registers.register("status").offset, 1)[0]
        return tuple(name for bit, name in enumerate(STATES) if status >> bit & 1)

    def cycles(self) -> int:
        """Cycles of the run, or of the last one."""
        return self.client.read(self.registers.register("cycles").offset, 1)[0]

    def counters(self) -> dict[str, int]:
        """Every counter of the chip, ``cycles`` among them."""
        skipped = ("", "coordinate", "status")
        return self._read([r for r in self.registers.registers if r.source not in skipped])

    def load(self, tensor: str, beats: list[bytes]) -> None:
        """Write the beats of a tensor into its window."""
        data = b"".join(beats)
        words = [
            int.from_bytes(data[i : i + DATA_BYTES], "little")
            for i in range(0, len(data), DATA_BYTES)
        ]
        self.client.write(self.registers.window(tensor).offset, words)

    def beats(self, tensor: str) -> list[bytes]:
        """Read the beats of a tensor from its window."""
        window = self.registers.window(tensor)
        words = self.client.read(window.offset, window.span_bytes // DATA_BYTES)
        data = b"".join(word.to_bytes(DATA_BYTES, "little") for word in words)
        return [data[i : i + window.beat_bytes] for i in range(0, len(data), window.beat_bytes)]

    def _first_answer(self) -> dict[str, int]:
        """The board's registers; it may still wait for the rest of another host's command."""
        readable = [r for r in board_registers() if r.access is not Access.WRITE]
        try:
            return self._read(readable)
        except PortSilentError:
            return self._read(readable)

    def _read(self, wanted: Sequence[Register]) -> dict[str, int]:
        """Registers that stand one behind the other, in one command."""
        offsets = [register.offset for register in wanted]
        assert offsets == list(range(offsets[0], offsets[-1] + 1, DATA_BYTES))
        words = self.client.read(offsets[0], len(wanted))
        return {register.name: word for register, word in zip(wanted, words, strict=True)}

    def _compare(self, register: str, value: int, wanted: int, way_out: str) -> None:
        if value != wanted:
            raise BoardMismatchError(
                port=self.port, register=register, value=value, wanted=wanted, way_out=way_out
            )
