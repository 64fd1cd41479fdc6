"""A program as text that a person can read and diff."""

from collections import Counter
from collections.abc import Iterator

from compiler.ir.buffer import Buffer
from compiler.ir.chip_view import ChipView
from compiler.ir.collective import Collective
from compiler.ir.edge import Edge, Semaphore
from compiler.ir.layout import Layout, Partial, Replicate, Shard
from compiler.ir.link_kind import figures
from compiler.ir.program import Program
from compiler.ir.stage import ON_THE_WAY, Load, Stage
from compiler.ir.tensor import Tensor


def to_text(program: Program) -> str:
    """The whole program: what it claims, how it reduces, and per chip all that the chip holds.

    Programs that differ in the order of their records alone give equal text.
    """
    program = program.canonical
    lines = [*_head(program), *_picture(program)]
    for chip in program.chips:
        lines += ["", *_chip(program, chip)]
    if program.links:
        lines += ["", "links", *_links(program)]
    return "\n".join(lines) + "\n"


def _head(program: Program) -> Iterator[str]:
    yield f"program {program.name}"
    yield from _claim(program)
    chips = _count(program.chip_count, "chip")
    mesh = f" in a mesh {program.mesh}" if len(program.mesh.axes) > 1 else ""
    yield f"  target {program.target.name}, tile {program.tile}, {chips}{mesh}"
    product = program.graph.product
    if product is not None and product.map:
        yield f"  each element of {product.output} is then mapped by {product.map}"
    yield from _layouts(program)
    handoffs = {type(edge.handoff).__name__ for edge in program.edges if edge.handoff}
    if handoffs:
        ports = _count(_most_ports(program), "link port")
        yield f"  requires {', '.join(sorted(handoffs))}; {ports} at a chip"
    yield from _work(program)
    if program.schedule:
        schedule = program.schedule
        yield (
            f"  predicted {schedule.cycles} cycles, ideal {schedule.ideal_cycles}, "
            f"bound by {schedule.bound}"
        )


def _claim(program: Program) -> Iterator[str]:
    """What the program says that it computes."""
    numerics, moved = program.numerics, program.graph.redistribution
    if moved is not None:
        made = program.graph.value_by_name[moved.output]
        does = "is"
        if moved.combine is not None:
            slices = program.mesh.size(moved.axis)
            does = f"is the {moved.combine} of {slices} slices of"
        yield f"  {made.name} ({made.rows} x {made.cols}, {numerics.total}) {does} {moved.input}"
        return
    claim = program.claim
    left, right = (program.graph.value_by_name[name] for name in (claim.left, claim.right))
    pads = {"m": left.pad[0], "n": right.pad[1], "k": claim.k_pad}
    told = ", ".join(f"{dim} padded with {count} zeros" for dim, count in pads.items() if count)
    padded = f" ({told})" if told else ""
    yield (
        f"  {claim.output} ({claim.m} x {claim.n}) = {claim.left} ({claim.m} x {claim.k}) . "
        f"{claim.right} ({claim.k} x {claim.n}), {numerics.operand} to {numerics.total}{padded}"
    )


def _layouts(program: Program) -> Iterator[str]:
    """How values are spread, where that is not one contraction axis over all chips."""
    if len(program.mesh.axes) == 1 and not any(
        isinstance(placement, Shard) and placement.dim != "k"
        for value in program.graph.values
        for placement in value.layout
    ):
        return
    for value in program.graph.values:
        spread = ", ".join(
            f"{placement} along {axis}"
            for axis, placement in zip(program.mesh.names, value.layout, strict=True)
        )
        yield f"  {value.name}: {spread}"


def _most_ports(program: Program) -> int:
    ends = Counter(
        end for link in program.links for end in (link.source_chip, link.destination_chip)
    )
    return max(ends.values(), default=0)


