"""Which chips of a program are the same hardware."""

from dataclasses import astuple, replace
from typing import Any

from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import Load, Stage, Store
from hw.names import local_name


def distinct_chips(program: Program, *, host: bool = False) -> dict[int, int]:
    """For each chip, the first chip of the program that is the same hardware.

    Two chips are the same hardware if they hold the same stages, buffers, tensors and link ends by
    their names on the chip; what their memories hold does not count. With host ports, chips are
    told how deep the landing buffers are that they send to, so that does not count either.
    """
    first: dict[Any, int] = {}
    return {
        chip: first.setdefault(anatomy(program, chip, host=host), chip)
        for chip in range(program.chip_count)
    }


def anatomy(program: Program, chip: int, *, host: bool = False) -> tuple[Any, ...]:
    """All that the hardware of a chip is made from, with names as they are on the chip."""
    program = program.canonical
    stages = [s for s in program.stages if s.site is not None and s.site.chip == chip]
    here = {stage.name for stage in stages}
    return (
        tuple(
            (local_name(t.name), t.role, t.page_count, t.tile, t.dtype, t.row_tiles, t.col_tiles)
            for t in program.tensors
            if t.chip == chip
        ),
        tuple(_stage(stage) for stage in stages),
        tuple(
            (local_name(b.name), b.page, b.depth_pages)
            for b in program.buffers
            if b.site is not None and b.site.chip == chip
        ),
        tuple(_edge(program, e, here, host) for e in program.edges if _touches(e, here)),
    )


def _stage(stage: Stage) -> tuple[Any, ...]:
    kind = stage.kind
    if isinstance(kind, Load | Store):
        kind = replace(kind, tensor=local_name(kind.tensor))
    return (
        local_name(stage.name),
        type(kind).__name__,
        astuple(kind),
        str(getattr(kind, "body", "")),
        tuple(map(local_name, stage.ins)),
        tuple(map(local_name, stage.outs)),
    )


def _touches(edge: Edge, here: set[str]) -> bool:
    return edge.source in here or edge.destination in here


def _edge(program: Program, edge: Edge, here: set[str], host: bool) -> tuple[Any, ...]:
    """One edge as its end on this chip sees it."""
    leaves, arrives = edge.source in here, edge.destination in here
    landing = program.stage_by_name[edge.destination].outs
    links = [program.link_by_name[name] for name in edge.route or ()]
    depth = [program.buffer_by_name[name].depth_pages for name in landing] if links else []
    if host and leaves:
        depth = []
    return (
        local_name(edge.source) if leaves else "",
        local_name(edge.buffer) if leaves else "",
        local_name(edge.destination) if arrives else "",
        type(edge.handoff).__name__,
        tuple((link.width_bits, link.flit_cycles if leaves else None) for link in links),
        tuple(depth),
        program.buffer_by_name[edge.buffer].page,
    )
