"""The graph of work: one product of two values, and how the three are spread over the mesh."""

from collections import Counter

from compiler.errors import ValidationError
from compiler.ir.graph import Graph, Matmul, Value
from compiler.ir.layout import At, Partial, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program

DIMS = (("m", "k"), ("k", "n"), ("m", "n"))
"""Axes of the problem that rows and columns of the left, the right and the output run along."""
LOOP_ORDERS = ("mn", "nm")


def check_graph(program: Program) -> None:
    """There is one product, of values that exist, fit each other, and have a layout that can be."""
    graph = program.graph
    if len(graph.operations) != 1:
        raise ValidationError(
            "OperationCount",
            program.name,
            f"the program states {len(graph.operations)} products; it must state one",
        )
    (product,) = graph.operations
    _names(program.name, graph, product)
    operands = [graph.value_by_name[name] for name in _matrices(product)]
    for value, dims in zip(operands, DIMS, strict=True):
        _dims(value, dims)
        _size(value)
    _extents(operands)
    if product.order is not None and product.order.loops not in LOOP_ORDERS:
        raise ValidationError(
            "LoopOrder",
            product.output,
            f"the loop order must be {' or '.join(LOOP_ORDERS)}, not {product.order.loops!r}",
        )
    for value in graph.values:
        _layout(program.mesh, value)


def _matrices(product: Matmul) -> tuple[str, str, str]:
    return product.left, product.right, product.output


def _names(program: str, graph: Graph, product: Matmul) -> None:
    """The product names three values, each of which exists once, and there is no other."""
    names = _matrices(product)
    if len({*names}) < len(names):
        raise ValidationError(
            "OperationNames",
            program,
            f"the product calls two of its matrices alike: {product.output!r} = {product.left!r} . "
            f"{product.right!r}",
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
