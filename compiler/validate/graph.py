"""The graph of work: one product of two values, and how the three are spread over the mesh."""

from collections import Counter

from compiler.errors import ValidationError
from compiler.ir.graph import Graph, Matmul, Operation, Redistribute, Value, operands_of
from compiler.ir.layout import At, Partial, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program

DIMS = (("m", "k"), ("k", "n"), ("m", "n"))
"""Axes of the problem that rows and columns of the left, the right and the output run along."""
LOOP_ORDERS = ("mn", "nm")
COMBINATIONS = ("sum", "max")
"""How slices are combined, element by element."""


def check_graph(program: Program) -> None:
    """There is one product, of values that exist, fit each other, and have a layout that can be."""
    graph = program.graph
    if len(graph.operations) != 1:
        raise ValidationError(
            "OperationCount",
            program.name,
            f"the program states {len(graph.operations)} products; it must state one",
        )
    (operation,) = graph.operations
    _names(program.name, graph, operation)
    matrices = [graph.value_by_name[name] for name in _matrices(operation)]
    for value, dims in zip(matrices, _dims_of(operation), strict=True):
        _dims(value, dims)
        _size(value)
    if isinstance(operation, Redistribute):
        _redistributed(program, operation, *matrices)
    else:
        _multiplied(operation, matrices)
    for value in graph.values:
        _layout(program.mesh, value)


def _multiplied(product: Matmul, matrices: list[Value]) -> None:
    _extents(matrices)
    if product.order is not None and product.order.loops not in LOOP_ORDERS:
        raise ValidationError(
            "LoopOrder",
            product.output,
            f"the loop order must be {' or '.join(LOOP_ORDERS)}, not {product.order.loops!r}",
        )


def _redistributed(program: Program, moved: Redistribute, given: Value, made: Value) -> None:
    """What is combined are slices along the axis, as large as what is made; else both are alike."""
    if moved.axis not in program.mesh.names:
        raise ValidationError(
            "RedistributionAxis",
            moved.output,
            f"{moved.output!r} is redistributed along {moved.axis!r}; the mesh has "
            f"{', '.join(program.mesh.names)}",
        )
    if moved.combine not in (None, *COMBINATIONS):
        raise ValidationError(
            "RedistributionCombines",
            moved.output,
            f"slices are combined by {' or '.join(COMBINATIONS)}, not by {moved.combine!r}",
        )
    count = program.mesh.size(moved.axis) if moved.combine else 1
    if (given.rows, given.cols) != (count * made.rows, made.cols) or (
        moved.combine and made.rows % program.tile
    ):
        raise ValidationError(
            "ValueExtents",
            given.name,
            f"{given.name!r} of {given.rows} x {given.cols} elements is not {count} times "
            f"{made.name!r} of {made.rows} x {made.cols}, in whole tiles of {program.tile}",
        )
    along = dict(zip(program.mesh.names, given.layout, strict=False)).get(moved.axis)
    if moved.combine and along != Shard(given.dims[0]):
        raise ValidationError(
            "ValueLayout",
            given.name,
            f"{given.name!r} is combined along {moved.axis}, so it must be cut into rows there, "
            f"not {along}",
        )


def _matrices(operation: Operation) -> tuple[str, ...]:
    return (*operands_of(operation), operation.output)


def _dims_of(operation: Operation) -> tuple[tuple[str, str], ...]:
    """The axes of the problem that the matrices of an operation run along."""
    if isinstance(operation, Matmul):
        return DIMS
    return (("k", "n") if operation.combine else ("m", "n"), ("m", "n"))


def _names(program: str, graph: Graph, product: Operation) -> None:
    """The operation names values each of which exists once, and there is no other."""
    names = _matrices(product)
    if len({*names}) < len(names):
        raise ValidationError(
            "OperationNames",
            program,
            f"the operation calls two of its matrices alike: {product.output!r} of "
            f"{' and '.join(map(repr, operands_of(product)))}",
        )
    for name, count in Counter(value.name for value in graph.values).items():
        if count > 1:
            raise ValidationError(
                "DuplicateName", name, f"{count} values are named {name!r}; a name is identity"
            )
        if name not in names:
            raise ValidationError(
                "ValueUnused", name, f"value {name!r} is neither taken nor made by the product"
            )
    for name in names:
        if name not in graph.value_by_name:
            raise ValidationError(
                "UnknownName", name, f"the product names value {name!r}, which does not exist"
            )


def _dims(value: Value, dims: tuple[str, str]) -> None:
    if value.dims != dims:
        raise ValidationError(
            "ValueDims",
            value.name,
            f"rows and columns of {value.name!r} must run along {' and '.join(dims)}, not along "
            f"{' and '.join(value.dims) or 'nothing'}",
        )


def _size(value: Value) -> None:
    if len(value.pad) != len(value.dims) or min(value.rows, value.cols) < 1 or min(value.pad) < 0:
        raise ValidationError(
            "ValueShape",
            value.name,
            f"value {value.name!r} has {value.rows} x {value.cols} elements and {value.pad} of "
            f"padding; extents must be at least 1, and padding at least 0",
        )


def _extents(values: list[Value]) -> None:
    """Values that run along one axis of the problem are as long there, with as much padding."""
    first: dict[str, tuple[int, int, str]] = {}
    for value in values:
        for dim, extent, pad in zip(value.dims, (value.rows, value.cols), value.pad, strict=True):
            length, zeros, other = first.setdefault(dim, (extent, pad, value.name))
            if (length, zeros) != (extent, pad):
                raise ValidationError(
                    "ValueExtents",
                    value.name,
                    f"{value.name!r} has {extent} elements along {dim} and {pad} of padding, but "
                    f"{other!r} has {length} and {zeros}",
                )


def _layout(mesh: Mesh, value: Value) -> None:
    """Along each axis, a value is whole, at a chip that exists, or cut along a dim of its own."""
    if len(value.layout) != len(mesh.axes):
        raise ValidationError(
            "LayoutLength",
            value.name,
            f"value {value.name!r} says how it is spread along {len(value.layout)} axes; the mesh "
            f"{mesh} has {len(mesh.axes)}",
        )
    cut: set[str] = set()
    for axis, placement in zip(mesh.axes, value.layout, strict=True):
        match placement:
            case Replicate():
                fits = True
            case Shard(dim):
                fits = dim in value.dims and dim not in cut
                cut.add(dim)
            case At(index):
                fits = 0 <= index < axis.size
            case Partial():
                fits = False
        if not fits:
            raise ValidationError(
                "ValueLayout",
                value.name,
                f"value {value.name!r} cannot be spread as {placement} along {axis}: it is whole, "
                f"at a chip that exists, or cut along one of {', '.join(value.dims)}, each of them "
                f"along one axis at most",
            )
