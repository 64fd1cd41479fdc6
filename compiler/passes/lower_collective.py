"""Lower a collective: from what is to be redistributed to a program without decisions."""

from collections.abc import Iterator, Sequence

from compiler.collective_spec import CollectiveSpec
from compiler.errors import CollectiveSpecError, NoCrossChipHandoffError, TooFewTilesError
from compiler.ir.collective import WITHOUT_HOME, Collective
from compiler.ir.graph import Graph, Redistribute, Value
from compiler.ir.layout import At, Layout, Placement, Replicate, Shard
from compiler.ir.program import Numerics, Program
from compiler.passes.collective_chip import GIVEN, MADE, CollectiveChip, PageRounds, Tiles
from compiler.passes.page_turns import HOP_CYCLES, Pace, turns_of_loads
from compiler.passes.page_ways import PageWay, page_way
from compiler.targets import Target


def lower_collective(spec: CollectiveSpec, target: Target) -> Program:
    """The program of a collective: a load, switches and a store on each chip that has any to do.

    Raises
    ------
    NoCrossChipHandoffError
        If the target joins no chips.
    CollectiveSpecError
        If slices that are combined would meet within a tile.
    TooFewTilesError
        If a chip that is to have a slice would be left without a tile.
    """
    if target.crossing_handoff is None:
        raise NoCrossChipHandoffError(target=target.name, provided=target.handoffs)
    return _Lowering(spec, target).program()


