"""Collectives: what a group of chips does together with a value."""

from dataclasses import dataclass

COLLECTIVE_KINDS = ("reduce", "broadcast")
"""Kinds of collectives in the order in which a value passes them."""


@dataclass(frozen=True)
class Collective:
    """A change of the placement of a value along one axis of the mesh, by one group of chips.

    Parameters
    ----------
    kind : str
        ``reduce``: from ``Partial`` to ``At(home)``; ``broadcast``: from ``At(home)`` to
        ``Replicate``.
    algorithm : str
        ``star`` or ``tree``.
    value, axis : str
        What changes, and along which axis.
    chips, stages : tuple
        Who takes part, and the stages that make it up, in no order. What is added to what is said
        by the folds.
    home : int
        The chip that ends up with the sum, or begins with the whole.
    """

    name: str
    kind: str
    algorithm: str
    value: str
    axis: str
    chips: tuple[int, ...]
    home: int
    stages: tuple[str, ...]
