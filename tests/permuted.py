"""Programs with the records of every list without an order in another order."""

import random
from dataclasses import replace
from typing import Any

from compiler.ir.buffer import Buffer
from compiler.ir.layout import Layout, Partial
from compiler.ir.program import Program

UNORDERED = {
    "Program": (
        "tensors",
        "stages",
        "buffers",
        "edges",
        "links",
        "collectives",
        "memory",
    ),
    "Graph": ("values",),
    "Target": ("handoffs", "link_kinds"),
    "Collective": ("chips", "stages"),
    "Schedule": ("timings",),
    "Partial": ("of",),
}
"""Lists that have no order, by the record that holds them."""
ORDERED = {
    "Mesh": ("axes",),
    "Graph": ("operations",),
    "Value": ("dims", "pad", "layout"),
    "Buffer": ("holds",),
    "Stage": ("ins", "outs"),
    "Merge": ("turns",),
    "Split": ("turns",),
    "Edge": ("via",),
    "Walk": ("loops", "order"),
    "Values": ("values",),
    "FloatValues": ("values",),
    "Certificate": ("obligations",),
    "Obligation": ("evidence", "violations"),
}
"""Lists whose order says something."""


def permuted(program: Program, seed: int) -> Program:
    """``program`` with each list of :data:`UNORDERED` shuffled, also within its records."""
    rng = random.Random(seed)

    def shuffled(record: Any, **changes: Any) -> Any:
        for name in UNORDERED[type(record).__name__]:
            items = list(changes.get(name, getattr(record, name)))
            rng.shuffle(items)
            changes[name] = tuple(items)
        return replace(record, **changes)

    def layout_of(layout: Layout) -> Layout:
        return tuple(
            shuffled(placement) if isinstance(placement, Partial) else placement
            for placement in layout
        )

    def buffer_of(buffer: Buffer) -> Buffer:
        return replace(buffer, holds=tuple(map(layout_of, buffer.holds)))

    return shuffled(
        program,
        buffers=tuple(map(buffer_of, program.buffers)),
        collectives=tuple(map(shuffled, program.collectives)),
        graph=shuffled(program.graph),
        target=shuffled(program.target),
        schedule=program.schedule and shuffled(program.schedule),
    )
