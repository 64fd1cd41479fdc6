"""Every error that a run raises on purpose."""

from compiler.errors import ShardwrightError


class OperandError(ShardwrightError):
    """An operand cannot be used."""


class OperandFileError(OperandError):
    """A file holds no matrix that can be read."""

    def __init__(self, *, path: str, why: str):
        self.path, self.why = path, why
        super().__init__(
            f"operand file {path!r} cannot be read: {why}; it must be a .npy file with one "
            f"int8 matrix (numpy.save)"
        )


class OperandShapeError(OperandError):
    """An operand has the wrong number of axes or the wrong extents."""

    def __init__(self, *, operand: str, shape: tuple[int, ...], wanted: str, way_out: str):
        self.operand, self.shape = operand, shape
        super().__init__(f"operand {operand} must be {wanted}, not of shape {shape}; {way_out}")


class InnerDimensionError(OperandError):
    """The operands do not agree on the contraction axis."""

    def __init__(self, *, a: tuple[int, ...], b: tuple[int, ...]):
        self.a, self.b = a, b
        super().__init__(
            f"A of shape {a} and B of shape {b} do not multiply: A has {a[1]} columns and B has "
            f"{b[0]} rows; they must be equal"
        )


class OperandDtypeError(OperandError):
    """An operand is not an integer matrix."""

    def __init__(self, *, operand: str, dtype: str):
        self.operand, self.dtype = operand, dtype
        super().__init__(
            f"operand {operand} must hold integers, not {dtype}; quantise it to int8 first "
            f"(for instance numpy.rint(x / scale).astype(numpy.int8))"
        )


class OperandRangeError(OperandError):
    """A value of an operand lies outside of its declared range."""

    def __init__(self, *, operand: str, value: int, position: tuple[int, int], low: int, high: int):
        self.operand, self.value, self.position = operand, value, position
        self.low, self.high = low, high
        super().__init__(
            f"operand {operand} holds {value} at row {position[0]}, column {position[1]}, which is "
            f"outside of [{low}, {high}]; scale or clip it first"
        )


class OperandMaskError(OperandError):
    """Elements of an operand are masked out, and the values under the mask are nobody's."""

    def __init__(self, *, operand: str, count: int):
        self.operand, self.count = operand, count
        super().__init__(
            f"operand {operand} has {count} masked elements, and the machine has no mask; say what "
            f"stands there (numpy.ma.filled)"
        )


class OperandSourceError(OperandError):
    """An operand is supplied where the program has its own, or missing where it has none."""

    def __init__(self, *, operand: str, given: bool):
        self.operand, self.given = operand, given
        super().__init__(
            f"operand {operand} is given, but the program holds its values; leave it out"
            if given
            else f"operand {operand} is missing, and the program does not hold its values; give it"
        )


class UnknownInputError(OperandError):
    """An input is given that the program does not have."""

    def __init__(self, *, name: str, names: tuple[str, ...]):
        self.name, self.names = name, names
        super().__init__(f"the program has no input {name!r}; its inputs are {', '.join(names)}")


class InputCountError(OperandError):
    """More arrays are given than the program has inputs."""

    def __init__(self, *, count: int, names: tuple[str, ...]):
        self.count, self.names = count, names
        super().__init__(
            f"{count} arrays are given, but the program has {len(names)} inputs; give one for "
            f"each of {', '.join(names)}, in this order, or by name (inputs)"
        )


class InputTwiceError(OperandError):
    """An input is given by position and by name."""

    def __init__(self, *, name: str):
        self.name = name
        super().__init__(f"operand {name} is given by position and by name; give it once")


class ValueGapError(ShardwrightError):
    """No chip holds an element of a value."""

    def __init__(self, *, value: str, row: int, col: int):
        self.value, self.row, self.col = value, row, col
        super().__init__(
            f"no tensor of the program holds element [{row}, {col}] of {value!r}, so the value "
            f"cannot be put together; give it a tensor whose part has it"
        )


