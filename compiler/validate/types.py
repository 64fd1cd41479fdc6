"""Types: what is said of an element type is one truth, and the machine computes with it."""

from collections.abc import Iterator

from compiler.errors import ValidationError
from compiler.ir.dtype import INT8, SUM_BITS, WIDEST_BITS, DType
from compiler.ir.init import ConstFloat, FloatValues, RandomBf16
from compiler.ir.program import Program
from compiler.ir.tensor import TensorRole


def check_type_names(program: Program) -> None:
    """Name, bits and kind of every element type are those of one type."""
    for name, dtype in _types(program):
        if not dtype.exists:
            raise ValidationError(
                "TypeUnknown",
                name,
                f"{name!r} has elements of type {dtype.name!r}, {dtype.bits} bits, kind "
                f"{dtype.kind!r}; there is no such type: int1 to int{WIDEST_BITS} have kind 'int' "
                f"and as many bits as their names say",
            )


def check_types(program: Program) -> None:
    """The machine multiplies and sums the types of a program, and holds no other."""
    multiplies = program.graph.product is not None
    if multiplies:
        _multiplied(program.name, program.numerics.operand, "multiplies")
    _summed(program.name, program.numerics.total, "sums in")
    for tensor in program.tensors:
        if tensor.role is TensorRole.INPUT and multiplies:
            _multiplied(tensor.name, tensor.dtype, "holds operands of")
        else:
            _summed(tensor.name, tensor.dtype, "holds sums of")
        if isinstance(tensor.init, ConstFloat | FloatValues | RandomBf16):
            raise ValidationError(
                "FillType",
                tensor.name,
                f"tensor {tensor.name!r} of {tensor.dtype} is filled with floats "
                f"({type(tensor.init).__name__}); give it integers",
            )
    for buffer in program.buffers:
        if not buffer.page.dtype.is_multiplied:
            _summed(buffer.name, buffer.page.dtype, "holds pages of")


def _types(program: Program) -> Iterator[tuple[str, DType]]:
    yield program.name, program.numerics.operand
    yield program.name, program.numerics.total
    yield from ((tensor.name, tensor.dtype) for tensor in program.tensors)
    yield from ((buffer.name, buffer.page.dtype) for buffer in program.buffers)


def _multiplied(name: str, dtype: DType, does: str) -> None:
    if not dtype.is_multiplied:
        raise ValidationError(
            "OperandType", name, f"{name!r} {does} {dtype}, but tile units multiply {INT8}"
        )


def _summed(name: str, dtype: DType, does: str) -> None:
    if not dtype.is_summed:
        raise ValidationError(
            "SumType",
            name,
            f"{name!r} {does} {dtype}, but the machine sums in signed integers of "
            f"{SUM_BITS.start} to {SUM_BITS.stop - 1} bits",
        )
