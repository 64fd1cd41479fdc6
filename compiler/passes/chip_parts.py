"""One chip of a partitioned program: the template, renamed, and its share of the collectives."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compiler.ir.body import left_fold
from compiler.ir.buffer import Buffer
from compiler.ir.edge import Edge
from compiler.ir.layout import Layout, Partial, Replicate
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, MatmulTiles, Recv, Stage
from compiler.passes.algorithms import SpanningTree
from compiler.passes.chip_template import ChipTemplate


@dataclass(frozen=True)
class Member:
    """Where a chip stands in the group that sums over the axis of k.

    Parameters
    ----------
    group : tuple of int
        Chips of the group, in the order of the axis.
    index : int
        Which of them this one is.
    axis : int
        Which placement of a layout is that of the axis.
    hops : SpanningTree
        Who sends to whom.
    contributions : tuple
        By index, the contributions in the sum that leaves a chip.
    to_all : bool
        Whether the whole sum goes back to all.
    """

    group: tuple[int, ...]
    index: int
    axis: int
    hops: SpanningTree
    contributions: tuple[tuple[int, ...], ...]
    to_all: bool

    @property
    def parent(self) -> int | None:
        """The chip that takes this one's sum."""
        above = self.hops.parent[self.index]
        return None if above is None else self.group[above]

    @property
    def children(self) -> tuple[int, ...]:
        """The chips whose sums this one takes, in order."""
        return tuple(self.group[index] for index in self.hops.children[self.index])

    @property
    def order_at_parent(self) -> int:
        """Which of its parent's children the chip is."""
        above = self.hops.parent[self.index]
        assert above is not None
        return self.hops.children[above].index(self.index)


class ChipParts(ChipTemplate):
    """What one chip holds: the template, renamed, and its share of the collectives.

    Parameters
    ----------
    template, chip, names, layouts
        As for :class:`~compiler.passes.chip_template.ChipTemplate`.
    member : Member or None
        The chip's place in the group that sums, if contractions are cut.
    """

    def __init__(
        self,
        template: Program,
        chip: int,
        *,
        names: dict[str, str],
        layouts: dict[str, Layout],
        member: Member | None,
    ):
        axis = None if member is None else member.axis
        super().__init__(template, chip, names=names, layouts=layouts, axis=axis)
        self.member = member
        self.is_home = member is None or member.parent is None
        self.stores = self.is_home or (member is not None and member.to_all)
        self.children = member.children if member else ()
        self.total = self.partial
        if self.children:
            self.total = "reduced" if self.is_home else "subtotal"
        self.copies = bool(member and member.to_all and self.children)

    def stages(self) -> Iterator[Stage]:
        """Copies of the template's, then receives, the fold, and what follows the whole sum."""
        for stage in self.template.stages:
            if isinstance(stage.kind, Load | MatmulTiles):
                yield self._copied(stage)
        for index in range(len(self.children)):
            yield self._stage(f"recv_{index}", Recv(), outs=(f"landing_{index}",))
        if self.children:
            addends = (self.partial, *(f"landing_{index}" for index in range(len(self.children))))
            body = left_fold(len(addends))
            yield self._stage("fold", Fold(body), ins=addends, outs=(self.total,))
        if not self.stores:
            return
        whole = "landing_whole"
        if self.is_home:
            whole = self.total
            for stage in self.maps:
                yield self._copied(stage, ins=(whole,))
                (whole,) = stage.outs
        else:
            yield self._stage("recv_whole", Recv(), outs=(whole,))
        if self.copies:
            yield self._stage("copy", Copy(), ins=(whole,), outs=("kept", *self._wholes()))
            whole = "kept"
        yield self._copied(self.store, ins=(whole,))

    def buffers(self) -> Iterator[Buffer]:
        """What lies between the chip's stages, and what leaves the chip."""
        sums = self.template.buffer_by_name[self.partial]
        made = self._sum_layout(Partial((self.member.index,))) if self.member else None
        mapped = {name for stage in self.maps for name in stage.outs}
        for buffer in self.template.buffers:
            if buffer.name in mapped:
                continue
            holds = self._operand_layout(buffer)
            leaves = False
            if buffer.name == self.partial:
                holds = made or self._sum_layout(Replicate())
                leaves = self._leaves(self.partial)
            yield self._buffer(buffer.name, buffer, holds, leaves=leaves)
        if self.member is None:
            for name in mapped:
                yield self._buffer(
                    name, self.template.buffer_by_name[name], self._sum_layout(Replicate())
                )
            return
        blank = replace(sums, depth=None)
        held = self.member.contributions
        for order, child in enumerate(self.member.hops.children[self.member.index]):
            layout = self._sum_layout(self._sum_of(held[child]))
            yield self._buffer(f"landing_{order}", blank, layout)
        if self.children:
            layout = self._sum_layout(self._sum_of(held[self.member.index]))
            yield self._buffer(self.total, blank, layout, leaves=self._leaves(self.total))
        if not self.stores:
            return
        whole = self._sum_layout(Replicate())
        for name in sorted(mapped) if self.is_home else ("landing_whole",):
            yield self._buffer(name, self.template.buffer_by_name.get(name, blank), whole)
        if self.copies:
            yield self._buffer("kept", blank, whole)
            for name in self._wholes():
                yield self._buffer(name, blank, whole, leaves=True)

    def edges(self) -> Iterator[Edge]:
        """The edges that leave the chip's stages."""
        chosen = {edge.buffer: edge.handoff for edge in self.template.edges}
        for edge in self.template.edges:
            if edge.destination == self.product.name:
                yield self._edge(edge.source, edge.buffer, self.product.name, edge.handoff)
        source, buffer = self.product.name, self.partial
        if self.children:
            yield self._edge(source, buffer, "fold", chosen.get(buffer))
            for index in range(len(self.children)):
                yield self._edge(f"recv_{index}", f"landing_{index}", "fold")
            source, buffer = "fold", self.total
        if not self.is_home:
            assert self.member is not None
            receiver = f"c{self.member.parent}.recv_{self.member.order_at_parent}"
            yield self._edge(source, buffer, receiver, away=True)
            source, buffer = "recv_whole", "landing_whole"
        if not self.stores:
            return
        for stage in self.maps if self.is_home else ():
            yield self._edge(source, buffer, stage.name, chosen.get(buffer))
            source, (buffer,) = stage.name, stage.outs
        if self.copies:
            yield self._edge(source, buffer, "copy", chosen.get(buffer))
            for name, child in zip(self._wholes(), self.children, strict=True):
                yield self._edge("copy", name, f"c{child}.recv_whole", away=True)
            source, buffer = "copy", "kept"
        yield self._edge(source, buffer, self.store.name, chosen.get(buffer))

    def reducing(self) -> Iterator[str]:
        """Names of the stages that the chip has for the reduction."""
        if self.children:
            yield from (self.name(f"recv_{index}") for index in range(len(self.children)))
            yield self.name("fold")

    def broadcasting(self) -> Iterator[str]:
        """Names of the stages that the chip has for sending the whole sum to all."""
        if not self.is_home:
            yield self.name("recv_whole")
        if self.copies:
            yield self.name("copy")

    def _wholes(self) -> tuple[str, ...]:
        return tuple(f"whole_{index}" for index in range(len(self.children)))

    def _leaves(self, name: str) -> bool:
        """Whether a sum goes to the parent."""
        return not self.is_home and name == self.total

    def _sum_of(self, contributions: tuple[int, ...]) -> Partial | Replicate:
        assert self.member is not None
        whole = len(contributions) == len(self.member.group)
        return Replicate() if whole else Partial(contributions)
