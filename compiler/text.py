"""A program as text that a person can read and diff."""

from collections.abc import Iterator

from compiler.ir.buffer import Buffer
from compiler.ir.edge import Edge, Semaphore
from compiler.ir.link_kind import figures
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Stage, Store
from compiler.ir.tensor import Tensor


def to_text(program: Program) -> str:
    """The whole program: what it claims, how it reduces, and per chip all that the chip holds.

    Programs that differ in the order of their records alone give equal text.
    """
    program = program.canonical
    lines = [*_head(program), *_picture(program)]
    for chip in range(program.chip_count):
        lines += ["", *_chip(program, chip)]
    if program.links:
        lines += ["", "links", *_links(program)]
    return "\n".join(lines) + "\n"


def _head(program: Program) -> Iterator[str]:
    claim, numerics = program.claim, program.numerics
    yield f"program {program.name}"
    padded = f" (k padded with {claim.k_pad} zeros)" if claim.k_pad else ""
    yield (
        f"  {claim.output} ({claim.m} x {claim.n}) = {claim.left} ({claim.m} x {claim.k}) . "
        f"{claim.right} ({claim.k} x {claim.n}), {numerics.operand} to {numerics.total}{padded}"
    )
    chips = _count(program.chip_count, "chip")
    yield f"  target {program.target.name}, tile {program.tile}, {chips}"
    if claim.map:
        yield f"  each element of {claim.output} is then mapped by {claim.map}"
    if program.requires.handoffs:
        ports = _count(program.requires.link_ports, "link port")
        yield f"  requires {', '.join(program.requires.handoffs)}; {ports} at a chip"
    if program.work:
        work = program.work
        yield (
            f"  each chip: {work.m_tiles} x {work.n_tiles} result tiles in order {work.order}, "
            f"{_count(work.k_blocks, 'block')} of the contraction each"
        )
    if program.schedule:
        schedule = program.schedule
        yield (
            f"  predicted {schedule.cycles} cycles, ideal {schedule.ideal_cycles}, "
            f"bound by {schedule.bound}"
        )


def _picture(program: Program) -> Iterator[str]:
    """Who sends its partial sum to whom, drawn as a tree with the home at the root."""
    for collective in program.collectives:
        yield ""
        yield f"{collective.kind} {collective.name} over {len(collective.chips)} chips"
        senders: dict[int, list[Edge]] = {}
        for edge in program.edges:
            if program.crosses(edge):
                senders.setdefault(_chip_of(program, edge.destination), []).append(edge)
        yield f"  chip {collective.home}"
        yield from _branches(program, collective.home, senders, "  ", {collective.home})


def _branches(
    program: Program, chip: int, senders: dict[int, list[Edge]], indent: str, drawn: set[int]
) -> Iterator[str]:
    """What a chip receives, and what each of its senders does. A chip is drawn once."""
    edges = senders.get(chip, [])
    for edge in edges:
        last = edge is edges[-1]
        sender = _chip_of(program, edge.source)
        held = program.buffer_by_name[edge.buffer].distribution
        yield f"{indent}{'`' if last else '|'}-- chip {sender}: {held} -> {edge.destination}"
        if sender not in drawn:
            drawn.add(sender)
            inner = indent + ("    " if last else "|   ")
            yield from _branches(program, sender, senders, inner, drawn)


def _chip(program: Program, chip: int) -> Iterator[str]:
    yield f"chip {chip}"
    yield from _section("tensors", [_tensor(t) for t in program.tensors if t.chip == chip])
    stages = [s for s in program.stages if s.site is not None and s.site.chip == chip]
    yield from _section("stages", [_stage(stage) for stage in stages])
    buffers = [b for b in program.buffers if b.site is not None and b.site.chip == chip]
    yield from _section("buffers", [_buffer(buffer) for buffer in buffers])
    here = {stage.name for stage in stages}
    edges = [edge for edge in program.edges if edge.source in here]
    yield from _section("hand-offs", [_edge(edge) for edge in edges])


def _section(title: str, rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Rows in aligned columns."""
    if not rows:
        return
    yield f"  {title}"
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield ("    " + "  ".join(cells)).rstrip()


def _tensor(tensor: Tensor) -> tuple[str, ...]:
    piece = tensor.slice_of
    return (
        tensor.name,
        f"{tensor.role} {tensor.rows} x {tensor.cols} {tensor.dtype}",
        f"in [{tensor.value_range.low}, {tensor.value_range.high}]",
        f"{piece.axis} slice {piece.index} of {piece.count} of {piece.whole}" if piece else "whole",
    )


def _stage(stage: Stage) -> tuple[str, ...]:
    match stage.kind:
        case Load(tensor, walk):
            what = f"Load {tensor} {walk or 'unwalked'}"
        case Store(tensor, walk):
            what = f"Store {tensor} {walk or 'unwalked'}"
        case MatmulTiles(block_count):
            what = f"MatmulTiles {_count(block_count or 0, 'block')}"
        case Recv():
            what = "Recv"
        case Fold(body):
            what = f"Fold {body}"
        case Map(body):
            what = f"Map {body}"
    flow = " -> ".join(filter(None, (", ".join(stage.ins), ", ".join(stage.outs))))
    return stage.name, what, f"{stage.site} {stage.engine or 'unplaced'}", flow


def _buffer(buffer: Buffer) -> tuple[str, ...]:
    depth = _count(buffer.depth_pages, "page") if buffer.depth_pages else "no depth yet"
    return buffer.name, f"{buffer.kind} {depth}", f"of {buffer.page}", str(buffer.distribution)


def _edge(edge: Edge) -> tuple[str, ...]:
    handoff = type(edge.handoff).__name__ if edge.handoff else "no hand-off yet"
    if isinstance(edge.handoff, Semaphore):
        handoff += f" {edge.handoff.ready} {edge.handoff.valid} x{edge.handoff.ready_count}"
    route = f"over {', '.join(edge.route)}" if edge.route else "inside the site"
    return f"{edge.source} -> {edge.destination}", f"{edge.buffer}", handoff, route


def _links(program: Program) -> Iterator[str]:
    for link in program.links or ():
        yield f"  {link.name}  {figures(link)}"


def _chip_of(program: Program, stage: str) -> int:
    site = program.stage_by_name[stage].site
    assert site is not None
    return site.chip


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
