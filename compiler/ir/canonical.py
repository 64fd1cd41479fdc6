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
from compiler.ir.collective import COLLECTIVE_KINDS, Collective
from compiler.ir.edge import Edge
from compiler.ir.graph import Graph, operands_of
from compiler.ir.layout import Layout, Partial
from compiler.ir.stage import KINDS, Stage
from compiler.ir.tensor import Tensor

if TYPE_CHECKING:
    from compiler.ir.program import Program

Key = tuple[Any, ...]


def in_canonical_order(program: "Program") -> "Program":
    """The same program in the canonical order; itself, if it is in that order.

    Values come as the operations take and make them, tensors by value and chip. Stages are sorted
    by chip, kind and name, and all that belongs to a stage as the stages are: buffers, edges,
    links, times. Numbers in names count as numbers. Nothing is assumed of the program but its
    types, so a broken one stays as broken as it is.
    """
    graph = _sorted_graph(program.graph)
    value = _Places(record.name for record in graph.values)
    stages = sorted(program.stages, key=_stage_key)

    def tensor_key(tensor: Tensor) -> Key:
        return value[tensor.value], tensor.chip, natural(tensor.name)

    tensors = sorted(program.tensors, key=tensor_key)
    stage = _Places(record.name for record in stages)
    filled = _Places(name for record in stages for name in record.outs)
    buffers = sorted(map(_sorted_sums, program.buffers), key=lambda held: filled[held.name])

    def edge_key(edge: Edge) -> Key:
        ends = stage[edge.source], filled[edge.buffer], stage[edge.destination]
        return *ends, natural(edge.name)

    edges = sorted(program.edges, key=edge_key)
    carried = _Places(edge.link for edge in edges if edge.link is not None)
    owner = _Places(record.name for record in (*tensors, *buffers))
    lists: dict[str, list[Any]] = {
        "tensors": tensors,
        "stages": stages,
        "buffers": buffers,
        "edges": edges,
        "links": sorted(program.links, key=lambda link: carried[link.name]),
        "collectives": sorted(
            (_sorted_collective(collective, stage) for collective in program.collectives),
            key=_collective_key,
        ),
        "memory": sorted(
            program.memory, key=lambda p: (owner[p.owner], p.chip, p.address, p.size_bytes)
        ),
    }
    changes: dict[str, Any] = {name: tuple(records) for name, records in lists.items()}
    changes["graph"] = graph
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
    chip = -1 if stage.chip is None else stage.chip
    return chip, KINDS.index(type(stage.kind)), natural(stage.name)


def _sorted_graph(graph: Graph) -> Graph:
    """The graph with its values in the order in which operations name them."""
    named = _Places(
        name
        for operation in graph.operations
        for name in (*operands_of(operation), operation.output)
    )
    values = tuple(sorted(graph.values, key=lambda value: named[value.name]))
    return graph if values == graph.values else replace(graph, values=values)


def _sorted_sums(buffer: Buffer) -> Buffer:
    """A buffer whose sums list what they hold from the first contribution to the last."""
    holds = tuple(map(_sorted_layout, buffer.holds))
    return buffer if holds == buffer.holds else replace(buffer, holds=holds)


def _sorted_layout(layout: Layout) -> Layout:
    return tuple(
        Partial(tuple(sorted(placement.of))) if isinstance(placement, Partial) else placement
        for placement in layout
    )


def _collective_key(collective: Collective) -> Key:
    kinds = (*COLLECTIVE_KINDS, collective.kind)
    return kinds.index(collective.kind), natural(collective.name)


def _sorted_collective(collective: Collective, stage: _Places) -> Collective:
    return replace(
        collective,
        chips=tuple(sorted(collective.chips)),
        stages=tuple(sorted(collective.stages, key=stage.__getitem__)),
    )
