"""Names: each is one by the grammar, and none becomes another's in hardware or among files."""

from collections.abc import Iterable, Iterator

from compiler.errors import ValidationError
from compiler.ir.edge import Barrier, Semaphore
from compiler.ir.graph import Redistribute, operands_of
from compiler.ir.layout import Layout, Shard
from compiler.ir.limits import TEXT_LENGTH
from compiler.ir.names import RULE, hardware_name, is_line, is_name, local_name, quoted
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Recv, Store

CHIP_PARTS = ("activity", "clk", "coordinate", "done", "host", "host_port", "rst", "start")
"""What every chip has beside the parts that the program names."""


def check_names(program: Program) -> None:
    """Every name of the program, and every name that it uses, keeps to the grammar."""
    for what, name in _names(program):
        if not is_name(name):
            raise ValidationError(
                "NameForm", quoted(name), f"{what} {quoted(name)} is no name; it must be {RULE}"
            )
    for what, text in _texts(program):
        if not is_line(text, TEXT_LENGTH):
            raise ValidationError(
                "TextForm",
                quoted(text),
                f"{what} {quoted(text)} must be one line of at most {TEXT_LENGTH} printable "
                f"characters",
            )


def check_distinct_names(program: Program) -> None:
    """Names that differ stay different as identifiers and as files, where case may not count."""
    _distinct((v.name, hardware_name(v.name), "value") for v in program.graph.values)
    _distinct((t.name, hardware_name(t.name), "tensor") for t in program.tensors)
    _distinct((x.name, hardware_name(x.name), "link") for x in program.links)
    _distinct((x.name, hardware_name(x.name), "collective") for x in program.collectives)
    for parts in _parts(program).values():
        _distinct(parts)


def _distinct(parts: Iterable[tuple[str, str, str]]) -> None:
    """``parts`` are a name of the program, what it becomes, and what bears it."""
    first: dict[str, tuple[str, str]] = {}
    for name, becomes, what in parts:
        before, kind = first.setdefault(becomes.lower(), (name, what))
        if (before, kind) != (name, what):
            raise ValidationError(
                "NameCollision",
                name,
                f"{what} {name!r} and {kind} {before!r} both become {becomes!r}; rename one",
            )


def _parts(program: Program) -> dict[int, list[tuple[str, str, str]]]:
    """By chip, what is built of the program: whose it is, the name that it gets, and its kind."""
    chips: dict[int, list[tuple[str, str, str]]] = {}

    def add(chip: int, name: str, kind: str, *forms: str) -> None:
        local = local_name(name)
        here = chips.setdefault(chip, [(part, part, "part") for part in CHIP_PARTS])
        here += [(name, form.format(local), kind) for form in forms]

    for tensor in program.tensors:
        add(tensor.chip, tensor.name, "tensor", "memory_{}", "read_{}", "write_{}")
    for stage in program.stages:
        if stage.site is None:
            continue
        forms = ["{}", "{}_stalled"]
        if isinstance(stage.kind, MatmulTiles):
            forms += ["{}_active", "{}_active_count", "{}_active_last"]
        if isinstance(stage.kind, Recv):
            forms += ["{}_receiver", "{}_link"]
        add(stage.site.chip, stage.name, "stage", *forms)
    leaving = {edge.buffer for edge in program.edges if edge.link is not None}
    for buffer in program.buffers:
        if buffer.site is not None:
            sends = ("{}_transmitter", "{}_link", "{}_link_credits", "{}_link_beats")
            forms = ("{}", *(sends if buffer.name in leaving else ()))
            add(buffer.site.chip, buffer.name, "buffer", *forms)
    return chips


def _names(program: Program) -> Iterator[tuple[str, str]]:
    """Every name in the program, with what bears or uses it."""
    yield "the program", program.name
    yield "its target", program.target.name
    for value in program.graph.values:
        yield "value", value.name
    for operation in program.graph.operations:
        for name in (*operands_of(operation), operation.output):
            yield "a matrix of an operation", name
    for tensor in program.tensors:
        yield "tensor", tensor.name
        yield "the value of a tensor", tensor.value
    for stage in program.stages:
        yield "stage", stage.name
        yield from (("a buffer of a stage", name) for name in (*stage.ins, *stage.outs))
        if isinstance(stage.kind, Load | Store):
            yield "the tensor of a stage", stage.kind.tensor
    for buffer in program.buffers:
        yield "buffer", buffer.name
    for edge in program.edges:
        yield "edge", edge.name
        yield from (("an end of an edge", name) for name in (edge.source, edge.destination))
        yield "the buffer of an edge", edge.buffer
        if edge.link is not None:
            yield "the link of an edge", edge.link
        if isinstance(edge.handoff, Semaphore):
            yield from (("a semaphore", n) for n in (edge.handoff.ready, edge.handoff.valid))
        if isinstance(edge.handoff, Barrier) and edge.handoff.group:
            yield "the group of a barrier", edge.handoff.group
    yield from (("link", link.name) for link in program.links)
    for collective in program.collectives:
        yield "collective", collective.name
        yield "the value of a collective", collective.value
        yield from (("a stage of a collective", name) for name in collective.stages)
    yield from (("an owner of memory", place.owner) for place in program.memory)
    for timing in program.schedule.timings if program.schedule else ():
        yield "a stage of the schedule", timing.stage


def _texts(program: Program) -> Iterator[tuple[str, str]]:
    """All that is text and no name."""
    yield "the description of the target", program.target.description
    for collective in program.collectives:
        yield "the kind of a collective", collective.kind
        yield "the algorithm of a collective", collective.algorithm
        yield "the axis of a collective", collective.axis
    for operation in program.graph.operations:
        if isinstance(operation, Redistribute):
            yield "the axis of a redistribution", operation.axis
            if operation.combine is not None:
                yield "the combination of a redistribution", operation.combine
        elif operation.order is not None:
            yield "the loop order of a product", operation.order.loops
    if program.schedule:
        yield "the bound of the schedule", program.schedule.bound
    types = [program.numerics.operand, program.numerics.total]
    types += [tensor.dtype for tensor in program.tensors]
    types += [buffer.page.dtype for buffer in program.buffers]
    for dtype in types:
        yield "the name of a type", dtype.name
        yield "the kind of a type", dtype.kind
    for value in program.graph.values:
        yield from (("an axis of a value", dim) for dim in value.dims)
        yield from (("an axis of a value", dim) for dim in _cut(value.layout))
    for buffer in program.buffers:
        for layout in buffer.holds:
            yield from (("an axis of a buffer", dim) for dim in _cut(layout))


def _cut(layout: Layout) -> Iterator[str]:
    """Axes of the problem along which something is cut."""
    return (placement.dim for placement in layout if isinstance(placement, Shard))
