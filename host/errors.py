"""Every error of a host that drives boards. Each says which port, and what to do."""

from compiler.errors import ShardwrightError


class HostError(ShardwrightError):
    """Boards cannot be driven as asked."""


class PortCountError(HostError):
    """There are more or fewer serial ports than chips."""

    def __init__(self, *, ports: int, chips: int):
        self.ports, self.chips = ports, chips
        super().__init__(
            f"the program has {chips} chip{'s' if chips > 1 else ''}, but {ports} serial "
            f"port{'s are' if ports != 1 else ' is'} given; give one --port for each chip, in the "
            f"order of the chips"
        )


class LineSettingError(HostError):
    """A serial port cannot be used in the way that is asked for."""

    def __init__(self, *, name: str, value: float, rule: str):
        self.name, self.value = name, value
        super().__init__(f"the {name} of a serial port must be {rule}, not {value!r}")


class PortError(HostError):
    """A serial port cannot be opened, or fails."""

    def __init__(self, *, port: str, why: str):
        self.port, self.why = port, why
        super().__init__(
            f"serial port {port!r} fails: {why}; check that the board is plugged in, that no other "
            f"program has the port, and that you may use it"
        )


class PortSilentError(HostError):
    """A board does not answer."""

    def __init__(self, *, port: str, wanted: int, got: int, seconds: float, baud: int):
        self.port, self.wanted, self.got = port, wanted, got
        super().__init__(
            f"the board at {port!r} does not answer: {got} of {wanted} bytes came, then nothing "
            f"for {seconds:g} s at {baud} baud; check its power, its bitstream and the baud rate"
        )


class PortNoisyError(HostError):
    """Something sends without end."""

    def __init__(self, *, port: str, seconds: float, baud: int):
        self.port = port
        super().__init__(
            f"what is at {port!r} is never silent for {seconds:.2g} s at {baud} baud, as a board "
            f"is between two answers; check that the port leads to a board of this project, and "
            f"the baud rate"
        )


class LineFaultError(HostError):
    """Bytes did not cross the serial line whole."""

    def __init__(self, *, port: str, block: str, why: str):
        self.port, self.block = port, block
        super().__init__(
            f"the line to the board at {port!r} damages what crosses it: {block}: {why}; check the "
            f"cable and its length, and use no other host meanwhile"
        )


class ProgramMismatchError(HostError):
    """A board's chip is that of another program of the same shape."""

    def __init__(self, *, port: str, digest: int, wanted: int):
        self.port, self.digest, self.wanted = port, digest, wanted
        super().__init__(
            f"the board at {port!r} has a chip of the program with digest {digest:016x}, not "
            f"{wanted:016x}; give --program the file that its bitstream was built from, or build "
            f"the bitstream from this program"
        )


class BoardMismatchError(HostError):
    """A register of a board or its chip does not say what the program needs."""

    def __init__(self, *, port: str, register: str, value: int, wanted: int, way_out: str):
        self.port, self.register, self.value, self.wanted = port, register, value, wanted
        form = "#010x" if max(value, wanted) >= 1 << 16 else "d"
        super().__init__(
            f"the board at {port!r} has {register} {value:{form}}, not {wanted:{form}}; {way_out}"
        )


class LinksDownError(HostError):
    """Links of a chip do not come up."""

    def __init__(self, *, port: str, chip: int, down: tuple[int, ...], seconds: float):
        self.port, self.chip, self.down = port, chip, down
        ports = ", ".join(map(str, down))
        super().__init__(
            f"chip {chip} at {port!r}: link port{'s' if len(down) > 1 else ''} {ports} did not "
            f"come up within {seconds:g} s; check the cables between the boards and their power"
        )


class StartTwiceError(HostError):
    """Two chips that a host would have to start both start a third."""

    def __init__(self, *, chip: int, first: int, second: int):
        self.chip, self.first, self.second = chip, first, second
        super().__init__(
            f"chip {chip} sends to what chips {first} and {second} start, which do not start each "
            f"other, so it would be started twice; let their results meet on one chip"
        )


class AccessRefusedError(HostError):
    """A board's bus answered accesses with errors."""

    def __init__(self, *, port: str, chip: int, count: int, during: str):
        self.port, self.chip, self.count = port, chip, count
        super().__init__(
            f"chip {chip} at {port!r} refused {count} access{'es' if count > 1 else ''} while "
            f"{during}; build its bitstream from this program, and use no other host meanwhile"
        )


class AccessCountFullError(HostError):
    """A board's count of refused accesses is at its end, so further ones would go unseen."""

    def __init__(self, *, port: str, chip: int, count: int, during: str):
        self.port, self.chip, self.count = port, chip, count
        super().__init__(
            f"chip {chip} at {port!r} has refused {count} accesses, which is as far as it counts, "
            f"so whether it refused any while {during} cannot be told; load its bitstream anew, "
            f"built from this program, and use no other host meanwhile"
        )


class ChipFaultError(HostError):
    """A chip reports a fault."""

    def __init__(self, *, port: str, chip: int, state: str):
        self.port, self.chip, self.state = port, chip, state
        super().__init__(
            f"chip {chip} at {port!r} is {state}: a beat came without room for it; build all "
            f"bitstreams from this program, and run again"
        )


class ChipHungError(HostError):
    """A chip is not done in time."""

    def __init__(self, *, port: str, chip: int, state: str, cycles: int, seconds: float):
        self.port, self.chip, self.state, self.cycles = port, chip, state, cycles
        super().__init__(
            f"chip {chip} at {port!r} is {state}, not done, after {seconds:.3g} s and {cycles} of "
            f"its cycles; check the links, or allow more time"
        )
