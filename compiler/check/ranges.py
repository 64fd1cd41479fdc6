"""Obligation ``range``: no accumulator, partial or link word can overflow."""

from collections.abc import Iterator

from compiler.flow.errors import FlowError
from compiler.flow.page_flow import page_flow
from compiler.flow.pages import SumPages
from compiler.flow.tile_grid import contraction_blocks
from compiler.ir.body import image, widest_image
from compiler.ir.certificate import Obligation
from compiler.ir.init import Const, Pattern, Values, Zero
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
        flow = page_flow(program)
    except FlowError as error:
        return Obligation("range", STATEMENT, (), (*violations, str(error)))
    product = _contribution_range(program)
    maps = {
        stage.outs[0]: stage.kind.body for stage in program.stages if isinstance(stage.kind, Map)
    }
    for name, places in flow.sums.items():
        value = sum_range(program, places, product)
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
    for stored in flow.stored.values():
        output = program.tensor_by_name[stored.tensor]
        violations += _output_range(program, output, sum_range(program, stored.places, product))
    return Obligation("range", STATEMENT, tuple(evidence), tuple(violations))


def sum_range(program: Program, places: tuple[SumPages, ...], product: ValueRange) -> ValueRange:
    """The range of every element of some pages. Padding of the contraction adds nothing."""
    added = {adds for pages in places for adds in pages.adds}
    moved = program.graph.redistribution
    if moved is None:
        counts = {adds.elements(program.tile, program.claim.k) for adds in added}
    elif moved.combine == "sum":
        counts = {adds.elements(1, contraction_blocks(program)) for adds in added}
    else:
        counts = {1}
    ends = [count * bound for count in counts for bound in (product.low, product.high)]
    return ValueRange(min(ends), max(ends))


def _hull(spans: list[ValueRange]) -> ValueRange:
    return ValueRange(min(span.low for span in spans), max(span.high for span in spans))


def _contribution_range(program: Program) -> ValueRange:
    """The range of what is added once: of a product of two elements, or of an element."""
    moved = program.graph.redistribution
    if moved is not None:
        return _hull([tensor.value_range for tensor in program.tensors_of[moved.input]])
    left, right = (
        _hull([tensor.value_range for tensor in program.tensors_of[value]])
        for value in (program.claim.left, program.claim.right)
    )
    products = [x * y for x in (left.low, left.high) for y in (right.low, right.high)]
    return ValueRange(min(products), max(products))


def _operand_ranges(program: Program) -> Iterator[str]:
    """Whether operands keep to their declared ranges, as far as the program itself can tell."""
    for value in program.graph.inputs:
        tensors = program.tensors_of.get(value, ())
        for tensor in tensors:
            low, high = tensor.value_range.low, tensor.value_range.high
            first = tensors[0]
            if tensor.value_range != first.value_range:
                yield (
                    f"{tensor.name} declares [{low}, {high}] and {first.name} "
                    f"[{first.value_range.low}, {first.value_range.high}] of one operand"
                )
            if low < tensor.dtype.low or high > tensor.dtype.high:
                yield f"{tensor.name} declares [{low}, {high}], which {tensor.dtype} does not hold"
            for element in _stated_extremes(program, tensor):
                if not low <= element <= high:
                    yield f"{tensor.name} holds {element}, which is outside of [{low}, {high}]"
                    break


def _stated_extremes(program: Program, tensor: Tensor) -> tuple[int, ...]:
    """The least and the greatest element that a tensor states. Zeros behind its value add none."""
    rows, cols = program.real_shape(tensor)
    if not rows * cols:
        return ()
    match tensor.init:
        case Zero():
            return (0,)
        case Const(value):
            return (value,)
        case Pattern(modulus, shift):
            return (-shift, min(modulus, rows * cols) - 1 - shift)
        case Values(values):
            return (min(values), max(values)) if values else ()
        case _:
            return ()


def _output_range(program: Program, output: Tensor, value: ValueRange) -> Iterator[str]:
    made = program.graph.product
    if made is not None and made.map:
        value = ValueRange(*image(made.map, value.low, value.high))
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