class _Lowering:
    """What is common to all chips of a collective."""

    def __init__(self, spec: CollectiveSpec, target: Target):
        self.spec, self.target, self.tile = spec, target, target.tile
        self.change = spec.change
        self.rows = range(-(-spec.rows // self.tile))
        self.cols = range(-(-spec.cols // self.tile))
        self.cuts_rows = spec.kind == "all_to_all"
        if self.change.combines and spec.rows % self.tile:
            rule = f"a multiple of the tile, which is {self.tile}, where slices are combined"
            raise CollectiveSpecError(field="rows", rule=rule, value=spec.rows)
        if Shard in (self.change.made, None if self.change.combines else self.change.given):
            self._check_tiles("n", spec.cols)
        if self.cuts_rows:
            self._check_tiles("m", spec.rows)
        self.rounds = self._rounds()

    def program(self) -> Program:
        """The program, chip by chip."""
        spec = self.spec
        chips = [
            CollectiveChip(
                spec,
                self.tile,
                group,
                index,
                self._tiles(index, made=False),
                self._tiles(index, made=True),
                self.rounds,
            )
            for group in spec.mesh.groups(spec.axis)
            for index in range(spec.size)
        ]
        chips.sort(key=lambda chip: chip.chip)
        return Program(
            name=f"{spec.kind}_{_word(spec.algorithm)}{spec.size}_{spec.rows}x{spec.cols}",
            target=self.target,
            tile=self.tile,
            mesh=spec.mesh,
            graph=self._graph(),
            numerics=Numerics(operand=spec.dtype, total=spec.dtype),
            tensors=tuple(tensor for chip in chips for tensor in chip.tensors()),
            stages=tuple(stage for chip in chips for stage in chip.stages()),
            buffers=tuple(buffer for chip in chips for buffer in chip.buffers()),
            edges=tuple(edge for chip in chips for edge in chip.edges()),
            collectives=tuple(self._collectives(chips)),
        )

    def _graph(self) -> Graph:
        spec, combines = self.spec, self.change.combines
        rows = "k" if combines else "m"
        cut = Shard(rows) if combines or self.cuts_rows else Shard("n")
        given = self._layout(self.change.given, cut)
        made = self._layout(self.change.made, Shard("n"))
        count = spec.size if combines else 1
        return Graph(
            values=(
                Value(GIVEN, (rows, "n"), count * spec.rows, spec.cols, layout=given),
                Value(MADE, ("m", "n"), spec.rows, spec.cols, layout=made),
            ),
            operations=(Redistribute(GIVEN, MADE, spec.axis, spec.combine if combines else None),),
        )

    def _layout(self, kind: type[Placement], cut: Shard) -> Layout:
        """A placement of a kind along the axis, and whole along every other."""
        along: Placement = Replicate()
        if kind is not Replicate:
            along = cut if kind is Shard else At(self.spec.home)
        names = self.spec.mesh.names
        return tuple(along if name == self.spec.axis else Replicate() for name in names)

    def _check_tiles(self, dim: str, extent: int) -> None:
        size, tile = self.spec.size, self.tile
        if -(-extent // tile) < size:
            raise TooFewTilesError(axis=dim, extent=extent, chips=size, tile=tile)

    def _rounds(self) -> PageRounds:
        """A row of tiles for each round; where rows are cut, one of each slice of them."""
        slices = self._dealt(self.rows) if self.cuts_rows else [self.rows]
        if len({*map(len, slices)}) == 1:
            count, rows = len(slices[0]), [rows.start for rows in slices]
        else:
            count, rows = 1, list(self.rows)
        tiles = tuple((row, col) for row in rows for col in self.cols)
        ways = tuple(self._way(row, col) for row, col in tiles)
        return PageRounds(count, tiles, ways, turns_of_loads(ways, self._pace()))

    def _dealt(self, tiles: range) -> list[range]:
        """Tiles dealt out to the chips along the axis, in order and as evenly as they go."""
        share, longer = divmod(len(tiles), self.spec.size)
        ends = [share * index + min(index, longer) for index in range(self.spec.size + 1)]
        return [tiles[ends[index] : ends[index + 1]] for index in range(self.spec.size)]

    def _way(self, row: int, col: int) -> PageWay:
        """The way of a page: from whom it is with, or to whom it is summed, to its receivers."""
        spec, change = self.spec, self.change
        of_col = _holder(self._dealt(self.cols), col)
        owner = of_col
        if At in (change.given, change.made) and spec.kind != "gather":
            owner = spec.home
        elif self.cuts_rows:
            owner = _holder(self._dealt(self.rows), row)
        receivers = range(spec.size)
        if change.made is not Replicate:
            receivers = (spec.home if change.made is At else of_col,)
        return page_way(spec.algorithm, spec.size, owner, receivers, summed=change.combines)

    def _pace(self) -> Pace:
        target = self.target
        flits = -(-self.tile * self.spec.dtype.bits // target.link_width_bits)
        beat = flits * target.link_flit_cycles
        hop = target.link_latency_cycles + HOP_CYCLES + beat - 1
        return Pace(result=0, hop=hop, page=self.tile * beat)

    def _tiles(self, index: int, *, made: bool) -> Tiles:
        """What the chip at an index has of what is made or given, or of its own slice of that."""
        kind = self.change.made if made else self.change.given
        if kind is At and index != self.spec.home:
            return Tiles(range(0), self.cols)
        if kind is not Shard or (self.change.combines and not made):
            return Tiles(self.rows, self.cols)
        if self.cuts_rows and not made:
            return Tiles(self._dealt(self.rows)[index], self.cols)
        return Tiles(self.rows, self._dealt(self.cols)[index])

    def _collectives(self, chips: Sequence[CollectiveChip]) -> Iterator[Collective]:
        spec = self.spec
        groups = list(spec.mesh.groups(spec.axis))
        name = f"{_word(spec.algorithm)}_{spec.kind}"
        for number, group in enumerate(groups):
            yield Collective(
                name=name if len(groups) == 1 else f"{name}_{number}",
                kind=spec.kind,
                algorithm=spec.algorithm,
                value=MADE,
                axis=spec.axis,
                chips=group,
                home=None if spec.kind in WITHOUT_HOME else group[spec.home],
                stages=tuple(stage for chip in group for stage in chips[chip].taking_part()),
            )


def _holder(slices: Sequence[range], tile: int) -> int:
    return next(index for index, tiles in enumerate(slices) if tile in tiles)


def _word(name: str) -> str:
    return name.replace("-", "_")
