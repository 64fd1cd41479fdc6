"""Buffer: choose the depths with which nothing waits for room."""

from dataclasses import dataclass, replace

from compiler.flow.alike import alike
from compiler.flow.components import Component, components
from compiler.flow.stalls import full_buffers
from compiler.ir.buffer import Buffer, Depth
from compiler.ir.choice import Chooser
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Load, Split
from compiler.timing.beat_times import BeatTimes
from compiler.timing.model import TimingModel
from compiler.timing.rates import round_cycles
from compiler.timing.steady_state import follow, unbounded_end

OPERAND_PAGES = 2
"""Depth between a load and what it brings its pages to: a load keeps pace, so two pages only cover
its start. What is dealt out to several may need more, and then gets it."""


def choose_depths(program: Program) -> Program:
    """Give each buffer without a depth one with which the run takes no longer than without limits.

    It is the least one that keeps the steady state at full rate, if every product runs at the pace
    of the slowest part. Where that costs cycles, since a chip that is fast and far from the others
    has to run ahead of them, the buffers in which room is waited for are made deeper until it does
    not. None is deeper than there are pages.
    """
    chosen: dict[str, int] = {}
    for group in alike(program, components(program)):
        first, *others = group
        depths = _Depths(program, first).chosen()
        chosen |= depths
        own = _buffers_of(first)
        for part in others:
            names = zip(_buffers_of(part), own, strict=True)
            chosen |= {name: depths[like] for name, like in names if like in depths}
    return _with_depths(program, chosen)


def _with_depths(program: Program, chosen: dict[str, int]) -> Program:
    """The program with depths for buffers that have none of their own."""

    def decided(buffer: Buffer) -> Buffer:
        if buffer.name not in chosen:
            return buffer
        return replace(buffer, depth=Depth(chosen[buffer.name], by=Chooser.COMPILER))

    return replace(program, buffers=tuple(map(decided, program.buffers)))


def _buffers_of(part: Component) -> list[str]:
    return [name for stage in part.stages for name in stage.outs]


@dataclass
class _Depths:
    """The depths of the buffers of one component."""

    program: Program
    part: Component

    def chosen(self) -> dict[str, int]:
        """Depths of those that have none."""
        program, part = self.program, self.part
        interval, _ = round_cycles(program, part)
        missing = [name for name in _buffers_of(part) if not program.buffer_by_name[name].depth]
        if not missing:
            return {}
        loaded = {
            name for stage in part.stages if isinstance(stage.kind, Load) for name in stage.outs
        }
        brought = {*loaded}
        for stage in part.stages:
            if isinstance(stage.kind, Split | Copy) and brought.issuperset(stage.ins):
                brought.update(stage.outs)
        times = self._paced(interval)
        depths = {
            name: OPERAND_PAGES if name in brought else self._steady(name, times, interval)
            for name in missing
        }
        self._let_pass(depths)
        least = unbounded_end(program, part)
        merges = any(share > 1 for share in part.share.values())
        if merges or unbounded_end(program, part, interval=interval) > least:
            fed = loaded - part.share.keys()
            self._deepen(depths, fed, least, interval)
        return depths

    def _let_pass(self, depths: dict[str, int]) -> None:
        """Make buffers deeper until all pages of a round can pass."""
        own = {**self._set, **depths}
        while full := [name for name in full_buffers(self.program, own) if name in depths]:
            for name in full:
                depths[name] += 1
            own |= depths

    @property
    def _set(self) -> dict[str, int]:
        """Depths that somebody chose."""
        buffers = (self.program.buffer_by_name[name] for name in self.part.share)
        return {each.name: each.depth.pages for each in buffers if each.depth}

    def _paced(self, interval: int) -> BeatTimes:
        """Times with unbounded buffers, if every product takes as long for a round.

        As many rounds are timed as the longest fold can hold pages; in the last of them, each round
        does what the round before it did, one interval later.
        """
        rounds = max(1, *(len(stage.ins) for stage in self.part.stages))
        model = TimingModel(self.program, self.part, rounds, interval=interval, bounded=False)
        return model.solve()

    def _steady(self, name: str, times: BeatTimes, interval: int) -> int:
        """The most slots that are in use at once, one round per interval.

        A slot is from the moment it is promised to the moment its return is known.
        """
        share = self.part.share[name]
        promised, returned = times.promised[name][-share:], times.returned[name][-share:]
        at = promised[:, None]
        in_use = (at - promised) // interval - (at - returned) // interval
        return min(max(1, int(in_use.sum(axis=1).max())), self.part.rounds * share)

    def _deepen(self, depths: dict[str, int], loaded: set[str], least: int, interval: int) -> None:
        """Make buffers deeper until the last beat is stored in the cycle ``least``."""
        part = self.part
        step = 1
        while True:
            followed = follow(_with_depths(self.program, depths), part)
            late = followed.end - least
            if late <= 0:
                return
            short = [
                name
                for name in followed.model.held_up()
                if name in depths
                and name not in loaded
                and depths[name] < part.rounds * part.share[name]
            ]
            if not short:
                return
            for name in short:
                share = part.share[name]
                more = max(step, -(-late * share // interval))
                depths[name] = min(depths[name] + more, part.rounds * share)
            step *= 2
