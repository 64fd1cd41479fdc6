"""Shapes: tensors are parts of their values, and pages are tiles of what they hold."""

from dataclasses import replace

from compiler.errors import ValidationError
from compiler.flow.order import in_flow_order, sources_of
from compiler.ir.buffer import Page
from compiler.ir.init import Const, External, FloatValues, Pattern, Values
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Load, Merge, Recv, Split
from compiler.ir.tensor import Part, Tensor, TensorRole


def check_shapes(program: Program) -> None:
    """Every tensor is a part of its value and filled as one, and every page is one tile."""
    for tensor in program.tensors:
        _part(program, tensor)
        _value_range(tensor)
        _fill(program, tensor)
    _suppliers(program)
    _replicas(program)
    _pages(program)


def _part(program: Program, tensor: Tensor) -> None:
    """A tensor has the role and the type of its value, and lies within it."""
    value, numerics = program.graph.value_by_name[tensor.value], program.numerics
    made = value.name in program.graph.outputs
    role = TensorRole.OUTPUT if made else TensorRole.INPUT
    dtype = numerics.total if made else numerics.operand
    if (tensor.role, tensor.dtype) != (role, dtype):
        raise ValidationError(
            "ValueMismatch",
            tensor.name,
            f"tensor {tensor.name!r} is {tensor.role} of {tensor.dtype}, but a part of "
            f"{value.name!r}, which is {role} of {dtype}",
        )
    ends = (tensor.part.row + tensor.rows, tensor.part.col + tensor.cols)
    if ends[0] > value.padded_rows or ends[1] > value.padded_cols:
        raise ValidationError(
            "PartOutside",
            tensor.name,
            f"tensor {tensor.name!r} of {tensor.rows} x {tensor.cols} elements is said to be "
            f"{tensor.part}; it ends at row {ends[0]} and column {ends[1]}, and {value.name!r} at "
            f"{value.padded_rows} and {value.padded_cols}",
        )


def _value_range(tensor: Tensor) -> None:
    span, dtype = tensor.value_range, tensor.dtype
    if dtype.kind == "int" and (span.low < dtype.low or span.high > dtype.high):
        raise ValidationError(
            "ValueRange",
            tensor.name,
            f"tensor {tensor.name!r} is said to hold values in [{span.low}, {span.high}], which "
            f"{dtype} does not hold",
        )


def _fill(program: Program, tensor: Tensor) -> None:
    """The initial values are as many as the elements, and lie in the range that sums rely on."""
    rows, cols = program.real_shape(tensor)
    match tensor.init:
        case Values(values) | FloatValues(values) if len(values) != rows * cols:
            raise ValidationError(
                "FillLength",
                tensor.name,
                f"tensor {tensor.name!r} lists {len(values)} values for {rows} x {cols} elements",
            )
        case _ if not rows * cols:
            return
        case Values(values):
            low, high = min(values), max(values)
        case Const(value):
            low = high = value
        case Pattern(modulus, shift):
            low, high = -shift, min(modulus, rows * cols) - 1 - shift
        case _:
            return
    span = tensor.value_range
    if not span.low <= low <= high <= span.high:
        raise ValidationError(
            "FillRange",
            tensor.name,
            f"tensor {tensor.name!r} is filled with values in [{low}, {high}], but said to hold "
            f"values in [{span.low}, {span.high}]",
        )


def _suppliers(program: Program) -> None:
    """The host supplies all slices of an operand or none: it is given whole, or not at all."""
    first: dict[str, Tensor] = {}
    for tensor in program.tensors:
        if tensor.role is not TensorRole.INPUT:
            continue
        other = first.setdefault(tensor.value, tensor)
        if isinstance(tensor.init, External) != isinstance(other.init, External):
            supplied, stated = sorted((tensor, other), key=lambda t: t.init != External())
            raise ValidationError(
                "FillMixed",
                tensor.name,
                f"tensor {supplied.name!r} is supplied by the host, and {stated.name!r}, another "
                f"part of {tensor.value!r}, states its values; all parts must do alike",
            )


def _replicas(program: Program) -> None:
    """Chips that hold the same part of an operand hold the same values."""
    first: dict[tuple[Part, int, int], Tensor] = {}
    for tensor in program.tensors:
        if tensor.role is not TensorRole.INPUT:
            continue
        other = first.setdefault((tensor.part, tensor.rows, tensor.cols), tensor)
        if tensor.init != other.init:
            raise ValidationError(
                "FillDiffers",
                tensor.name,
                f"tensors {other.name!r} and {tensor.name!r} hold the same part of "
                f"{tensor.value!r}, {tensor.part}, but state different values of it",
            )


def _pages(program: Program) -> None:
    """Loads make pages of their tensor, sums are of one type, and all else passes pages on.

    What a beat is of its tile is for the rule of orientation.
    """
    for stage in in_flow_order(program):
        page = Page(program.tile, program.tile, program.numerics.total)
        if isinstance(stage.kind, Load):
            page = replace(page, dtype=program.tensor_by_name[stage.kind.tensor].dtype)
        elif isinstance(stage.kind, Recv | Copy | Merge | Split):
            taken, *others = sources_of(program, stage)
            page = program.buffer_by_name[taken].page
            for name in others:
                _same_page(program, name, page, f"{stage.name!r} takes pages of")
        for name in stage.outs:
            _same_page(program, name, page, f"{stage.name!r} makes pages of")


def _same_page(program: Program, name: str, page: Page, why: str) -> None:
    held = program.buffer_by_name[name].page
    if (held.beats, held.lanes, held.dtype) != (page.beats, page.lanes, page.dtype):
        raise ValidationError(
            "PageShape",
            name,
            f"buffer {name!r} holds pages of {held}, but {why} {page}",
        )
