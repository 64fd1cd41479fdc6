"""One board and its chip, by the names of their registers and windows."""

from collections.abc import Sequence

from host.checked_line import ATTEMPTS, CheckedLine
from host.errors import (
    AccessCountFullError,
    AccessRefusedError,
    BoardMismatchError,
    PortSilentError,
    ProgramMismatchError,
)
from host.uart_bone import UartBoneClient
from hw.axi_lite import DATA_BITS, DATA_BYTES
from hw.board.board_registers import IDENTITY as BOARD_IDENTITY
from hw.board.board_registers import VERSION as BOARD_VERSION
from hw.board.board_registers import board_registers
from hw.board.uart_bone import ERROR_COUNT_BITS
from hw.register_map import Register, RegisterMap

BOARD_REGISTERS = {register.name: register for register in board_registers()}
STATE = ("hold", "link_count", "links_up", "bus_errors", "clock_hz")
"""Registers of a board, one behind the other, that say how it is."""
STATES = ("idle", "running", "done", "fault")
"""Names of the bits of a chip's status, from bit 0 on."""
MOST_ERRORS = (1 << ERROR_COUNT_BITS) - 1
"""Refused accesses up to which a board counts."""
REBUILD = "build the board's bitstream from this program"
NOT_OURS = "check that the port leads to a board of this project, and the baud rate"


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
    digest : int
        Digest of the program.

    Attributes
    ----------
    clock_hz : int
        Frequency of the chip's clock, once the board is checked.
    """

    def __init__(
        self,
        client: UartBoneClient,
        chip: int,
        registers: RegisterMap,
        *,
        link_count: int,
        digest: int,
    ):
        self.client, self.chip, self.registers = client, chip, registers
        self.line = CheckedLine(client)
        self.link_count, self.digest = link_count, digest
        self.clock_hz = 0

    @property
    def port(self) -> str:
        """Name of the serial port."""
        return self.client.port

    def check(self) -> None:
        """Check that there is a board, and that its chip is that of the program.

        What another host has left on its way is waited for, and a command that it has begun.

        Raises
        ------
        PortSilentError
            If nothing answers.
        PortNoisyError
            If something sends without end.
        LineFaultError
            If what crosses the line is damaged.
        BoardMismatchError
            If a register says that it is another.
        ProgramMismatchError
            If all is alike but the program.
        """
        self._recognise()
        self.line.agree()
        found = self._read([BOARD_REGISTERS[name] for name in STATE])
        self._compare("link_count", found["link_count"], self.link_count, REBUILD)
        self.clock_hz = found["clock_hz"]
        if found["hold"]:
            self.set_hold(False)
        constants = {r: r.value for r in self.registers.registers if r.value is not None}
        found = self._read([*constants, self.registers.register("coordinate")])
        for register, value in constants.items():
            self._compare(register.name, found[register.name], value, REBUILD)
        order = "give the ports in the order of the chips"
        self._compare("coordinate", found["coordinate"], self.chip, order)
        halves = self._read([BOARD_REGISTERS["digest_high"], BOARD_REGISTERS["digest_low"]])
        digest = halves["digest_high"] << DATA_BITS | halves["digest_low"]
        if digest != self.digest:
            raise ProgramMismatchError(port=self.port, digest=digest, wanted=self.digest)

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
        count, self.line.refused = errors - self.line.refused, errors
        if count:
            raise AccessRefusedError(port=self.port, chip=self.chip, count=count, during=during)

    def board_register(self, name: str) -> int:
        """The value of a register of the board."""
        return self._read([BOARD_REGISTERS[name]])[name]

    def set_hold(self, held: bool) -> None:
        """Hold chip and links in reset, or release them; it is so when this returns.

        Raises
        ------
        BoardMismatchError
            If it is not.
        """
        block = "the order to hold" if held else "the order to release"
        self.line.write(BOARD_REGISTERS["hold"].offset, [int(held)], block=block)
        self._compare("hold", self.board_register("hold"), int(held), "use no other host meanwhile")

    def links_down(self) -> tuple[int, ...]:
        """Link ports that are not up."""
        up = self.board_register("links_up")
        return tuple(link for link in range(self.link_count) if not up >> link & 1)

    def start(self) -> None:
        """Start a run of this chip and of all that send to it."""
        self.line.write(BOARD_REGISTERS["start"].offset, [1], block="the order to start")

    def state(self) -> tuple[str, ...]:
        """Names of what the chip's status says."""
        status = self._read([self.registers.register("status")])["status"]
        return tuple(name for bit, name in enumerate(STATES) if status >> bit & 1)

    def cycles(self) -> int:
        """Cycles of the run, or of the last one."""
        return self._read([self.registers.register("cycles")])["cycles"]

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
        block = f"tensor {tensor!r} of chip {self.chip}"
        self.line.write(self.registers.window(tensor).offset, words, block=block)

    def beats(self, tensor: str) -> list[bytes]:
        """Read the beats of a tensor from its window."""
        window = self.registers.window(tensor)
        block = f"tensor {tensor!r} of chip {self.chip}"
        words = self.line.read(window.offset, window.span_bytes // DATA_BYTES, block=block)
        data = b"".join(word.to_bytes(DATA_BYTES, "little") for word in words)
        return [data[i : i + window.beat_bytes] for i in range(0, len(data), window.beat_bytes)]

    def _recognise(self) -> None:
        """Find a board of this project, of which it is not known yet whether the line is good.

        Raises
        ------
        PortSilentError, PortNoisyError, BoardMismatchError
            If there is none.
        """
        wanted = {"identity": (BOARD_IDENTITY, NOT_OURS), "version": (BOARD_VERSION, REBUILD)}
        for attempt in range(ATTEMPTS):
            self.client.wait_for_silence()
            try:
                for name, (value, way_out) in wanted.items():
                    (said,) = self.client.read(BOARD_REGISTERS[name].offset, 1)
                    self._compare(f"board {name}", said, value, way_out)
            except (PortSilentError, BoardMismatchError):
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                return

    def _read(self, wanted: Sequence[Register]) -> dict[str, int]:
        """Registers that stand one behind the other, in one command."""
        offsets = [register.offset for register in wanted]
        assert offsets == list(range(offsets[0], offsets[-1] + 1, DATA_BYTES))
        names = wanted[0].name if len(wanted) == 1 else f"{wanted[0].name} to {wanted[-1].name}"
        words = self.line.read(offsets[0], len(wanted), block=f"{names} of chip {self.chip}")
        return {register.name: word for register, word in zip(wanted, words, strict=True)}

    def _compare(self, register: str, value: int, wanted: int, way_out: str) -> None:
        if value != wanted:
            raise BoardMismatchError(
                port=self.port, register=register, value=value, wanted=wanted, way_out=way_out
            )
