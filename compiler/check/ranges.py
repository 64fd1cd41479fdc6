"""Obligation ``range``: no accumulator, partial or link word can overflow."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from compiler.check.page_flow import FlowError, OperandPages, SumPages, page_flow
from compiler.ir.body import image, widest_image
from compiler.ir.certificate import Obligation
from compiler.ir.init import Const, External, Pattern, Values, Zero
from compiler.ir.program import Program
from compiler.ir.stage import Map
from compiler.ir.tensor import Tensor, ValueRange

STATEMENT = (
    "No accumulator, partial sum or link word can overflow, whatever the operands hold within "
    "their ranges; the evidence gives the bits that each needs and those that it has."
)


def bits_for(low: int, high: int) -> int:
    """The least number of bits of a two's complement number that holds ``low`` and ``high``."""
    return 1 + max((~value if value < 0 else value).bit_length() for value in (low, high))


def ranges(program: Program) -> Obligation:
    """Bound every sum by how many products it adds and how large one can be."""
    violations = list(_operand_ranges(program))
    evidence: list[tuple[str, int | str]] = []
    try:
        held, stored = page_flow(program)
    except FlowError as error:
        return Obligation("range", STATEMENT, (), (*violations, str(error)))
    product = _product_range(program)
    maps = {
        stage.outs[0]: stage.kind.body for stage in program.stages if isinstance(stage.kind, Map)
    }
    for name, pages in held.items():
        if isinstance(pages, OperandPages):
            continue
        value = sum_range(program, pages, product)
        if name in maps:
            value = ValueRange(*widest_image(maps[name], value.low, value.high))
        needed = bits_for(value.low, value.high)
        has = program.buffer_by_name[name].page.dtype.bits
        evidence.append((name, f"needs {needed} of {has} bits"))
        if needed > has:
            violations.append(
                f"{name} holds sums in [{value.low}, {value.high}], which need {needed} bits, "
                f"but has {has}"
            )
    for pages in stored.values():
        violations += _output_range(program, sum_range(program, pages, product))
    return Obligation("range", STATEMENT, tuple(evidence), tuple(violations))


def sum_range(program: Program, pages: SumPages, product: ValueRange) -> ValueRange:
    """The range of every element of some pages. Padding of the contraction adds nothing."""
    begin = np.arange(pages.times.shape[1], dtype=np.int64) * program.tile
    real = np.clip(program.claim.k - begin, 0, program.tile)
    counts: NDArray[np.int64] = pages.times @ real
    least, most = (int(counts.min()), int(counts.max())) if counts.size else (0, 0)
    return ValueRange(
        min(least * product.low, most * product.low),
        max(least * product.high, most * product.high),
    )


def _product_range(program: Program) -> ValueRange:
    """The range of one product of two operand elements."""
    left, right = (
        [
            t.value_range
            for t in program.tensors
            if whole in (t.name, t.slice_of and t.slice_of.whole)
        ]
        for whole in (program.claim.left, program.claim.right)
    )
    products = [
        x * y
        for x in (min(r.low for r in left), max(r.high for r in left))
        for y in (min(r.low for r in right), max(r.high for r in right))
    ]
    return ValueRange(min(products), max(products))


def _operand_ranges(program: Program) -> Iterator[str]:
    """Whether operands keep to their declared ranges, as far as the program itself can tell."""
    declared: dict[str, Tensor] = {}
    for tensor in program.tensors:
        whole = tensor.slice_of.whole if tensor.slice_of else tensor.name
        if whole == program.claim.output:
            continue
        first = declared.setdefault(whole, tensor)
        if tensor.value_range != first.value_range:
            yield (
                f"{tensor.name} declares [{tensor.value_range.low}, {tensor.value_range.high}] and "
                f"{first.name} [{first.value_range.low}, {first.value_range.high}] of one operand"
            )
        low, high = tensor.value_range.low, tensor.value_range.high
        if low < tensor.dtype.low or high > tensor.dtype.high:
            yield f"{tensor.name} declares [{low}, {high}], which {tensor.dtype} does not hold"
        for value in _stated_extremes(program, tensor):
            if not low <= value <= high:
                yield f"{tensor.name} holds {value}, which is outside of [{low}, {high}]"
                break
        if _is_padded_with_values(program, tensor):
            yield f"{tensor.name} holds values behind element {program.claim.k} of the contraction"


def _stated_extremes(program: Program, tensor: Tensor) -> tuple[int, ...]:
    match tensor.init:
        case Zero():
            return (0,)
        case Const(value):
            return (value,)
        case Pattern(modulus, shift):
            rows, cols = tensor.value_shape
            return (-shift, min(modulus, rows * cols) - 1 - shift)
        case Values(values):
            real, _ = tensor.split_values(values, program.claim.k)
            return (min(real), max(real)) if real else ()
        case _:
            return ()


def _is_padded_with_values(program: Program, tensor: Tensor) -> bool:
    """Whether a slice states other values than zeros where the contraction has ended."""
    piece = tensor.slice_of
    if piece is None or isinstance(tensor.init, Zero | External):
        return False
    extent = tensor.rows if piece.axis == "rows" else tensor.cols
    real = max(0, program.claim.k - piece.index * extent)
    if real >= extent or not isinstance(tensor.init, Values):
        return real < extent and tensor.init != Const(0)
    _, beyond = tensor.split_values(tensor.init.values, program.claim.k)
    return any(beyond)


def _output_range(program: Program, value: ValueRange) -> Iterator[str]:
    output = program.tensor_by_name.get(program.claim.output)
    if output is None:
        return
    if program.claim.map:
        value = ValueRange(*image(program.claim.map, value.low, value.high))
    if value.low < output.value_range.low or value.high > output.value_range.high:
        yield (
            f"{output.name} declares [{output.value_range.low}, {output.value_range.high}], but "
            f"the sums reach [{value.low}, {value.high}]"
        )
    if bits_for(value.low, value.high) > output.dtype.bits:
        yield (
            f"{output.name} is {output.dtype}, but the sums need "
            f"{bits_for(value.low, value.high)} bits"
        )
