"""Programs with the records of every list without an order in another order."""

import random
from dataclasses import replace
from typing import Any

from compiler.ir.distribution import Partial

from compiler.ir.buffer import Buffer
from compiler.ir.collective import Collective
from compiler.ir.program import Program

UNORDERED = {
    "Program": (
        "tensors",
        "stages",
        "buffers",
        "edges",
        "semaphores",
        "links",
        "collectives",
        "trips",
        "memory",
    ),
    "Target": ("handoffs", "link_kinds"),
    "Collective": ("chips", "stages"),
    "Requires": ("handoffs",),
    "Schedule": ("timings",),
    "Partial": ("contributions",),
}
"""Lists that have no order, by the record that holds them."""
ORDERED = {
    "Stage": ("ins", "outs"),
    "Edge": ("route",),
    "Walk": ("loops",),
    "Tensor": ("pad",),
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
            items = list(changes.get(name, getattr(record, name)) or ())
            rng.shuffle(items)
            if getattr(record, name) is not None:
                changes[name] = tuple(items)
        return replace(record, **changes)

    def buffer_of(buffer: Buffer) -> Buffer:
        held = buffer.distribution
        if not isinstance(held, Partial):
            return buffer
        return replace(buffer, distribution=shuffled(held))

    collectives: tuple[Collective, ...] = tuple(map(shuffled, program.collectives))
    return shuffled(
        program,
        buffers=tuple(map(buffer_of, program.buffers)),
        collectives=collectives,
        target=shuffled(program.target),
        requires=shuffled(program.requires),
        schedule=program.schedule and shuffled(program.schedule),
    )
