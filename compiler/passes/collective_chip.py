"""One chip of a collective: the tensors that it has, a load, switches and a store."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.collective_spec import CollectiveSpec
from compiler.ir.buffer import Buffer, BufferKind, Page
from compiler.ir.edge import Edge
from compiler.ir.layout import Layout, Partial, Replicate
from compiler.ir.stage import Load, Recv, Site, Stage, Store
from compiler.ir.tensor import Part, Tensor, TensorRole, ValueRange
from compiler.ir.walk import Loop, Walk
from compiler.passes.chip_switches import ChipSwitches
from compiler.passes.page_turns import Turns
from compiler.passes.page_ways import PageWay

GIVEN, MADE = "x", "y"
"""Names of what a collective is given and of what it makes."""
GIVEN_PAGES = f"{GIVEN}_pages"


@dataclass(frozen=True)
class Tiles:
    """The tiles of a value, or of a slice of it, that a chip has: ranges of rows and columns."""

    rows: range
    cols: range

    @property
    def count(self) -> int:
        """Tiles of both ranges."""
        return len(self.rows) * len(self.cols)


@dataclass(frozen=True)
class PageRounds:
    """The pages of a collective, round by round.

    Parameters
    ----------
    count : int
        Rounds of a run; in each, every page is a row of tiles below that of the round before.
    tiles : tuple of (row, col)
        Tiles of the first round.
    ways : tuple of PageWay
        Where the page of each of them goes.
    turns : Turns
        In which order.
    """

    count: int
    tiles: tuple[tuple[int, int], ...]
    ways: tuple[PageWay, ...]
    turns: Turns


class CollectiveChip:
    """What the chip at one index of a group has.

    Parameters
    ----------
    spec : CollectiveSpec
        What is asked for.
    tile : int
        Edge of a tile.
    group : tuple of int
        Chips of the group, in the order of the axis.
    given, made : Tiles
        What the chip has of what is given, in its own slice if slices are combined; and of what is
        made.
    rounds : PageRounds
        The pages of the group.
    """

    def __init__(
        self,
        spec: CollectiveSpec,
        tile: int,
        group: tuple[int, ...],
        index: int,
        given: Tiles,
        made: Tiles,
        rounds: PageRounds,
    ):
        self.spec, self.tile, self.index, self.group = spec, tile, index, group
        self.given, self.made, self.rounds = given, made, rounds
        self.chip = group[index]
        self.switches = ChipSwitches(
            index, group, rounds.ways, rounds.turns, GIVEN_PAGES, (), spec.combine
        )

    def name(self, local: str) -> str:
        """A name as it is on this chip."""
        return f"c{self.chip}.{local}"

    def tensors(self) -> Iterator[Tensor]:
        """What the chip is given, and what it ends up with.

        Elements that are added up are so small that no sum of them leaves the type.
        """
        spec, combines = self.spec, self.spec.change.combines
        count = spec.size if combines and spec.combine == "sum" else 1
        given = ValueRange(-(-spec.dtype.low // count), spec.dtype.high // count)
        made = ValueRange(count * given.low, count * given.high)
        if self.given.count:
            row = self.index * spec.rows if combines else self.given.rows.start * self.tile
            yield self._tensor(GIVEN, TensorRole.INPUT, self.given, row, given)
        if self.made.count:
            row = self.made.rows.start * self.tile
            yield self._tensor(MADE, TensorRole.OUTPUT, self.made, row, made)

    def _tensor(
        self, value: str, role: TensorRole, tiles: Tiles, row: int, within: ValueRange
    ) -> Tensor:
        top, left = tiles.rows.start * self.tile, tiles.cols.start * self.tile
        return Tensor(
            name=self.name(value),
            role=role,
            rows=min(tiles.rows.stop * self.tile, self.spec.rows) - top,
            cols=min(tiles.cols.stop * self.tile, self.spec.cols) - left,
            tile=self.tile,
            dtype=self.spec.dtype,
            value_range=within,
            part=Part(value, row, left),
            chip=self.chip,
        )

    def stages(self) -> Iterator[Stage]:
        """The load, the switches and the store, as far as there is anything for them."""
        site, turns = Site(self.chip), self.rounds.turns
        own, kept = turns.own[self.index], turns.kept[self.index]
        if own:
            load = Load(self.name(GIVEN), self._walk(self.given, own))
            outs = (self.name(GIVEN_PAGES),)
            yield Stage(self.name(f"load_{GIVEN}"), load, (), outs, site)
        for joint in self.switches.joints:
            ins, outs = (tuple(map(self.name, names)) for names in (joint.ins, joint.outs))
            yield Stage(self.name(joint.name), joint.kind, ins, outs, site)
        if kept:
            store = Store(self.name(MADE), self._walk(self.made, kept))
            ins = (self.name(self.switches.stored),)
            yield Stage(self.name(f"store_{MADE}"), store, ins, (), site)

    def _walk(self, tiles: Tiles, pages: Sequence[int]) -> Walk:
        """The pages of each round in order, as they lie in a tensor of these tiles."""
        width, top, left = len(tiles.cols), tiles.rows.start, tiles.cols.start
        places = (self.rounds.tiles[page] for page in pages)
        order = tuple((row - top) * width + col - left for row, col in places)
        return Walk((Loop(self.rounds.count, width),), order)

    def buffers(self) -> Iterator[Buffer]:
        """What lies between the stages. All but what is received can be left at once."""
        leaving = {*self.switches.leaving.values()}
        receives = (joint for joint in self.switches.joints if isinstance(joint.kind, Recv))
        landing = {name for joint in receives for name in joint.outs}
        for name, stream in self.switches.streams.items():
            yield Buffer(
                name=self.name(name),
                kind=BufferKind.INTERM if name in leaving else BufferKind.FIFO,
                page=Page(self.tile, self.tile, self.spec.dtype),
                holds=tuple(map(self._layout, stream.holds)),
                fall_through=name not in landing,
            )

    def _layout(self, placement: Partial | Replicate) -> Layout:
        """The placement along the axis of the collective, and whole along every other."""
        names = self.spec.mesh.names
        return tuple(placement if name == self.spec.axis else Replicate() for name in names)

    def edges(self) -> Iterator[Edge]:
        """The edges that leave the chip's stages."""
        filler = {GIVEN_PAGES: f"load_{GIVEN}"}
        filler |= {name: joint.name for joint in self.switches.joints for name in joint.outs}
        taken = [(name, self.name(j.name)) for j in self.switches.joints for name in j.ins]
        for to, name in self.switches.leaving.items():
            taken.append((name, f"c{self.group[to]}.recv_c{self.chip}"))
        if self.switches.stored:
            taken.append((self.switches.stored, self.name(f"store_{MADE}")))
        for buffer, destination in taken:
            name = self.name(buffer)
            yield Edge(f"{name}->{destination}", self.name(filler[buffer]), name, destination)

    def taking_part(self) -> Iterator[str]:
        """Names of the stages that the chip has for the collective."""
        return map(self.name, self.switches.taking_part())
