"""One chip of a partitioned program whose pages go by ways of their own: template and switches."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compiler.ir.buffer import Buffer
from compiler.ir.edge import Edge
from compiler.ir.layout import Layout
from compiler.ir.program import Program
from compiler.ir.stage import Load, Map, MatmulTiles, Recv, Stage
from compiler.passes.chip_switches import ChipSwitches
from compiler.passes.chip_template import ChipTemplate
from compiler.passes.page_turns import Turns
from compiler.passes.page_ways import PageWay


@dataclass(frozen=True)
class WayMember:
    """Where a chip stands in a group whose pages go by ways of their own.

    Parameters
    ----------
    group : tuple of int
        Chips of the group, in the order of the axis.
    index : int
        Which of them this one is.
    axis : int
        Which placement of a layout is that of the axis.
    ways : tuple of PageWay
        The way of each page of a round, in the order in which products make them.
    turns : Turns
        What passes over each link in a round.
    """

    group: tuple[int, ...]
    index: int
    axis: int
    ways: tuple[PageWay, ...]
    turns: Turns


class SwitchedParts(ChipTemplate):
    """What one chip holds: the template, renamed, and the switches for pages that pass it.

    Parameters
    ----------
    template, chip, names, layouts
        As for :class:`~compiler.passes.chip_template.ChipTemplate`.
    member : WayMember
        The chip's place in the group that sums.
    """

    def __init__(
        self,
        template: Program,
        chip: int,
        *,
        names: dict[str, str],
        layouts: dict[str, Layout],
        member: WayMember,
    ):
        super().__init__(template, chip, names=names, layouts=layouts, axis=member.axis)
        self.member = member
        maps = [stage.kind for stage in self.maps if isinstance(stage.kind, Map)]
        self.switches = ChipSwitches(
            member.index, member.group, member.ways, member.turns, self.partial, maps
        )
        self.stores = bool(self.switches.stored)

    def stages(self) -> Iterator[Stage]:
        """Copies of the template's, and the switches."""
        for stage in self.template.stages:
            if isinstance(stage.kind, Load | MatmulTiles):
                yield self._copied(stage)
        for joint in self.switches.joints:
            yield self._stage(joint.name, joint.kind, ins=joint.ins, outs=joint.outs)
        if self.stores:
            yield self._copied(self.store, ins=(self.switches.stored,))

    def buffers(self) -> Iterator[Buffer]:
        """What lies between the chip's stages, and what leaves the chip.

        What switches and folds fill can be left at once.
        """
        sums = self.template.buffer_by_name[self.partial]
        leaving = {*self.switches.leaving.values()}
        for buffer in self.template.buffers:
            if buffer.name not in self.switches.streams:
                holds = self._operand_layout(buffer)
                if holds:
                    yield self._buffer(buffer.name, buffer, holds)
        switched = {
            name
            for joint in self.switches.joints
            if not isinstance(joint.kind, Recv)
            for name in joint.outs
        }
        for name, stream in self.switches.streams.items():
            like = sums if name == self.partial else replace(sums, depth=None)
            buffer = self._buffer(name, like, (), leaves=name in leaving)
            holds = tuple(map(self._sum_layout, stream.holds))
            yield replace(buffer, holds=holds, fall_through=name in switched)

    def edges(self) -> Iterator[Edge]:
        """The edges that leave the chip's stages."""
        for edge in self.template.edges:
            if edge.destination == self.product.name:
                yield self._edge(edge.source, edge.buffer, self.product.name, edge.handoff)
        filler = {self.partial: self.product.name}
        filler |= {name: joint.name for joint in self.switches.joints for name in joint.outs}
        for joint in self.switches.joints:
            for name in joint.ins:
                yield self._edge(filler[name], name, joint.name, label=name)
        for to, name in self.switches.leaving.items():
            receiver = f"c{self.member.group[to]}.recv_c{self.chip}"
            yield self._edge(filler[name], name, receiver, away=True)
        if self.stores:
            name = self.switches.stored
            yield self._edge(filler[name], name, self.store.name, label=name)

    def taking_part(self) -> Iterator[str]:
        """Names of the stages that the chip has for the collective."""
        return map(self.name, self.switches.taking_part())
