"""Collectives: what a group of chips does together with a value."""

from dataclasses import dataclass

COLLECTIVE_KINDS = (
    "reduce",
    "reduce_scatter",
    "all_reduce",
    "broadcast",
    "scatter",
    "gather",
    "all_gather",
    "all_to_all",
)
"""Kinds of collectives in the order in which a value passes them."""
SPANNING_TREES = ("star", "tree")
"""Algorithms in which all pages of a sum may go one way."""
WITHOUT_HOME = ("reduce_scatter", "all_reduce", "all_gather", "all_to_all")
"""Kinds in which no chip is the one that all leads to, or comes from."""


@dataclass(frozen=True)
class Collective:
    """A change of the placement of a value along one axis of the mesh, by one group of chips.

    Parameters
    ----------
    kind : str
        ``reduce``: from ``Partial`` to ``At(home)``; ``reduce_scatter``: to ``Shard``;
        ``all_reduce``: to ``Replicate``. ``broadcast``: from ``At(home)`` to ``Replicate``;
        ``scatter``: to ``Shard``. ``gather``: from ``Shard`` to ``At(home)``; ``all_gather``: to
        ``Replicate``; ``all_to_all``: to ``Shard`` along another dimension.
    algorithm : str
        ``star``, ``tree``, ``chain``, ``ring`` or ``ring-both-ways``.
    value, axis : str
        What changes, and along which axis.
    chips, stages : tuple
        Who takes part, and the stages that make it up, in no order. What is added to what is said
        by the folds.
    home : int or None
        The chip that ends up with the sum, or begins with the whole, if one does.
    """

    name: str
    kind: str
    algorithm: str
    value: str
    axis: str
    chips: tuple[int, ...]
    home: int | None
    stages: tuple[str, ...]

    @property
    def goes_one_way(self) -> bool:
        """Whether all pages go one way, to the home or from it. Else each has a way of its own."""
        return self.algorithm in SPANNING_TREES and self.kind in ("reduce", "broadcast")
