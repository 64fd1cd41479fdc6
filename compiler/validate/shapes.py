"""Shapes: tensors, pages and the work plan fit the product that the program claims to compute."""

from dataclasses import replace

from compiler.errors import ValidationError
from compiler.ir.buffer import Page
from compiler.ir.init import Const, External, FloatValues, Pattern, Values
from compiler.ir.program import Program
from compiler.ir.stage import Load, Recv
from compiler.ir.tensor import Tensor, TensorRole
from compiler.validate.flow import in_flow_order, sources_of


def check_shapes(program: Program) -> None:
    """Every tensor is what the claim makes of it, and every page is one tile."""
    for tensor in program.tensors:
        _claimed(program, tensor)
        _value_range(tensor)
        _fill(program, tensor)
    _suppliers(program)
    _pages(program)
    _depths(program)
    _work(program)


def _claimed(program: Program, tensor: Tensor) -> None:
    claim, numerics = program.claim, program.numerics
    k = claim.k + claim.k_pad
    wholes = {
        claim.left: (TensorRole.INPUT, claim.m, k, numerics.operand, (0, claim.k_pad)),
        claim.right: (TensorRole.INPUT, k, claim.n, numerics.operand, (claim.k_pad, 0)),
        claim.output: (TensorRole.OUTPUT, claim.m, claim.n, numerics.total, (0, 0)),
    }
    piece = tensor.slice_of
    whole = piece.whole if piece else tensor.name
    if whole not in wholes:
        return
    role, rows, cols, dtype, pad = wholes[whole]
    extents, count = (tensor.rows, tensor.cols), 1
    if piece:
        pad, count = (0, 0), piece.count
        factors = (count, 1) if piece.axis == "rows" else (1, count)
        extents = (tensor.rows * factors[0], tensor.cols * factors[1])
    if (tensor.role, extents, tensor.dtype, tensor.pad) != (role, (rows, cols), dtype, pad):
        raise ValidationError(
            "ClaimMismatch",
            tensor.name,
            f"tensor {tensor.name!r} is {tensor.role} of {tensor.rows} x {tensor.cols} "
            f"{tensor.dtype} with {tensor.pad} of padding; {count} of it do not make up {whole!r}, "
            f"which the program claims to be {role} of {rows} x {cols} {dtype}",
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
    rows, cols = tensor.value_shape
    match tensor.init:
        case Const(value):
            low = high = value
        case Pattern(modulus, shift):
            low, high = -shift, min(modulus, rows * cols) - 1 - shift
        case Values(values) | FloatValues(values) if len(values) != rows * cols:
            raise ValidationError(
                "FillLength",
                tensor.name,
                f"tensor {tensor.name!r} lists {len(values)} values for {rows} x {cols} elements",
            )
        case Values(values):
            real, _ = tensor.split_values(values, program.claim.k)
            if not real:
                return
            low, high = min(real), max(real)
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
        other = first.setdefault(tensor.slice_of.whole if tensor.slice_of else tensor.name, tensor)
        if isinstance(tensor.init, External) != isinstance(other.init, External):
            supplied, stated = sorted((tensor, other), key=lambda t: t.init != External())
            raise ValidationError(
                "FillMixed",
                tensor.name,
                f"tensor {supplied.name!r} is supplied by the host, and {stated.name!r}, another "
                f"slice of one operand, states its values; all slices must do alike",
            )


def _pages(program: Program) -> None:
    for stage in in_flow_order(program):
        page = Page(program.tile, program.tile, program.numerics.total)
        if isinstance(stage.kind, Load):
            page = replace(page, dtype=program.tensor_by_name[stage.kind.tensor].dtype)
        elif isinstance(stage.kind, Recv):
            (sent,) = sources_of(program, stage)
            page = program.buffer_by_name[sent].page
        for name in stage.outs:
            held = program.buffer_by_name[name].page
            if held != page:
                raise ValidationError(
                    "PageShape",
                    name,
                    f"buffer {name!r} holds pages of {held}, but {stage.name!r} makes pages of "
                    f"{page}",
                )


def _depths(program: Program) -> None:
    for buffer in program.buffers:
        if buffer.depth_pages is not None and buffer.depth_pages < 1:
            raise ValidationError(
                "BufferDepth",
                buffer.name,
                f"buffer {buffer.name!r} must hold at least 1 page, not {buffer.depth_pages}",
            )


def _work(program: Program) -> None:
    if program.work is None:
        return
    work, claim, tile = program.work, program.claim, program.tile
    if work.order not in ("mn", "nm"):
        raise ValidationError(
            "WorkOrder", program.name, f"the loop order must be mn or nm, not {work.order!r}"
        )
    left = next(
        tensor
        for tensor in program.tensors
        if claim.left == (tensor.slice_of.whole if tensor.slice_of else tensor.name)
    )
    planned = (work.m_tiles, work.n_tiles, work.k_blocks)
    needed = (-(-claim.m // tile), -(-claim.n // tile), left.col_tiles)
    if planned != needed:
        raise ValidationError(
            "WorkPlan",
            program.name,
            f"the work plan counts {planned} tiles along m, n and a chip's k; the tensors have "
            f"{needed}",
        )
