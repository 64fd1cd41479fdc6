"""One chip of a sharded program: the one-chip template, renamed, and the reduction's part of it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from compiler.ir.body import left_fold
from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.distribution import Distribution, Partial, Replicated, Sharded
from compiler.ir.edge import Edge, Handoff
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Site, Stage, Store
from compiler.passes.reduction import Reduction


class Replica:
    """What one chip of the sharded program holds: the template, renamed, and its reduction."""

    def __init__(self, template: Program, chip: int, reduction: Reduction):
        self.template = template
        self.chip = chip
        self.chips = template.chip_count
        self.children = reduction.children[chip]
        self.parent = reduction.parent[chip]
        self.reduction = reduction
        self.product = next(s for s in template.stages if isinstance(s.kind, MatmulTiles))
        (self.partial,) = self.product.outs
        self.tail = [s for s in template.stages if isinstance(s.kind, Map | Store)]
        """What happens to the whole sum, at the home chip only."""
        self.tail_buffers = {name for stage in self.tail for name in stage.outs}
        self.total = "reduced" if self.parent is None else "subtotal"

    def name(self, local: str) -> str:
        """A name of the template as it is on this chip."""
        return f"c{self.chip}.{local}"

    def site(self, stage: Stage) -> Site:
        """A site of the template as it is on this chip."""
        assert stage.site is not None
        return replace(stage.site, chip=self.chip)

    def stages(self) -> Iterator[Stage]:
        """The chip's stages: copies, receives, the fold, and at the home what follows it."""
        for stage in self.template.stages:
            if stage not in self.tail:
                yield self._copied(stage)
        compute_site = self.site(self.product)
        for index in range(len(self.children)):
            landing = (self.name(f"landing_{index}"),)
            yield Stage(self.name(f"recv_{index}"), Recv(), outs=landing, site=compute_site)
        if self.children:
            yield Stage(
                self.name("fold"),
                Fold(left_fold(len(self.children) + 1)),
                ins=tuple(map(self.name, self._addends())),
                outs=(self.name(self.total),),
                site=compute_site,
            )
        if self.parent is None:
            total = self.name(self.total)
            for stage in map(self._copied, self.tail):
                ins = tuple(
                    total if name == self.name(self.partial) else name for name in stage.ins
                )
                yield replace(stage, ins=ins)

    def buffers(self) -> Iterator[Buffer]:
        """The chip's buffers: copies, landing buffers, and the sum that stays or leaves."""
        for buffer in self.template.buffers:
            if buffer.name in self.tail_buffers:
                continue
            leaves = buffer.name == self.partial and not self.children
            yield replace(
                buffer,
                name=self.name(buffer.name),
                kind=BufferKind.INTERM if leaves else BufferKind.FIFO,
                distribution=self._distribution(buffer.name),
                site=None,
            )
        partial = self.template.buffer_by_name[self.partial]
        for index, child in enumerate(self.children):
            yield self._total(partial, f"landing_{index}", self._held_by(child))
        if self.children and self.parent is None:
            yield self._total(partial, self.total, Replicated())
            for name in sorted(self.tail_buffers):
                yield self._total(partial, name, Replicated())
        elif self.children:
            outgoing = self._total(partial, self.total, self._held_by(self.chip))
            yield replace(outgoing, kind=BufferKind.INTERM)

    def edges(self) -> Iterator[Edge]:
        """The edges that leave the chip's stages, the one to its parent included."""
        for edge in self.template.edges:
            if edge.buffer in self.tail_buffers:
                continue
            if edge.buffer != self.partial or self.children:
                reader = "fold" if edge.buffer == self.partial else edge.destination
                yield self._edge(edge.source, edge.buffer, self.name(reader), edge.handoff)
        leaving = (self.product.name, self.partial)
        if self.children:
            leaving = ("fold", self.total)
            for index in range(len(self.children)):
                yield self._edge(f"recv_{index}", f"landing_{index}", self.name("fold"))
        if self.parent is None:
            yield self._edge(*leaving, self.name(self.tail[0].name))
            for before, after in pairwise(self.tail):
                yield self._edge(before.name, before.outs[0], self.name(after.name))
        else:
            index = self.reduction.children[self.parent].index(self.chip)
            yield self._edge(*leaving, f"c{self.parent}.recv_{index}")

    def _copied(self, stage: Stage) -> Stage:
        kind = stage.kind
        if isinstance(kind, Load):
            kind = replace(kind, tensor=self.name(kind.tensor))
        return replace(
            stage,
            name=self.name(stage.name),
            kind=kind,
            ins=tuple(map(self.name, stage.ins)),
            outs=tuple(map(self.name, stage.outs)),
            site=self.site(stage),
        )

    def _addends(self) -> tuple[str, ...]:
        return (self.partial, *(f"landing_{index}" for index in range(len(self.children))))

    def _edge(
        self, source: str, buffer: str, destination: str, handoff: Handoff | None = None
    ) -> Edge:
        source = self.name(source)
        return Edge(f"{source}->{destination}", source, self.name(buffer), destination, handoff)

    def _distribution(self, buffer: str) -> Distribution:
        if buffer == self.partial:
            return Partial((self.chip,), self.chips)
        return Sharded("k", self.chip, self.chips)

    def _held_by(self, chip: int) -> Partial:
        return Partial(self.reduction.held(chip), self.chips)

    def _total(self, like: Buffer, local: str, distribution: Distribution) -> Buffer:
        return replace(
            like,
            name=self.name(local),
            kind=BufferKind.FIFO,
            distribution=distribution,
            site=None,
            depth_pages=None,
        )


def reducing_stages(reduction: Reduction, chip: int) -> Iterator[str]:
    """Local names of the stages that a chip has for the reduction."""
    for index in range(len(reduction.children[chip])):
        yield f"recv_{index}"
    if reduction.children[chip]:
        yield "fold"
