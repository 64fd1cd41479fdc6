"""The one order for the lists of a program that have none.

Whoever goes through a program takes it in this order, so nothing depends on how its lists happen to
be sorted. It is the order in which the compiler writes them.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from compiler.ir.buffer import Buffer
from compiler.ir.distribution import Partial
from compiler.ir.edge import Edge, Semaphore
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Stage, Store
from compiler.ir.tensor import Tensor

if TYPE_CHECKING:
    from compiler.ir.program import Claim, Collective, Program

Key = tuple[Any, ...]
KINDS = (Load, MatmulTiles, Recv, Fold, Map, Store)
"""Kinds of stages in the order in which data passes them."""


def in_canonical_order(program: "Program") -> "Program":
    """The same program in the canonical order; itself, if it is in that order.

    Stages are sorted by chip, kind and name, and all that belongs to a stage as the stages are:
    buffers, edges, links, times. Operands come by slice. Numbers in names count as numbers. Nothing
    is assumed of the program but its types, so a broken one stays as broken as it is.
    """
    stages = sorted(program.stages, key=_stage_key)
    tensors = sorted(program.tensors, key=lambda tensor: _tensor_key(program.claim, tensor))
    stage = _Places(record.name for record in stages)
    filled = _Places(name for record in stages for name in record.outs)
    moved = _Places(s.kind.tensor for s in stages if isinstance(s.kind, Load | Store))
    buffers = sorted(map(_sorted_sum, program.buffers), key=lambda held: filled[held.name])

    def edge_key(edge: Edge) -> Key:
        ends = stage[edge.source], filled[edge.buffer], stage[edge.destination]
        return *ends, natural(edge.name)

    edges = sorted(program.edges, key=edge_key)
    carried = _Places(name for edge in edges for name in edge.route or ())
    raised = _Places(
        name
        for edge in edges
        if isinstance(edge.handoff, Semaphore)
        for name in (edge.handoff.ready, edge.handoff.valid)
    )
    owner = _Places(record.name for record in (*tensors, *buffers))
    lists: dict[str, list[Any]] = {
        "tensors": tensors,
        "stages": stages,
        "buffers": buffers,
        "edges": edges,
        "semaphores": sorted(program.semaphores, key=raised.__getitem__),
        "collectives": sorted(
            (_sorted_collective(collective, stage) for collective in program.collectives),
            key=lambda collective: natural(collective.name),
        ),
        "trips": sorted(program.trips, key=lambda t: (moved[t.tensor], t.pages, t.times)),
        "memory": sorted(
            program.memory, key=lambda p: (owner[p.owner], p.chip, p.address, p.size_bytes)
        ),
    }
    if program.links is not None:
        lists["links"] = sorted(program.links, key=lambda link: carried[link.name])
    changes: dict[str, Any] = {name: tuple(records) for name, records in lists.items()}
    changes["requires"] = replace(
        program.requires, handoffs=tuple(sorted(program.requires.handoffs))
    )
    if program.schedule is not None:
        timings = sorted(program.schedule.timings, key=lambda t: (stage[t.stage], t.first_beat))
        changes["schedule"] = replace(program.schedule, timings=tuple(timings))
    same = all(records == getattr(program, name) for name, records in changes.items())
    return program if same else replace(program, **changes)


@lru_cache(maxsize=1 << 16)
def natural(name: str) -> Key:
    """A key that sorts names as people do: ``c2`` comes before ``c10``."""
    pieces = re.split("([0-9]+)", name)
    numbers = [digits.lstrip("0") for digits in pieces[1::2]]
    counts = [(len(digits), digits) for digits in (*numbers, "")]
    return (*zip(pieces[::2], counts, strict=True), (name,))


class _Places:
    """Where each name stands first, as a key; names that stand nowhere come last."""

    def __init__(self, names: Iterable[str]):
        self._places: dict[str, int] = {}
        for name in names:
            self._places.setdefault(name, len(self._places))

    def __getitem__(self, name: str) -> Key:
        return self._places.get(name, len(self._places)), natural(name)


def _stage_key(stage: Stage) -> Key:
    chip = -1 if stage.site is None else stage.site.chip
    return chip, KINDS.index(type(stage.kind)), natural(stage.name)


def _tensor_key(claim: "Claim", tensor: Tensor) -> Key:
    piece = tensor.slice_of
    wholes = (claim.left, claim.right, claim.output)
    whole = tensor.name if piece is None else piece.whole
    place = wholes.index(whole) if whole in wholes else len(wholes)
    return place, -1 if piece is None else piece.index, natural(tensor.name)


def _sorted_sum(buffer: Buffer) -> Buffer:
    """A buffer whose sum lists what it holds from the first contribution to the last."""
    held = buffer.distribution
    if not isinstance(held, Partial):
        return buffer
    contributions = tuple(sorted(held.contributions))
    return replace(buffer, distribution=replace(held, contributions=contributions))


def _sorted_collective(collective: "Collective", stage: _Places) -> "Collective":
    return replace(
        collective,
        chips=tuple(sorted(collective.chips)),
        stages=tuple(sorted(collective.stages, key=stage.__getitem__)),
    )
