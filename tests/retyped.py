"""Programs of other element types, consistently: no record disagrees with another."""

from dataclasses import replace

from compiler.ir.buffer import Buffer
from compiler.ir.dtype import DType
from compiler.ir.program import Program
from compiler.ir.stage import Load
from compiler.ir.tensor import Tensor, TensorRole, ValueRange
from compiler.passes.memory import allocate


def retyped(
    program: Program, *, operand: DType | None = None, total: DType | None = None
) -> Program:
    """``program`` with all operands, or all sums, of another type.

    Numerics, tensors, pages and memory are changed alike. Ranges stay as far as the type holds
    them, since less than a type holds may always be promised.
    """
    operand, total = operand or program.numerics.operand, total or program.numerics.total
    loaded = {name for s in program.stages if isinstance(s.kind, Load) for name in s.outs}

    def tensor_of(tensor: Tensor) -> Tensor:
        dtype = operand if tensor.role is TensorRole.INPUT else total
        return replace(tensor, dtype=dtype, value_range=_held(tensor.value_range, dtype))

    def buffer_of(buffer: Buffer) -> Buffer:
        dtype = operand if buffer.name in loaded else total
        return replace(buffer, page=replace(buffer.page, dtype=dtype))

    changed = replace(
        program,
        numerics=replace(program.numerics, operand=operand, total=total),
        tensors=tuple(map(tensor_of, program.tensors)),
        buffers=tuple(map(buffer_of, program.buffers)),
        memory=(),
        certificate=None,
    )
    return allocate(changed) if program.memory else changed


def _held(span: ValueRange, dtype: DType) -> ValueRange:
    if dtype.kind != "int" or not 1 <= dtype.bits <= 64:
        return span
    return ValueRange(max(span.low, dtype.low), min(span.high, dtype.high))
