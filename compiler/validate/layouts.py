"""Layouts: what each buffer holds of its value is what it is said to hold, and sums are whole.

Each stage makes of the layouts that it is given the one of its output, axis by axis of the mesh. So
every stored element is a sum of every contribution, exactly once.
"""

from collections import Counter
from dataclasses import dataclass

from compiler.errors import ValidationError
from compiler.flow.operands import operand_buffers
from compiler.flow.rounds import Place, factor_buffers, round_of
from compiler.ir.body import Add, Body, Literal, Max, in_postorder, operands_of
from compiler.ir.layout import At, Layout, Partial, Placement, Replicate, Shard, is_whole_sum
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Map, MatmulTiles, Merge, Recv, Split, Stage, Store


@dataclass(frozen=True)
class Held:
    """What a page holds: its layout, and the slice along each axis that cuts it.

    A slice is that of the chip where the page was made. On the way it may pass other chips.
    """

    layout: Layout
    slices: tuple[int | None, ...]


def check_layouts(program: Program) -> None:
    """Follow what each buffer holds from the loads to the stores, and compare with its claim."""
    _Layouts(program).check()


class _Layouts:
    """Follows one program."""

    def __init__(self, program: Program):
        self._program, self._mesh = program, program.mesh

    def check(self) -> None:
        """Follow all stages, and each page of a round."""
        program = self._program
        around = round_of(program)
        factors: dict[str, Held] = {}
        loaded = factor_buffers(program)
        for stage in program.stages:
            for name in loaded.intersection(stage.outs):
                factors[name] = self._made(stage, [])
                self._declared(stage, name, [factors[name]])
        held: dict[Place, Held] = {}
        left = dict(around.share)
        for each in around.passes:
            sources = [held[place] for place in each.takes]
            if isinstance(each.stage.kind, MatmulTiles):
                if not factors.keys() >= {*each.stage.ins}:
                    operand_buffers(program)  # says what is wrong with them
                sources = [factors[name] for name in each.stage.ins]
            made = self._made(each.stage, sources)
            for name, place in each.fills:
                held[name, place] = made
                left[name] -= 1
                if not left[name]:
                    pages = [held[name, place] for place in range(around.share[name])]
                    self._declared(each.stage, name, pages)

    def _made(self, stage: Stage, sources: list[Held]) -> Held:
        """What a stage makes of a page from each of its sources."""
        match stage.kind:
            case Recv() | Merge() | Split():
                return sources[0]
            case Copy():
                self._copied(stage, sources[0].layout)
                return sources[0]
            case _:
                layouts = [self._own(stage, page) for page in sources]
                return self._here(stage, self._computed(stage, layouts))

    def _computed(self, stage: Stage, layouts: list[Layout]) -> Layout:
        match stage.kind:
            case Load(tensor):
                part = self._program.tensor_by_name[tensor]
                value = self._program.graph.value_by_name[part.value]
                return self._loaded(stage, value.layout)
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

    def _loaded(self, stage: Stage, layout: Layout) -> Layout:
        """What a load makes of a value: a slice that is to be combined is a contribution.

        One that is only to be moved lacks nothing; which slice it is follows from its tiles.
        """
        held: list[Placement] = [Replicate() if isinstance(p, At) else p for p in layout]
        moved = self._program.graph.redistribution
        if moved is not None:
            axis = self._mesh.index(moved.axis)
            held[axis] = Replicate()
            if moved.combine is not None:
                held[axis] = self._sum(axis, (self._along(stage, axis) or 0,))
        return tuple(held)

    def _here(self, stage: Stage, layout: Layout) -> Held:
        """What a stage makes: slices are those of its chip."""
        return Held(
            layout,
            tuple(
                self._along(stage, axis) if isinstance(placement, Shard) else None
                for axis, placement in enumerate(layout)
            ),
        )

    def _own(self, stage: Stage, page: Held) -> Layout:
        """What a stage computes with: a slice of its own chip."""
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

    def _declared(self, stage: Stage, name: str, pages: list[Held]) -> None:
        claimed = self._program.buffer_by_name[name].holds
        made = tuple(dict.fromkeys(page.layout for page in pages))
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
        moved = self._program.graph.redistribution
        _is_combined(stage, body, "max" if moved and moved.combine == "max" else "sum")
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
        if not all(map(_has, layout, wanted)):
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


def _has(held: Placement, wanted: Placement) -> bool:
    """Whether what is held has all that is wanted. A slice is stored of a whole by its tiles."""
    return held in (wanted, Replicate())


def _is_combined(stage: Stage, body: Body, combine: str) -> None:
    """A fold adds partial sums, and takes the maximum of partial maxima, and does nothing else."""
    for part in in_postorder(body):
        if isinstance(part, Max) and combine == "sum":
            raise ValidationError(
                "MaxOfPartials",
                stage.name,
                f"fold {stage.name!r} takes the maximum of partial sums, which is no sum",
            )
        if isinstance(part, Add) and combine == "max":
            raise ValidationError(
                "SumOfPartials",
                stage.name,
                f"fold {stage.name!r} adds partial maxima, which is no maximum",
            )
        if isinstance(part, Literal):
            raise ValidationError(
                "LiteralInFold",
                stage.name,
                f"fold {stage.name!r} adds the literal {part}, which is part of no product",
            )
