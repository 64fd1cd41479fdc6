"""numpy's answer, in exact integers."""

from collections.abc import Mapping

import numpy as np

from compiler.ir.body import Body, fold_up, widest_image
from compiler.ir.dtype import INT32, INT64
from compiler.ir.graph import Graph, Redistribute
from sim.exact import exact


def claimed(graph: Graph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every output of a graph by its name, as int32, from its inputs by theirs.

    Raises
    ------
    ExactError
        If the inputs are no integers of at most 64 bits, or an element of an answer does not fit
        into int32.
    """
    values = dict(inputs)
    for operation in graph.operations:
        if isinstance(operation, Redistribute):
            rows = graph.value_by_name[operation.output].rows
            values[operation.output] = redistributed(operation, values[operation.input], rows)
            continue
        total = product(values[operation.left], values[operation.right])
        values[operation.output] = total if operation.map is None else mapped(total, operation.map)
    return {name: values[name] for name in graph.outputs}


def redistributed(operation: Redistribute, given: np.ndarray, rows: int) -> np.ndarray:
    """What is given, or the sum or maximum of its slices of so many rows, as int32.

    Raises
    ------
    ExactError
        If an element does not fit into int32.
    """
    wide = exact(given, INT64, "what is redistributed")
    if operation.combine is None:
        return exact(wide, INT32, "what is redistributed")
    slices = wide.reshape(-1, rows, wide.shape[1])
    combined = slices.sum(axis=0) if operation.combine == "sum" else slices.max(axis=0)
    return exact(combined, INT32, f"the {operation.combine} of the slices")


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a . b`` of two integer matrices, as int32.

    Raises
    ------
    ExactError
        If they are no integers of at most 64 bits, or an element of the product does not fit into
        int32.
    """
    left, right = exact(a, INT64, "operand A"), exact(b, INT64, "operand B")
    if left.shape[1] * _reach(left) * _reach(right) > INT64.high:
        left, right = left.astype(object), right.astype(object)
    return exact(left @ right, INT32, "the product")


def mapped(product: np.ndarray, body: Body) -> np.ndarray:
    """``body`` applied to each element of a product, as int32.

    Raises
    ------
    ExactError
        If an element does not fit into int32.
    """
    wide = exact(product, INT64, "the product")
    reach = _reach(wide)
    least, most = widest_image(body, -reach, reach)
    if least < INT64.low or most > INT64.high:
        wide = wide.astype(object)

    value = fold_up(
        body,
        operand=lambda _: wide,
        literal=lambda constant: np.full_like(wide, constant),
        add=np.add,
        maximum=np.maximum,
    )
    return exact(value, INT32, "the mapped product")


def _reach(values: np.ndarray) -> int:
    """The greatest distance of a value from zero."""
    return max(-int(values.min()), int(values.max()), 0) if values.size else 0
