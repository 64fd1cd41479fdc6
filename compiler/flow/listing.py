"""Listings: sequences of index vectors that no loops tell, vector by vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler.flow.nest import Nest, Vector
from compiler.ir.walk import Walk


@dataclass(frozen=True, eq=False)
class Listing:
    """Vectors in order. It answers what a :class:`~compiler.flow.nest.Nest` does.

    Parameters
    ----------
    vectors : array
        A row for each vector, of ``int64``.
    """

    vectors: NDArray[np.int64]

    @property
    def length(self) -> int:
        """Vectors of the sequence."""
        return len(self.vectors)

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The least and the greatest of each component, of a sequence that is not empty."""
        low, high = self.vectors.min(axis=0), self.vectors.max(axis=0)
        return tuple(low.tolist()), tuple(high.tolist())

    def at(self, index: int) -> Vector:
        """The vector at an index, which is less than the length."""
        return tuple(self.vectors[index].tolist())

    def component(self, index: int) -> Listing:
        """One component of each vector, as a sequence of vectors of one."""
        return Listing(self.vectors[:, index : index + 1])

    def moved(self, by: Vector) -> Listing:
        """Each vector and ``by``."""
        return Listing(self.vectors + np.array(by, dtype=np.int64))

    def first_difference(self, other: Listing) -> int | None:
        """The first index at which two sequences differ, within the length of the shorter one."""
        shorter = min(self.length, other.length)
        differs = (self.vectors[:shorter] != other.vectors[:shorter]).any(axis=1)
        return int(differs.argmax()) if differs.any() else None

    def heads(self, size: int) -> Listing | None:
        """The first of each ``size`` vectors, if all of them are alike; else ``None``."""
        groups = self._groups(size)
        return Listing(groups[:, 0]) if (groups == groups[:, :1]).all() else None

    def cycle(self, size: int) -> Listing | None:
        """The first ``size`` vectors, if the others repeat them again and again; else ``None``."""
        groups = self._groups(size)
        return Listing(groups[0]) if (groups == groups[:1]).all() else None

    def every(self, size: int, first: int) -> Listing:
        """Each ``size``-th vector from the one at ``first`` on."""
        return Listing(self.vectors[first::size])

    def groups(self, size: int) -> Iterator[Listing]:
        """The vectors ``size`` by ``size``."""
        return map(Listing, self._groups(size))

    def __iter__(self) -> Iterator[Vector]:
        return map(tuple, self.vectors.tolist())

    def _groups(self, size: int) -> NDArray[np.int64]:
        return self.vectors.reshape(-1, size, self.vectors.shape[1])


def listed(nest: Nest) -> Listing:
    """The vectors of a nest, which must be few enough to be held."""
    vectors = np.array([nest.base], dtype=np.int64)
    for loop in nest.loops:
        steps = np.arange(loop.count)[:, None] * np.array(loop.by, dtype=np.int64)
        vectors = (vectors[:, None] + steps).reshape(-1, len(nest.base))
    return Listing(vectors)


def listed_walk(walk: Walk, cols: int) -> Listing:
    """Rows and columns of the pages of a walk over tiles that lie in rows of ``cols``."""
    return Listing(np.stack(np.divmod(walk.indices(), cols), axis=1))


def side_by_side(one: Listing, other: Listing) -> Listing:
    """Vectors of both side by side. Both must have the same length."""
    return Listing(np.concatenate([one.vectors, other.vectors], axis=1))