def _work(program: Program) -> Iterator[str]:
    """What the chips make, once the loops are chosen: those that do alike in one line."""
    product = program.graph.product
    order = None if product is None else product.order
    if order is None:
        return
    plans: dict[tuple[int, int, int], list[int]] = {}
    for chip in program.chips:
        for plan in _plans(program, chip):
            plans.setdefault(plan, []).append(chip.chip)
    for (rows, cols, blocks), chips in plans.items():
        who = "each chip" if len(plans) == 1 else _chips(chips)
        yield (
            f"  {who}: {rows} x {cols} result tiles in order {order}, "
            f"{_count(blocks, 'block')} of the contraction each"
        )


def _chips(chips: list[int]) -> str:
    numbers = ", ".join(map(str, chips))
    return f"chip {numbers}" if len(chips) == 1 else f"chips {numbers}"


def _plans(program: Program, chip: ChipView) -> Iterator[tuple[int, int, int]]:
    """Rows and columns of result tiles, and blocks of the contraction, of a chip's products."""
    loaded = {
        stage.outs[0]: program.tensor_by_name[stage.kind.tensor]
        for stage in chip.stages
        if isinstance(stage.kind, Load)
    }
    for product in chip.products:
        left, right = (loaded.get(name) for name in product.ins)
        if left is not None and right is not None:
            yield left.row_tiles, right.col_tiles, left.col_tiles


def _picture(program: Program) -> Iterator[str]:
    """Who sends to whom, drawn as a tree with the home at the root, or as a ring.

    What passes other chips on its way, or shares a link, is drawn hop by hop.
    """
    for collective in program.collectives:
        yield ""
        yield f"{collective.kind} {collective.name} over {len(collective.chips)} chips"
        if collective.home is None or not collective.goes_one_way:
            yield from _by_pages(program, collective)
            continue
        reduces = collective.kind == "reduce"
        stages = {*collective.stages}
        hops: dict[int, list[tuple[int, Edge]]] = {}
        for edge in program.edges:
            if program.crosses(edge) and _leads_to(program, edge, stages):
                ends = _chip_of(program, edge.source), _chip_of(program, edge.destination)
                near, far = reversed(ends) if reduces else ends
                hops.setdefault(near, []).append((far, edge))
        yield f"  chip {collective.home}"
        yield from _branches(program, collective.home, hops)


def _by_pages(program: Program, collective: Collective) -> Iterator[str]:
    """Whom each chip sends pages to, where every page goes its own way."""
    yield f"  {collective.algorithm}; every page goes its own way"
    for chip in collective.chips:
        outgoing = program.chips[chip].outgoing
        others = sorted({_chip_of(program, edge.destination) for edge in outgoing})
        within = [str(other) for other in others if other in collective.chips]
        if within:
            yield f"  chip {chip} -> {', '.join(within)}"


def _leads_to(program: Program, edge: Edge, stages: set[str]) -> bool:
    """Whether pages of an edge come to one of these stages, past nothing but ways there."""
    waiting, seen = [edge.destination], set[str]()
    while waiting:
        name = waiting.pop()
        if name in stages:
            return True
        if name not in seen and isinstance(program.stage_by_name[name].kind, ON_THE_WAY):
            seen.add(name)
            waiting += (after.destination for after in program.edges_by_source.get(name, ()))
    return False


def _branches(
    program: Program, home: int, hops: dict[int, list[tuple[int, Edge]]]
) -> Iterator[str]:
    """The hops from the home on, each chip below the one that it exchanges pages with, once."""
    drawn = {home}
    waiting = [(home, "  ", hop, hop is hops[home][-1]) for hop in reversed(hops.get(home, []))]
    while waiting:
        _, indent, (far, edge), last = waiting.pop()
        source = _chip_of(program, edge.source)
        held = _held(program, program.buffer_by_name[edge.buffer], source)
        yield f"{indent}{'`' if last else '|'}-- chip {far}: {held} -> {edge.destination}"
        if far not in drawn:
            drawn.add(far)
            inner = indent + ("    " if last else "|   ")
            below = hops.get(far, [])
            waiting += [(far, inner, hop, hop is below[-1]) for hop in reversed(below)]


