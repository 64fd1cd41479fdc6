"""What every page holds: the program run on tiles and contributions instead of numbers.

Pages of an operand are told by their tiles. Pages of sums are told by the tile of the output that
they belong to, and by how many times each block of the contraction has been added into them. What a
stage does to its pages is all that counts; nothing is assumed of how a program reduces.

A page of one round and that in its place in another have come the same way, so a stage is followed
once for each place, over all rounds.

Sequences of tiles are nests of loops as long as walks are regular, and then nothing here grows with
the number of pages. Others are listed page by page, if they are few enough.
"""

from dataclasses import replace

from compiler.flow.contributions import Contributions, TooManyIntervalsError, contributions_of
from compiler.flow.errors import FlowError
from compiler.flow.operands import operand_buffers
from compiler.flow.pages import OperandPages, PageFlow, Sequence, StoredPages, SumPages
from compiler.flow.rounds import Place, round_of
from compiler.flow.sequences import Sequences
from compiler.flow.tile_grid import contraction_blocks, first_tile, tile_number
from compiler.ir import limits
from compiler.ir.body import Body, fold_up
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Stage, Store
from compiler.ir.walk import Walk


class PageFollower:
    """Follows the pages of one program.

    Parameters
    ----------
    loops : bool
        Whether sequences are told by loops where they can be. Without, all are listed.
    """

    def __init__(self, program: Program, *, loops: bool = True):
        self._program = program
        self._sequences = Sequences(loops=loops)
        self._intervals = 0

    def follow(self) -> PageFlow:
        """What every page holds.

        Raises
        ------
        FlowError
            If a stage combines pages that do not belong together, or if too many have to be listed.
        """
        program = self._program
        operand_buffers(program)
        operands = {
            stage.outs[0]: self._loaded(stage)
            for stage in program.stages
            if isinstance(stage.kind, Load) and program.graph.product is not None
        }
        around = round_of(program)
        held: dict[Place, SumPages] = {}
        arrived: dict[str, list[SumPages]] = {}
        for each in around.passes:
            stage, sources = each.stage, [held[place] for place in each.takes]
            match stage.kind:
                case Load():
                    if stage.outs[0] not in operands and each.fills[0] not in held:
                        held |= self._dealt(stage, self._given(stage), around.share)
                    continue
                case MatmulTiles():
                    if each.fills[0] not in held:
                        pages = self._product(stage, *(operands[name] for name in stage.ins))
                        held |= self._dealt(stage, pages, around.share)
                    continue
                case Store():
                    arrived.setdefault(stage.name, []).extend(sources)
                    continue
                case Fold(body):
                    made = self._folded(stage, body, sources)
                case Map(body):
                    made = self._mapped(stage, body, *sources)
                case _:
                    (made,) = sources
            held |= dict.fromkeys(each.fills, made)
        stored = {
            name: self._stored(program.stage_by_name[name], tuple(pages))
            for name, pages in arrived.items()
        }
        sums = {
            name: tuple(held[name, place] for place in range(share))
            for name, share in around.share.items()
            if name not in operands
        }
        return PageFlow(operands, sums, stored)

    def _loaded(self, stage: Stage) -> OperandPages:
        assert isinstance(stage.kind, Load)
        tensor = self._program.tensor_by_name[stage.kind.tensor]
        side = 0 if tensor.value == self._program.claim.left else 1
        tiles = self._walked(stage, stage.kind.tensor, stage.kind.walk)
        return OperandPages(
            side,
            tiles
            if side == 0
            else self._sequences.paired(stage, tiles.component(1), tiles.component(0)),
        )

    def _walked(self, stage: Stage, name: str, walk: Walk | None) -> Sequence:
        """Tiles of the whole value that a load or a store goes through, in rows and columns."""
        tensor, kind = self._program.tensor_by_name[name], type(stage.kind).__name__.lower()
        if walk is None:
            raise FlowError("WalkMissing", stage.name, f"{kind} {stage.name!r} has no walk")
        low, high = walk.span
        if walk.page_count and not 0 <= low <= high < tensor.page_count:
            does = "reads" if isinstance(stage.kind, Load) else "writes"
            raise FlowError(
                "WalkLeavesTensor",
                stage.name,
                f"{kind} {stage.name!r} {does} page {high if low >= 0 else low} of tensor "
                f"{name!r}, which has {tensor.page_count}",
            )
        first = first_tile(self._program, name)
        return self._sequences.walked(stage, walk, tensor.col_tiles).moved(first)

    def _given(self, stage: Stage) -> SumPages:
        """What is loaded to be combined, or moved as it is."""
        assert isinstance(stage.kind, Load)
        moved = self._program.graph.redistribution
        assert moved is not None
        tiles = self._walked(stage, stage.kind.tensor, stage.kind.walk)
        if moved.combine is None:
            return SumPages(tiles, (Contributions(((0, 1, 1),)),))
        first, _ = first_tile(self._program, stage.kind.tensor)
        output = self._program.graph.value_by_name[moved.output]
        slice_tiles = -(-output.rows // self._program.tile)
        index, row = divmod(first, slice_tiles)
        adds = Contributions(((index, index + 1, 1),))
        return SumPages(tiles.moved((row - first, 0)), (adds,))

    def _dealt(
        self, stage: Stage, pages: SumPages, shares: dict[str, int]
    ) -> dict[Place, SumPages]:
        """What a stage brings in, by the places of its pages in a round."""
        (out,) = stage.outs
        share = shares[out]
        if pages.length % share:
            kind = "product" if isinstance(stage.kind, MatmulTiles) else "load"
            raise FlowError(
                "CountingImbalance",
                stage.name,
                f"{kind} {stage.name!r} makes {pages.length} pages, but they pass in rounds of "
                f"{share}",
            )
        hands = self._sequences.dealt(stage, pages.tiles, share)
        return {
            (out, place): SumPages(
                tiles, pages.adds[place::share] if pages.adds[1:] else pages.adds
            )
            for place, tiles in enumerate(hands)
        }

    def _product(self, stage: Stage, left: OperandPages, right: OperandPages) -> SumPages:
        assert isinstance(stage.kind, MatmulTiles)
        a, b, claim = left.tiles, right.tiles, self._program.claim
        depth = stage.kind.block_count or 0
        if depth < 1 or a.length != b.length or a.length % depth:
            raise FlowError(
                "CountingImbalance",
                stage.name,
                f"product {stage.name!r} takes {depth} pages per result from {a.length} pages of "
                f"{claim.left!r} and {b.length} of {claim.right!r}",
            )
        blocks, others = a.component(1), b.component(1)
        where = self._sequences.first_difference(stage, blocks, others)
        if where is not None:
            raise FlowError(
                "ContractionOrder",
                stage.name,
                f"product {stage.name!r} multiplies block {blocks.at(where)[0]} of {claim.left!r} "
                f"along the contraction with block {others.at(where)[0]} of {claim.right!r}, at "
                f"page {where}",
            )
        rows, cols = (tiles.component(0).heads(depth) for tiles in (a, b))
        for operand, tiles in ((claim.left, rows), (claim.right, cols)):
            if tiles is None:
                raise FlowError(
                    "ContractionOrder",
                    stage.name,
                    f"product {stage.name!r} mixes tiles of {operand!r} of different results in "
                    f"one sum",
                )
        assert rows is not None
        assert cols is not None
        if not blocks.length:
            return SumPages(self._sequences.paired(stage, rows, cols), (Contributions(),))
        (low,), (high,) = blocks.bounds
        if not 0 <= low <= high < contraction_blocks(self._program):
            raise FlowError(
                "ContractionOrder",
                stage.name,
                f"product {stage.name!r} adds blocks {low} to {high} of the contraction, which has "
                f"{contraction_blocks(self._program)}",
            )
        return SumPages(
            self._sequences.paired(stage, rows, cols), self._added(stage, blocks, depth)
        )

    def _added(self, stage: Stage, blocks: Sequence, depth: int) -> tuple[Contributions, ...]:
        """What each result adds; once, if all results add the same."""
        cycle = blocks.cycle(depth)
        try:
            if cycle is not None:
                return self._counted(stage, (contributions_of(cycle),))
            if blocks.length <= limits.INTERVALS:
                groups = self._sequences.listed(stage, blocks).groups(depth)
                return self._counted(stage, tuple(map(contributions_of, groups)))
        except TooManyIntervalsError:
            raise _too_far_apart(stage) from None
        raise FlowError(
            "ContractionOrder",
            stage.name,
            f"product {stage.name!r} adds other blocks to each of its results",
        )

    def _counted(self, stage: Stage, adds: tuple[Contributions, ...]) -> tuple[Contributions, ...]:
        """The same, unless all that the sums of the program add comes to too much."""
        self._intervals += sum(len(each.intervals) for each in adds) - 1
        if self._intervals > limits.INTERVALS:
            raise _too_far_apart(stage)
        return adds

    def _folded(self, stage: Stage, body: Body, sources: list[SumPages]) -> SumPages:
        def combined(one: SumPages, other: SumPages) -> SumPages:
            self._belong_together(stage, one, other)
            if one.mapped or other.mapped:
                raise FlowError(
                    "MapOfPartial",
                    stage.name,
                    f"fold {stage.name!r} adds values that a map has changed",
                )
            count = max(len(one.adds), len(other.adds))
            adds = tuple(one.adds_of(p).plus(other.adds_of(p)) for p in range(count))
            return SumPages(one.tiles, self._counted(stage, adds))

        def refused(said: object) -> SumPages:
            raise FlowError(
                "FoldOfSums",
                stage.name,
                f"fold {stage.name!r} combines partial {what} by {said}, which is no {one}",
            )

        def wrong(*_: SumPages) -> SumPages:
            return refused(body)

        moved = self._program.graph.redistribution
        greatest = moved is not None and moved.combine == "max"
        what, one = ("maxima", "maximum") if greatest else ("sums", "sum")
        return fold_up(
            body,
            operand=lambda index: sources[index],
            literal=refused,
            add=wrong if greatest else combined,
            maximum=combined if greatest else wrong,
        )

    def _belong_together(self, stage: Stage, one: SumPages, other: SumPages) -> None:
        if one.length != other.length:
            raise FlowError(
                "CountingImbalance",
                stage.name,
                f"fold {stage.name!r} adds {one.length} pages to {other.length}",
            )
        where = self._sequences.first_difference(stage, one.tiles, other.tiles)
        if where is not None:
            said = (tile_number(self._program, pages.tiles.at(where)) for pages in (one, other))
            raise FlowError(
                "ResultOrder",
                stage.name,
                f"fold {stage.name!r} adds pages that belong to different tiles of the output: it "
                f"takes page {where} for tile {next(said)} of the output and for tile {next(said)}",
            )

    def _mapped(self, stage: Stage, body: Body, pages: SumPages) -> SumPages:
        if pages.first_incomplete(contraction_blocks(self._program)) is not None:
            raise FlowError(
                "MapOfPartial",
                stage.name,
                f"map {stage.name!r} applies {body} to a partial sum; {body} of a sum is not the "
                f"sum of {body}",
            )
        return replace(pages, mapped=pages.mapped + str(body))

    def _stored(self, stage: Stage, places: tuple[SumPages, ...]) -> StoredPages:
        assert isinstance(stage.kind, Store)
        tensor, output = stage.kind.tensor, self._program.graph.output
        if self._program.tensor_by_name[tensor].value != output:
            raise FlowError(
                "OutputStored",
                stage.name,
                f"store {stage.name!r} writes to tensor {tensor!r}, which is no part of {output!r}",
            )
        written = self._walked(stage, tensor, stage.kind.walk)
        return StoredPages(
            stage.name, tensor, places, written, self._misplaced(stage, places, written)
        )

    def _misplaced(
        self, stage: Stage, places: tuple[SumPages, ...], written: Sequence
    ) -> int | None:
        """The first page that goes to the place of another tile."""
        if len(places) == 1:
            return self._sequences.first_difference(stage, places[0].tiles, written)
        share = len(places)
        if written.length % share:
            listing = self._sequences.listed(stage, written)
            hands = [listing.every(share, first) for first in range(share)]
        else:
            hands = self._sequences.dealt(stage, written, share)
        found = (
            rounds * share + place
            for place, (pages, hand) in enumerate(zip(places, hands, strict=True))
            if (rounds := self._sequences.first_difference(stage, pages.tiles, hand)) is not None
        )
        return min(found, default=None)


def _too_far_apart(stage: Stage) -> FlowError:
    return FlowError(
        "WorkBound",
        stage.name,
        f"stage {stage.name!r} adds blocks of the contraction that lie too far apart to be "
        f"followed; let the innermost loops of the operands go through the blocks without gaps",
    )