class ExactError(ShardwrightError):
    """Numbers cannot go from one type to another without a change."""


class InexactTypeError(ExactError):
    """What is to become integers are none."""

    def __init__(self, *, what: str, dtype: str, wanted: str):
        self.what, self.dtype, self.wanted = what, dtype, wanted
        super().__init__(f"{what} holds {dtype}, which does not become {wanted}: give integers")


class InexactValueError(ExactError):
    """A type does not hold a value."""

    def __init__(
        self,
        *,
        what: str,
        value: int,
        position: tuple[int, ...],
        dtype: str,
        low: int,
        high: int,
    ):
        self.what, self.value, self.position, self.dtype = what, value, position, dtype
        place = ", ".join(map(str, position))
        super().__init__(
            f"{what} holds {value} at ({place}), which {dtype} does not hold: "
            f"its values are {low} to {high}"
        )


class ElementTypeError(ExactError):
    """A program computes with a type that the machine does not compute with."""

    def __init__(self, *, what: str, dtype: str):
        self.what, self.dtype = what, dtype
        super().__init__(
            f"{what} holds {dtype}, which the machine does not compute with; "
            f"it multiplies int8 and sums in int2 to int32"
        )


class MemoryImageError(ShardwrightError):
    """The words for a tensor's memory are not those of such a memory."""

    def __init__(self, *, tensor: str, why: str):
        self.tensor, self.why = tensor, why
        super().__init__(f"the words for tensor {tensor!r} do not fit its memory: {why}")


class SimulationHangError(ShardwrightError):
    """A run did not end. ``waits`` lists the stages that wait, and on what."""

    def __init__(self, *, cycles: int, waits: tuple[str, ...]):
        self.cycles, self.waits = cycles, waits
        super().__init__(
            f"the run did not end within {cycles} cycles; "
            + ("waiting: " + "; ".join(waits) if waits else "no stage waits")
        )


class CyclesDifferError(ShardwrightError):
    """A run took other cycles than the program's schedule states, though its product is exact."""

    def __init__(self, *, program: str, cycles: int, stated: int):
        self.program, self.cycles, self.stated = program, cycles, stated
        super().__init__(
            f"the run of {program!r} took {cycles} cycles, but its schedule states {stated}; what "
            f"ran is not what was certified, so neither its cycles nor its product can be relied "
            f"on: compile the program anew, and report it if they still differ"
        )


class OutputFileError(ShardwrightError):
    """A file cannot be written."""

    def __init__(self, *, path: str, why: str):
        self.path, self.why = path, why
        super().__init__(f"output file {path!r} cannot be written: {why}; choose another place")


class InterpreterDeadlockError(ShardwrightError):
    """No process of a program can go on. ``waits`` lists who waits for what."""

    def __init__(self, *, waits: tuple[str, ...]):
        self.waits = waits
        super().__init__("the program cannot go on: " + "; ".join(waits))


class ToolMissingError(ShardwrightError):
    """A tool that a command needs is not there. ``way`` is how to get it."""

    def __init__(self, *, tool: str, purpose: str, way: str):
        self.tool, self.purpose, self.way = tool, purpose, way
        super().__init__(f"{purpose} needs {tool}, which is not installed; get it by: {way}")


class BenchBuildError(ShardwrightError):
    """A simulator did not accept a bench's Verilog. ``log_tail`` is how its output ends."""

    def __init__(self, *, simulator: str, why: str, log_tail: str = ""):
        self.simulator, self.why, self.log_tail = simulator, why, log_tail
        super().__init__(f"the bench was not built on {simulator}: {why}")


class BenchFailedError(ShardwrightError):
    """Tests of a bench failed. ``failures`` says which and why, ``log_tail`` how the run ended."""

    def __init__(self, *, simulator: str, failures: tuple[str, ...], log_tail: str = ""):
        self.simulator, self.failures, self.log_tail = simulator, failures, log_tail
        super().__init__(f"the bench failed on {simulator}: {'; '.join(failures)}")
