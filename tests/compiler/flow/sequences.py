"""Random sequences, and what is true of them by looking at every vector."""

from itertools import pairwise

from hypothesis import strategies as st

from compiler.flow.nest import Nest, Step, Vector
from compiler.ir.walk import Loop, Walk


def nests(width: int = 2, most: int = 3) -> st.SearchStrategy[Nest]:
    """Nests of vectors of ``width``. Steps are few, so that many of them go together."""
    number = st.integers(-2, 4)
    vectors = st.tuples(*[number] * width)
    steps = st.builds(Step, st.integers(0, 4) | st.integers(1, 3), vectors)
    return st.builds(Nest, vectors, st.lists(steps, max_size=most).map(tuple))


def walks(strides: st.SearchStrategy[int], most: int = 4) -> st.SearchStrategy[Walk]:
    """Walks of few steps."""
    loops = st.builds(Loop, st.integers(1, 6), strides)
    return st.builds(Walk, st.lists(loops, max_size=most).map(tuple))


def nest_of(vectors: list[Vector]) -> Nest | None:
    """The nest that goes through ``vectors``, if there is one.

    The innermost loop must be as long as steps stay alike, and all others start anew behind it.
    """
    if len(vectors) == 1:
        return Nest(vectors[0])
    by = _between(vectors[0], vectors[1])
    alike = 1
    while alike < len(vectors) and _between(vectors[alike - 1], vectors[alike]) == by:
        alike += 1
    rows = [vectors[i : i + alike] for i in range(0, len(vectors), alike)]
    for row in rows:
        if len(row) < alike or {_between(a, b) for a, b in pairwise(row)} - {by}:
            return None
    heads = nest_of([row[0] for row in rows])
    return heads and Nest(heads.base, (*heads.loops, Step(alike, by)))


def _between(one: Vector, other: Vector) -> Vector:
    return tuple(b - a for a, b in zip(one, other, strict=True))
