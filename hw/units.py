"""The component of each kind of stage, and its ports: the one place that knows them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from amaranth.lib import wiring

from compiler.ir.buffer import Buffer
from compiler.ir.stage import (
    Copy,
    Fold,
    Load,
    Map,
    MatmulTiles,
    Merge,
    Recv,
    Split,
    Stage,
    StageKind,
    Store,
)
from hw.copy_unit import CopyUnit
from hw.fold_unit import FoldUnit
from hw.interfaces import beat_layout
from hw.load_unit import LoadUnit
from hw.merge_unit import MergeUnit
from hw.multiplier.plan import MultiplierPlan
from hw.recv_unit import RecvUnit
from hw.split_unit import SplitUnit
from hw.store_unit import StoreUnit
from hw.tile_unit import TileUnit


@dataclass(frozen=True)
class Surroundings:
    """What a stage meets on its chip.

    Parameters
    ----------
    ins, outs : tuple of Buffer
        Buffers that it takes from and fills, in the order of its ports.
    memory_words : int
        Depth of the memory of its tensor; 0 if it has none.
    multipliers : MultiplierPlan or None
        What tile units multiply with.
    """

    ins: tuple[Buffer, ...]
    outs: tuple[Buffer, ...]
    memory_words: int = 0
    multipliers: MultiplierPlan | None = None


@dataclass(frozen=True)
class UnitKind:
    """How a kind of stage is built, and how it is joined to what is around it.

    Parameters
    ----------
    build : callable
        Makes the component.
    ins, outs : tuple of str
        Ports in the order of the stage's ``ins`` and ``outs``: streams, or arrays of them.
    memory : str
        Port of the tensor's memory that the unit's ``memory`` is joined to, if it has one.
    waits_for_room : bool
        Whether it holds a beat until the buffer has room. If not, room is kept account of
        elsewhere, and what comes without it is lost.
    """

    build: Callable[[Any, Surroundings], wiring.Component]
    ins: tuple[str, ...] = ()
    outs: tuple[str, ...] = ()
    memory: str = ""
    waits_for_room: bool = True

    def streams_in(self, unit: wiring.Component) -> tuple[Any, ...]:
        """The streams that buffers feed, in the order of the stage's ``ins``."""
        return tuple(_streams(unit, self.ins))

    def streams_out(self, unit: wiring.Component) -> tuple[Any, ...]:
        """The streams that fill buffers, in the order of the stage's ``outs``."""
        return tuple(_streams(unit, self.outs))

    def stalling(self, unit: wiring.Component) -> tuple[Any, ...]:
        """The streams on which a beat may have to wait."""
        streams = self.streams_in(unit) + self.streams_out(unit)
        return tuple(each for each in streams if not each.signature.always_ready)


def _streams(unit: wiring.Component, ports: tuple[str, ...]) -> Iterator[Any]:
    for name in ports:
        port = getattr(unit, name)
        yield from port if isinstance(port, list | tuple) else (port,)


def _load(kind: Load, around: Surroundings) -> LoadUnit:
    (page,) = (buffer.page for buffer in around.outs)
    assert kind.walk is not None
    return LoadUnit(
        beat_layout(page),
        walk=kind.walk,
        page_beats=page.beats,
        depth_words=around.memory_words,
    )


def _store(kind: Store, around: Surroundings) -> StoreUnit:
    (page,) = (buffer.page for buffer in around.ins)
    assert kind.walk is not None
    return StoreUnit(
        beat_layout(page),
        walk=kind.walk,
        page_beats=page.beats,
        depth_words=around.memory_words,
    )


def _matmul(kind: MatmulTiles, around: Surroundings) -> TileUnit:
    (result,) = around.outs
    assert kind.block_count is not None
    assert result.depth_pages is not None
    return TileUnit(
        beat_layout(around.ins[0].page),
        beat_layout(result.page),
        block_count=kind.block_count,
        result_pages=result.depth_pages,
        multipliers=around.multipliers,
    )


def _fold(kind: Fold | Map, around: Surroundings) -> FoldUnit:
    return FoldUnit(beat_layout(around.outs[0].page), body=kind.body)


def _recv(_: Recv, around: Surroundings) -> RecvUnit:
    return RecvUnit(beat_layout(around.outs[0].page))


def _copy(_: Copy, around: Surroundings) -> CopyUnit:
    return CopyUnit(beat_layout(around.ins[0].page), outputs=len(around.outs))


def _merge(kind: Merge, around: Surroundings) -> MergeUnit:
    page = around.outs[0].page
    return MergeUnit(
        beat_layout(page), inputs=len(around.ins), turns=kind.turns, page_beats=page.beats
    )


def _split(kind: Split, around: Surroundings) -> SplitUnit:
    page = around.ins[0].page
    return SplitUnit(
        beat_layout(page), outputs=len(around.outs), turns=kind.turns, page_beats=page.beats
    )


UNITS: dict[type[StageKind], UnitKind] = {
    Load: UnitKind(_load, outs=("o",), memory="load"),
    MatmulTiles: UnitKind(_matmul, ins=("a", "b"), outs=("c",), waits_for_room=False),
    Recv: UnitKind(_recv, outs=("o",), waits_for_room=False),
    Fold: UnitKind(_fold, ins=("i",), outs=("o",)),
    Map: UnitKind(_fold, ins=("i",), outs=("o",)),
    Copy: UnitKind(_copy, ins=("i",), outs=("o",)),
    Merge: UnitKind(_merge, ins=("i",), outs=("o",)),
    Split: UnitKind(_split, ins=("i",), outs=("o",)),
    Store: UnitKind(_store, ins=("i",), memory="store"),
}
"""The hardware of each kind of stage."""


def unit_kind(stage: Stage) -> UnitKind:
    """How a stage is built and joined."""
    return UNITS[type(stage.kind)]
