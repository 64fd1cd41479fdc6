"""Which chips of a program are the same hardware."""

from dataclasses import fields
from typing import Any

from compiler.flow.counts import page_counts
from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import Stage
from compiler.ir.tensor import Tensor
from hw.link_ports import landing_pages, link_of, receiver_port, sender_port
from hw.names import local_name


def distinct_chips(program: Program, *, host: bool = False) -> dict[int, int]:
    """For each chip, the first chip of the program that is the same hardware.

    Two chips are the same hardware if they hold the same stages, buffers, tensors and link ends by
    their names on the chip; what their memories hold does not count. With host ports, chips are
    told how deep the landing buffers are that they send to, so that does not count either.
    """
    first: dict[Any, int] = {}
    counts = page_counts(program)
    return {
        chip: first.setdefault(anatomy(program, chip, counts, host=host), chip)
        for chip in range(program.chip_count)
    }


def anatomy(
    program: Program, chip: int, counts: dict[str, int], *, host: bool = False
) -> tuple[Any, ...]:
    """All that the hardware of a chip is made from, with names as they are on the chip.

    ``counts`` are the pages that pass through each buffer, by :func:`page_counts`.
    """
    program = program.canonical
    view = program.chips[chip]
    return (
        tuple(map(_tensor, view.tensors)),
        tuple(map(_stage, view.stages)),
        tuple((local_name(b.name), b.page, b.depth_pages, b.fall_through) for b in view.buffers),
        tuple(_leaving(program, edge, counts[edge.buffer], host) for edge in view.outgoing),
        tuple(_arriving(program, edge) for edge in view.incoming),
    )


def _tensor(tensor: Tensor) -> tuple[Any, ...]:
    return (
        local_name(tensor.name),
        tensor.role,
        (tensor.row_tiles, tensor.col_tiles),
        tensor.tile,
        tensor.dtype,
        tensor.orientation,
    )


def _stage(stage: Stage) -> tuple[Any, ...]:
    kind = stage.kind
    facts = {field.name: getattr(kind, field.name) for field in fields(kind)}
    if "tensor" in facts:
        facts["tensor"] = local_name(facts["tensor"])
    if "body" in facts:
        facts["body"] = str(facts["body"])
    return (
        local_name(stage.name),
        type(kind).__name__,
        tuple(facts.items()),
        tuple(map(local_name, stage.ins)),
        tuple(map(local_name, stage.outs)),
    )


def _leaving(program: Program, edge: Edge, pages: int, host: bool) -> tuple[Any, ...]:
    """An edge as the chip sees it that sends: how many pages go, and into what."""
    link = link_of(program, edge)
    return (
        sender_port(edge),
        type(edge.handoff).__name__,
        (link.width_bits, link.flit_cycles),
        pages,
        None if host else landing_pages(program, edge),
    )


def _arriving(program: Program, edge: Edge) -> tuple[Any, ...]:
    """An edge as the chip sees it that receives."""
    width_bits = link_of(program, edge).width_bits
    return receiver_port(edge), type(edge.handoff).__name__, width_bits
