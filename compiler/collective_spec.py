"""What the user asks for: a collective by itself, on data that already lies in the chips."""

from dataclasses import dataclass

from compiler.errors import CollectiveSpecError
from compiler.ir.dtype import INT32, SUM_BITS, DType
from compiler.ir.layout import At, Placement, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.passes.page_ways import HOPS

COMBINATIONS = ("sum", "max")
"""How contributions are combined, element by element."""


@dataclass(frozen=True)
class Change:
    """The placements of what is given and of what is made, along the axis of a collective."""

    given: type[Placement]
    made: type[Placement]
    combines: bool = False


CHANGES = {
    "reduce": Change(Shard, At, combines=True),
    "reduce_scatter": Change(Shard, Shard, combines=True),
    "all_reduce": Change(Shard, Replicate, combines=True),
    "all_gather": Change(Shard, Replicate),
    "gather": Change(Shard, At),
    "broadcast": Change(At, Replicate),
    "scatter": Change(At, Shard),
    "all_to_all": Change(Shard, Shard),
}
"""Kinds of collectives, and what each changes. What is combined is given as slices, one on each
chip, each of which is as large as what is made."""


@dataclass(frozen=True)
class CollectiveSpec:
    """A matrix that is redistributed along an axis of a mesh of chips.

    Parameters
    ----------
    kind : str
        One of :data:`CHANGES`.
    mesh : Mesh
        The chips.
    rows, cols : int
        Elements of the whole matrix that is made.
    axis : str
        The axis along which it is redistributed. All groups along it do the same.
    algorithm : str
        One of :data:`~compiler.passes.page_ways.HOPS`.
    combine : str
        ``sum`` or ``max``, for the kinds that combine.
    home : int
        Where along the axis one chip has all, for the kinds in which one does.
    dtype : DType
        Signed integers of 2 to 32 bits.

    Raises
    ------
    CollectiveSpecError
        If a field is not one of these.
    """

    kind: str
    mesh: Mesh
    rows: int
    cols: int
    axis: str
    algorithm: str
    combine: str = "sum"
    home: int = 0
    dtype: DType = INT32

    def __post_init__(self) -> None:
        for name, value, known in (
            ("kind", self.kind, tuple(CHANGES)),
            ("axis", self.axis, self.mesh.names),
            ("algorithm", self.algorithm, tuple(HOPS)),
            ("combine", self.combine, COMBINATIONS),
        ):
            if value not in known:
                rule = f"one of {', '.join(known)}"
                raise CollectiveSpecError(field=name, rule=rule, value=value)
        for name in ("rows", "cols"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise CollectiveSpecError(field=name, rule="a positive integer", value=value)
        if not self.dtype.is_summed:
            rule = f"signed integers of {SUM_BITS.start} to {SUM_BITS.stop - 1} bits"
            raise CollectiveSpecError(field="dtype", rule=rule, value=str(self.dtype))
        if not 0 <= self.home < self.size:
            rule = f"from 0 to {self.size - 1}"
            raise CollectiveSpecError(field="home", rule=rule, value=self.home)
        if self.size < 2:
            rule = "of at least 2 chips"
            raise CollectiveSpecError(field=f"axis {self.axis}", rule=rule, value=self.size)

    @property
    def size(self) -> int:
        """Chips along the axis."""
        return self.mesh.size(self.axis)

    @property
    def change(self) -> Change:
        """What the kind changes."""
        return CHANGES[self.kind]
