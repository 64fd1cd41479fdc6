"""How the command line says over which chips a product is spread, and how."""

from collections.abc import Callable
from typing import Any

import click

from compiler.errors import MeshError
from compiler.ir import limits
from compiler.ir.mesh import Mesh, MeshAxis, mesh_of
from compiler.shard_plan import DIMS, REDUCTIONS, RESULTS, ShardPlan


class _Pairs(click.ParamType):
    """Words with an ``=`` between, joined by commas: ``row=4,col=4``."""

    def pairs(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[tuple[str, str]]:
        """The two sides of each."""
        found: list[tuple[str, str]] = []
        for text in value.split(","):
            left, equals, right = text.partition("=")
            if not (left and equals and right):
                self.fail(f"{value!r} must be {self.name}", param, ctx)
            found.append((left, right))
        return found


class MeshType(_Pairs):
    """Axes and their sizes."""

    name = "AXIS=SIZE[,AXIS=SIZE]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Mesh:
        """The mesh."""
        if isinstance(value, Mesh):
            return value
        axes: list[MeshAxis] = []
        for name, size in self.pairs(value, param, ctx):
            count = int(size) if size.isascii() and size.isdecimal() and len(size) < 10 else 0
            if not 1 <= count <= limits.CHIPS:
                rule = f"it must be a number from 1 to {limits.CHIPS}"
                self.fail(f"axis {name} has {size!r} chips; {rule}", param, ctx)
            axes.append(MeshAxis(name, count))
        try:
            return Mesh(tuple(axes))
        except MeshError as error:
            self.fail(str(error), param, ctx)


class ShardType(_Pairs):
    """Dimensions of a product, and the axis that each is cut along."""

    name = "DIM=AXIS[,DIM=AXIS]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, str], ...]:
        """The dimensions with their axes."""
        return value if isinstance(value, tuple) else tuple(self.pairs(value, param, ctx))


def plan_options() -> list[Callable[..., Any]]:
    """Options that state a plan."""
    return [
        click.option(
            "--chips",
            type=click.IntRange(1, limits.CHIPS),
            help="Chips to split k over: a mesh of one axis, tp.  [default: 1]",
        ),
        click.option(
            "--mesh",
            type=MeshType(),
            metavar=MeshType.name,
            help="Chips along named axes, as row=4,col=4.",
        ),
        click.option(
            "--shard",
            type=ShardType(),
            metavar=ShardType.name,
            help=f"Axis that each of {', '.join(DIMS)} is cut along, as m=row,k=col; what is not "
            "named is not cut.  [default: k along the only axis]",
        ),
        click.option(
            "--uneven", is_flag=True, help="Let slices differ by a tile where they do not divide."
        ),
        click.option(
            "--reduce",
            type=click.Choice(sorted(REDUCTIONS)),
            default="tree",
            help="How partial sums are added.  [default: tree]",
        ),
        click.option(
            "--result",
            type=click.Choice(RESULTS),
            default=RESULTS[0],
            help="Where a sum over chips ends up: on the first of them, on all, or a slice of it "
            f"on each, which takes a ring.  [default: {RESULTS[0]}]",
        ),
    ]


def plan_of(
    *,
    chips: int | None,
    mesh: Mesh | None,
    shard: tuple[tuple[str, str], ...] | None,
    uneven: bool,
    reduce: str,
    result: str,
    **_: Any,
) -> ShardPlan:
    """The plan that options state, among others.

    Raises
    ------
    ShardPlanError
        If they state none.
    click.UsageError
        If they contradict each other.
    """
    if mesh is not None and chips not in (None, mesh.chip_count):
        raise click.UsageError(f"--chips {chips} contradicts --mesh {mesh}; give one of them")
    if shard is None and mesh is not None and len(mesh.axes) > 1:
        raise click.UsageError(
            f"--mesh {mesh} has several axes; say what is cut along which, as --shard "
            f"k={mesh.names[-1]}"
        )
    return ShardPlan(mesh or mesh_of(chips or 1), reduce, shard=shard, result=result, uneven=uneven)
