"""What the user asks for: how a product is spread over the chips of a mesh."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from compiler.errors import MeshError, ShardPlanError
from compiler.ir.mesh import Mesh, mesh_of
from compiler.passes.algorithms import ALGORITHMS
from compiler.passes.page_ways import HOPS

DIMS = ("m", "n", "k")
"""Rows, columns and contraction of a product."""
BY_PAGE = tuple(name for name in HOPS if name not in ALGORITHMS)
"""Ways in which each page of a sum comes together at a chip of its own."""
REDUCTIONS = (*ALGORITHMS, *BY_PAGE)
"""Ways in which sums over chips come together."""
RESULTS = ("home", "all", "scattered")
"""Where a sum over chips ends up: on the first chip along its axis, on every one, or a slice of it
on each."""


@dataclass(frozen=True)
class ShardPlan:
    """How a product is spread over chips.

    Parameters
    ----------
    mesh : Mesh or int
        The chips. A number is a mesh of one axis, ``tp``.
    reduce : str
        ``star``: all partial sums are folded at the home chip. ``tree``: binary, folded on the
        way. ``ring``: each chip adds to what comes from the one before it and sends the sum to the
        next, page by page. ``ring-both-ways``: from both sides of the page's owner. ``chain``: the
        same without a link around the ends.
    shard : mapping of str to str, optional
        The axis of the mesh along which ``m``, ``n`` or ``k`` is cut, each along one of its own. By
        default k along the only axis. Along an axis that cuts nothing, all chips do the same.
    result : str
        ``home``: the sum over the axis of k ends up on its first chip. ``all``: on every chip.
        ``scattered``: each chip has a slice of it, of columns, or of rows if columns are cut
        already; for a ring or a chain.
    uneven : bool
        Whether slices may differ by a tile: 6 tiles over 4 chips are 2, 2, 1, 1.

    Raises
    ------
    ShardPlanError
        If the mesh, the algorithm, an axis or the result is none, or two dimensions share an axis.
    """

    mesh: Mesh
    reduce: str
    shard: tuple[tuple[str, str], ...]
    result: str
    uneven: bool

    def __init__(
        self,
        mesh: Mesh | int,
        reduce: str = "tree",
        *,
        shard: Mapping[str, str] | tuple[tuple[str, str], ...] | None = None,
        result: str = "home",
        uneven: bool = False,
    ):
        for name, value, known in (("reduce", reduce, REDUCTIONS), ("result", result, RESULTS)):
            if value not in known:
                rule = f"one of {', '.join(sorted(known))}"
                raise ShardPlanError(field=name, rule=rule, value=value)
        mesh = _mesh(mesh)
        object.__setattr__(self, "mesh", mesh)
        object.__setattr__(self, "reduce", reduce)
        object.__setattr__(self, "shard", _sharding(shard, mesh))
        object.__setattr__(self, "result", result)
        object.__setattr__(self, "uneven", bool(uneven))
        if result == "scattered" and reduce not in BY_PAGE:
            rule = f"home or all with a {reduce}; {' or '.join(BY_PAGE)} scatters (--reduce)"
            raise ShardPlanError(field="result", rule=rule, value=result)
        if result == "scattered" and self.axis_of("k") and self.scattered is None:
            rule = "home or all where rows and columns are both cut already"
            raise ShardPlanError(field="result", rule=rule, value=result)

    @property
    def chips(self) -> int:
        """Chips of the mesh."""
        return self.mesh.chip_count

    def axis_of(self, dim: str) -> str | None:
        """The axis along which a dimension is cut, if it is: one of several chips."""
        axis = dict(self.shard).get(dim)
        return axis if axis is not None and self.mesh.size(axis) > 1 else None

    def dim_of(self, axis: str) -> str | None:
        """The dimension that an axis cuts, if it cuts one."""
        return next((dim for dim in DIMS if self.axis_of(dim) == axis), None)

    @property
    def scattered(self) -> str | None:
        """The dimension of the result of which each chip that sums ends up with a slice."""
        if self.result != "scattered" or self.axis_of("k") is None:
            return None
        return next((dim for dim in ("n", "m") if self.axis_of(dim) is None), None)

    @classmethod
    def row_parallel(cls, chips: int, *, reduce: str = "tree") -> "ShardPlan":
        """Split the contraction axis: each chip computes a full-shape partial sum."""
        return cls(chips, reduce)


def _mesh(mesh: object) -> Mesh:
    if isinstance(mesh, Mesh):
        return mesh
    if type(mesh) is not int or mesh < 1:
        raise ShardPlanError(field="chips", rule="a positive integer", value=mesh)
    try:
        return mesh_of(mesh)
    except MeshError as error:
        raise ShardPlanError(field="chips", rule=error.rule, value=mesh) from error


def _sharding(
    shard: Mapping[str, str] | tuple[tuple[str, str], ...] | None, mesh: Mesh
) -> tuple[tuple[str, str], ...]:
    if shard is None:
        if len(mesh.axes) > 1:
            rule = (
                f"stated for a mesh of several axes ({', '.join(mesh.names)}), as k={mesh.names[0]}"
            )
            raise ShardPlanError(field="shard", rule=rule, value=shard)
        return (("k", mesh.names[0]),)
    pairs = _pairs(shard)
    for position, (dim, axis) in enumerate(pairs):
        if dim not in DIMS:
            raise ShardPlanError(field="shard", rule=f"of {', '.join(DIMS)}", value=dim)
        if axis not in mesh.names:
            rule = f"along one of {', '.join(mesh.names)}"
            raise ShardPlanError(field=f"shard {dim}", rule=rule, value=axis)
        for other, taken in pairs[:position]:
            if other == dim:
                rule = f"along {taken} alone"
                raise ShardPlanError(field=f"shard {dim}", rule=rule, value=axis)
            if taken == axis:
                rule = f"along another axis than {other}"
                raise ShardPlanError(field=f"shard {dim}", rule=rule, value=axis)
    return tuple(pairs)


def _pairs(shard: object) -> list[tuple[str, str]]:
    """Dimensions with their axes, in order."""
    if isinstance(shard, Mapping):
        shard = tuple(cast("Mapping[str, str]", shard).items())
    pairs = cast("tuple[object, ...]", shard) if isinstance(shard, tuple) else (None,)
    if not all(_is_pair(pair) for pair in pairs):
        rule = "axes by dimension, as {'k': 'tp'}"
        raise ShardPlanError(field="shard", rule=rule, value=cast("object", shard))
    return sorted(cast("tuple[tuple[str, str], ...]", pairs), key=str)


def _is_pair(pair: object) -> bool:
    """Whether it is a dimension, by name, with what may be an axis."""
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)  # pyright: ignore[reportUnknownArgumentType]