def _chip(program: Program, chip: ChipView) -> Iterator[str]:
    yield f"chip {chip.chip}"
    yield from _section("tensors", [_tensor(program, tensor) for tensor in chip.tensors])
    yield from _section("stages", [_stage(stage) for stage in chip.stages])
    yield from _section("buffers", [_buffer(program, buffer, chip.chip) for buffer in chip.buffers])
    here = {stage.name for stage in chip.stages}
    edges = [edge for edge in program.edges if edge.source in here]
    yield from _section("hand-offs", [_edge(program, edge) for edge in edges])


def _section(title: str, rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Rows in aligned columns."""
    if not rows:
        return
    yield f"  {title}"
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield ("    " + "  ".join(cells)).rstrip()


def _tensor(program: Program, tensor: Tensor) -> tuple[str, ...]:
    return (
        tensor.name,
        f"{tensor.role} {tensor.rows} x {tensor.cols} {tensor.dtype}",
        f"in [{tensor.value_range.low}, {tensor.value_range.high}]",
        _standing(program, tensor),
    )


def _standing(program: Program, tensor: Tensor) -> str:
    """Which part of its value a tensor is."""
    value = program.graph.value_by_name[tensor.value]
    spans = [
        f"{name} {begin} to {begin + extent - 1}"
        for name, begin, extent, whole in (
            ("rows", tensor.part.row, tensor.rows, value.padded_rows),
            ("cols", tensor.part.col, tensor.cols, value.padded_cols),
        )
        if extent != whole
    ]
    return f"{', '.join(spans)} of {tensor.value}" if spans else "whole"


def _stage(stage: Stage) -> tuple[str, ...]:
    flow = " -> ".join(filter(None, (", ".join(stage.ins), ", ".join(stage.outs))))
    return stage.name, str(stage.kind), f"{stage.site} {stage.engine or 'unplaced'}", flow


def _buffer(program: Program, buffer: Buffer, chip: int) -> tuple[str, ...]:
    depth = _count(buffer.depth_pages, "page") if buffer.depth_pages else "no depth yet"
    through = " to fall through" if buffer.fall_through else ""
    return (
        buffer.name,
        f"{buffer.kind} {depth}{through}",
        f"of {buffer.page}",
        _held(program, buffer, chip),
    )


def _held(program: Program, buffer: Buffer, chip: int) -> str:
    """What a buffer of a chip holds, in words."""
    return "; ".join(dict.fromkeys(_layout(program, layout, chip) for layout in buffer.holds))


def _layout(program: Program, layout: Layout, chip: int) -> str:
    """What a chip has of a value that is spread like this."""
    mesh = program.mesh
    coordinates = mesh.coordinates(chip)
    words: list[str] = []
    for axis, index, placement in zip(mesh.axes, coordinates, layout, strict=True):
        along = f" on {axis.name}" if len(mesh.axes) > 1 else ""
        match placement:
            case Replicate():
                pass
            case Shard(dim):
                words.append(f"slice {index} of {axis.size} along {dim}{along}")
            case Partial():
                words.append(f"{placement} of {axis.size}{along}")
            case _:
                words.append(f"{placement}{along}")
    return ", ".join(words) or "whole"


def _edge(program: Program, edge: Edge) -> tuple[str, ...]:
    handoff = type(edge.handoff).__name__ if edge.handoff else "no hand-off yet"
    if isinstance(edge.handoff, Semaphore):
        handoff += f" {edge.handoff.ready} {edge.handoff.valid}"
    if edge.via:
        way = f"past {_chips(list(edge.via))}"
    elif edge.link:
        way = f"over {edge.link}"
    else:
        way = "no link yet" if program.crosses(edge) else "inside the site"
    return f"{edge.source} -> {edge.destination}", f"{edge.buffer}", handoff, way


def _links(program: Program) -> Iterator[str]:
    for link in program.links:
        yield f"  {link.name}  {figures(link)}"


def _chip_of(program: Program, stage: str) -> int:
    chip = program.stage_by_name[stage].chip
    assert chip is not None
    return chip


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
