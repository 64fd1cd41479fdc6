"""Layouts: what each buffer holds of its value is what it is said to hold, and sums are whole.

Each stage makes of the layouts that it is given the one of its output, axis by axis of the mesh. So
every stored element is a sum of every contribution, exactly once.
"""

from collections import Counter
from dataclasses import dataclass

from compiler.errors import ValidationError
from compiler.flow.order import in_flow_order, sources_of
from compiler.ir.body import Body, Literal, Max, in_postorder, operands_of
from compiler.ir.layout import At, Layout, Partial, Placement, Replicate, Shard, is_whole_sum
from compiler.ir.limits import TURNS
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Map, MatmulTiles, Merge, Recv, Split, Stage, Store
from compiler.ir.turns import LongTurnsError, merged, shortest, split


@dataclass(frozen=True)
class Held:
    """What a page holds: its layout, and the slice along each axis that cuts it.

    A slice is that of the chip where the page was made. On the way it may pass other chips.
    """

    layout: Layout
    slices: tuple[int | None, ...]


Pages = tuple[Held, ...]
"""What the pages of a buffer hold, by turns."""


def check_layouts(program: Program) -> None:
    """Follow what each buffer holds from the loads to the stores, and compare with its claim."""
    _Layouts(program).check()


class _Layouts:
    """Follows one program: ``_held`` says what is in each buffer that has been reached."""

    def __init__(self, program: Program):
        self._program, self._mesh = program, program.mesh
        self._held: dict[str, Pages] = {}

    def check(self) -> None:
        """Follow all stages."""
        for stage in in_flow_order(self._program):
            sources = [self._held[name] for name in sources_of(self._program, stage)]
            for name, pages in zip(stage.outs, self._made(stage, sources), strict=True):
                self._declared(stage, name, pages)
                self._held[name] = pages

    def _made(self, stage: Stage, sources: list[Pages]) -> list[Pages]:
        """What a stage puts into each of its outputs."""
        match stage.kind:
            case Recv():
                return [sources[0]]
            case Copy():
                for page in sources[0]:
                    self._copied(stage, page.layout)
                return [sources[0]] * len(stage.outs)
            case Merge(turns):
                try:
                    return [merged(turns, sources)]
                except LongTurnsError:
                    raise _too_long(stage) from None
            case Split(turns):
                try:
                    return split(turns, sources[0], len(stage.outs))
                except LongTurnsError:
                    raise _too_long(stage) from None
            case _:
                layouts = [self._own(stage, pages) for pages in sources]
                made = self._computed(stage, layouts)
                return [(self._here(stage, made),)] * len(stage.outs)

    def _computed(self, stage: Stage, layouts: list[Layout]) -> Layout:
        match stage.kind:
            case Load(tensor):
                part = self._program.tensor_by_name[tensor]
                value = self._program.graph.value_by_name[part.value]
                return tuple(Replicate() if isinstance(p, At) else p for p in value.layout)
            case MatmulTiles():
                return self._product(stage, *layouts)
            case Fold(body):
                return self._folded(stage, body, layouts)
            case Map(body):
                if not is_whole_sum(layouts[0]):
                    raise ValidationError(
                        "MapOfPartial",
                        stage.name,
                        f"map {stage.name!r} applies {body} to {self._a(layouts[0])}; it must "
                        f"come after the reduction",
                    )
            case Store(tensor):
                self._stored(stage, tensor, layouts[0])
            case _:
                pass
        return layouts[0]

    def _here(self, stage: Stage, layout: Layout) -> Held:
        """What a stage makes: slices are those of its chip."""
        return Held(
            layout,
            tuple(
                self._along(stage, axis) if isinstance(placement, Shard) else None
                for axis, placement in enumerate(layout)
            ),
        )

    def _own(self, stage: Stage, pages: Pages) -> Layout:
        """What a stage computes with: pages that hold all the same, which is its chip's."""
        page, *others = pages
        if others:
            said = " and ".join(dict.fromkeys(self._a(page.layout) for page in pages))
            raise ValidationError(
                "TurnsTogether",
                stage.name,
                f"{type(stage.kind).__name__} stage {stage.name!r} takes pages of several edges by "
                f"turns, {said}; a Split must take them apart before",
            )
        for axis, index in enumerate(page.slices):
            own = self._along(stage, axis)
            if index is not None and own is not None and index != own:
                name = self._mesh.names[axis]
                raise ValidationError(
                    "SliceElsewhere",
                    stage.name,
                    f"{type(stage.kind).__name__} stage {stage.name!r} takes slice {index} along "
                    f"{name}, but is on a chip at {own} along {name}",
                )
        return page.layout

    def _along(self, stage: Stage, axis: int) -> int | None:
        """Where a stage stands along an axis, if it is placed."""
        return None if stage.chip is None else self._mesh.coordinates(stage.chip)[axis]

    def _declared(self, stage: Stage, name: str, pages: Pages) -> None:
        claimed = shortest(self._program.buffer_by_name[name].holds)
        made = shortest(tuple(page.layout for page in pages))
        if claimed != made:
            raise ValidationError(
                "LayoutMismatch",
                name,
                f"buffer {name!r} is declared as {' then '.join(map(self._said, claimed))}, but "
                f"{stage.name!r} makes it {' then '.join(map(self._a, made))}",
            )

    def _product(self, stage: Stage, left: Layout, right: Layout) -> Layout:
        return tuple(
            self._factor(stage, axis, a, b)
            for axis, (a, b) in enumerate(zip(left, right, strict=True))
        )

    def _factor(self, stage: Stage, axis: int, a: Placement, b: Placement) -> Placement:
        """What a product is along one axis of what its operands are along it."""
        match a, b:
            case Replicate(), Replicate():
                return Replicate()
            case Shard("m"), Replicate():
                return a
            case Replicate(), Shard("n"):
                return b
            case Shard("k"), Shard("k"):
                return self._sum(axis, (self._along(stage, axis) or 0,))
            case _:
                along = self._mesh.names[axis]
                raise ValidationError(
                    "SliceMismatch",
                    stage.name,
                    f"product {stage.name!r} multiplies {a} on its left with {b} on its right "
                    f"along {along}; both operands must hold the same slice of the contraction "
                    f"axis, or one the whole and the other a slice of its free axis",
                )

    def _sum(self, axis: int, indices: tuple[int, ...]) -> Placement:
        if len(indices) == self._mesh.axes[axis].size:
            return Replicate()
        return Partial(tuple(sorted(indices)))

    def _folded(self, stage: Stage, body: Body, layouts: list[Layout]) -> Layout:
        for layout in layouts:
            if is_whole_sum(layout):
                raise ValidationError(
                    "FoldOfWhole",
                    stage.name,
                    f"fold {stage.name!r} adds {self._a(layout)}, not a partial sum",
                )
        _is_sum(stage, body)
        along = [
            axis
            for axis, placements in enumerate(zip(*layouts, strict=True))
            if len({*placements}) > 1
        ]
        partial = all(isinstance(layout[axis], Partial) for layout in layouts for axis in along)
        if len(along) > 1 or not partial:
            listed = ", ".join(dict.fromkeys(map(self._a, layouts)))
            raise ValidationError(
                "FoldMismatch",
                stage.name,
                f"fold {stage.name!r} adds {listed}; what it adds must be partial sums along one "
                f"axis, and alike along every other",
            )
        axis = along[0] if along else self._partial_axis(layouts[0])
        times = Counter[int]()
        for index in operands_of(body):
            added = layouts[index][axis]
            assert isinstance(added, Partial)
            times.update(added.of)
        for index, count in sorted(times.items()):
            if count > 1:
                raise ValidationError(
                    "ContributionRepeated",
                    stage.name,
                    f"fold {stage.name!r} adds the partial sum of slice {index} {count} times",
                )
        first = layouts[0]
        return (*first[:axis], self._sum(axis, tuple(times)), *first[axis + 1 :])

    def _partial_axis(self, layout: Layout) -> int:
        return next(axis for axis, placement in enumerate(layout) if isinstance(placement, Partial))

    def _copied(self, stage: Stage, layout: Layout) -> None:
        if not is_whole_sum(layout):
            raise ValidationError(
                "BroadcastOfPartial",
                stage.name,
                f"copy {stage.name!r} gives {self._a(layout)} to several; it must come after "
                f"the reduction",
            )

    def _stored(self, stage: Stage, tensor: str, layout: Layout) -> None:
        for axis, placement in enumerate(layout):
            if isinstance(placement, Partial):
                missing = {*range(self._mesh.axes[axis].size)} - {*placement.of}
                raise ValidationError(
                    "PartialStored",
                    stage.name,
                    f"store {stage.name!r} would store {self._a(layout)}: the contributions "
                    f"of slices {', '.join(map(str, sorted(missing)))} are missing",
                )
        part = self._program.tensor_by_name[tensor]
        value = self._program.graph.value_by_name[part.value]
        wanted = tuple(Replicate() if isinstance(p, At) else p for p in value.layout)
        if layout != wanted:
            raise ValidationError(
                "StoredLayout",
                stage.name,
                f"store {stage.name!r} would store {self._a(layout)}, but {value.name!r} is "
                f"to be {self._said(wanted)} there",
            )

    def _said(self, layout: Layout) -> str:
        """A layout in words: of one axis, or of several by their names."""
        if len(layout) == 1:
            return str(layout[0])
        named = zip(self._mesh.names, layout, strict=True)
        return " and ".join(f"{placement} along {name}" for name, placement in named)

    def _a(self, layout: Layout) -> str:
        """A layout in words, as one thing."""
        said = self._said(layout)
        return said if said.startswith("slices") else f"a {said}"


def _is_sum(stage: Stage, body: Body) -> None:
    for part in in_postorder(body):
        if isinstance(part, Max):
            raise ValidationError(
                "MaxOfPartials",
                stage.name,
                f"fold {stage.name!r} takes the maximum of partial sums, which is no sum",
            )
        if isinstance(part, Literal):
            raise ValidationError(
                "LiteralInFold",
                stage.name,
                f"fold {stage.name!r} adds the literal {part}, which is part of no product",
            )


def _too_long(stage: Stage) -> ValidationError:
    return ValidationError(
        "TurnsRepeat",
        stage.name,
        f"{type(stage.kind).__name__} stage {stage.name!r} passes pages whose turns repeat only "
        f"after more than {TURNS}; use turns of fewer pages",
    )
