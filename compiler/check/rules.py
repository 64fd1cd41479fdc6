"""Obligations that are rules of the program representation."""

from collections import Counter
from collections.abc import Callable, Iterator

from compiler.errors import ValidationError
from compiler.ir.certificate import Obligation
from compiler.ir.graph import Matmul
from compiler.ir.program import Program
from compiler.ir.stage import Recv
from compiler.validate import check_meaning, check_structure
from compiler.validate.capacity import check_capacity, check_chips, owners
from compiler.validate.link_kinds import check_kinds_of_links
from compiler.validate.locality import check_handoffs, check_landing, check_links
from compiler.validate.machine import check_machine
from compiler.validate.types import check_types


def well_formed(program: Program) -> Obligation:
    """Names, ports, pairing of buffers."""
    return _ruled(
        "well formed",
        "Names are names, unique and known, stages have the ports of their kind, buffers are "
        "paired, and what has a size has one that is within the limits.",
        lambda: check_structure(program),
        (("stages", len(program.stages)), ("buffers", len(program.buffers))),
    )


def meaning(program: Program) -> Obligation:
    """Declared layouts, shapes, orientations and orders."""

    def check() -> None:
        for product in program.graph.operations:
            if isinstance(product, Matmul) and product.order is None:
                why = f"the order of the loops over the tiles of {product.output!r} is not said"
                raise ValidationError("LoopOrder", product.output, why)
        check_meaning(program)

    return _ruled(
        "layout",
        "What each buffer is declared to hold is what it holds, and no partial sum is stored.",
        check,
        tuple(Counter(_placements(program)).items()),
    )


def _placements(program: Program) -> Iterator[str]:
    for buffer in program.buffers:
        for layout in buffer.holds:
            yield from (type(placement).__name__ for placement in layout)


def landing(program: Program) -> Obligation:
    """Every edge between chips ends in a Recv."""
    unplaced = [record.name for record in (*program.stages, *program.buffers) if not record.site]
    crossing = sum(not unplaced and program.crosses(edge) for edge in program.edges)
    receives = sum(isinstance(stage.kind, Recv) for stage in program.stages)

    def check() -> None:
        check_sited(program)
        check_landing(program)

    return _ruled(
        "landing",
        "Every edge between chips ends in a Recv that writes a buffer of its own chip.",
        check,
        (("edges between chips", crossing), ("receives", receives)),
    )


def check_shown(program: Program) -> None:
    """Check that a program can be printed: it is a graph, and all of it is placed on its chips.

    Raises
    ------
    ValidationError
        For the first rule that is broken.
    """
    check_structure(program)
    check_sited(program)
    check_landing(program)
    check_chips(program)


def check_sited(program: Program) -> None:
    """Every stage and buffer has a site."""
    for record in (*program.stages, *program.buffers):
        if record.site is None:
            raise ValidationError("NoSite", record.name, f"{record.name!r} has no site")


def handoffs(program: Program) -> Obligation:
    """Every hand-off fits and is provided, and every edge between chips has its link."""
    spelled = Counter(type(edge.handoff).__name__ for edge in program.edges)

    def check() -> None:
        placed = {stage.name for stage in program.stages if stage.site is not None}
        for edge in program.edges:
            if edge.handoff is None:
                raise ValidationError("NoHandoff", edge.name, f"edge {edge.name!r} has no hand-off")
            if edge.via:
                raise ValidationError(
                    "ViaOpen",
                    edge.name,
                    f"edge {edge.name!r} is to pass chip {edge.via[0]}, where nothing receives it "
                    f"and sends it on",
                )
            is_placed = {edge.source, edge.destination} <= placed
            if edge.link is None and is_placed and program.crosses(edge):
                raise ValidationError(
                    "NoLink", edge.name, f"edge {edge.name!r} between two chips has no link"
                )
        check_handoffs(program, program.target)
        check_links(program)

    return _ruled(
        "hand-offs",
        "Every edge's hand-off fits the way that its data travels, and the target provides it.",
        check,
        tuple(sorted(spelled.items())),
    )


def capacity(program: Program) -> Obligation:
    """Element types, links, and memory, engines and link ports of every chip."""
    used = Counter[int]()
    for (_, chip), size in owners(program).items():
        used[chip] += size
    ports = Counter[int]()
    for link in program.links:
        ports.update((link.source_chip, link.destination_chip))
    most_ports = max(ports.values(), default=0)

    def check() -> None:
        check_types(program)
        check_kinds_of_links(program, program.target)
        check_capacity(program, program.target)
        check_machine(program)
        if not program.memory:
            raise ValidationError("MemoryMap", program.name, "the program has no memory map")
        if program.tile != program.target.tile:
            raise ValidationError(
                "TileUnit",
                program.name,
                f"the program multiplies tiles of {program.tile}, but target "
                f"{program.target.name!r} has tile units of {program.target.tile}",
            )
        for stage in program.stages:
            if stage.engine is None:
                raise ValidationError("NoEngine", stage.name, f"{stage.name!r} has no engine")

    return _ruled(
        "capacity",
        "Every chip can be built: tensors and buffers fit its memory, engines and link ports "
        "suffice, links are of a kind that the target has, and the machine computes with every "
        "element's type.",
        check,
        (
            ("most bytes of a chip", max(used.values(), default=0)),
            ("bytes that a chip has", program.target.memory_bytes),
            ("most link ends of a chip", most_ports),
            ("link ports of a chip", program.target.link_ports),
        ),
    )


def _ruled(
    name: str,
    statement: str,
    check: Callable[[], None],
    evidence: tuple[tuple[str, int | str], ...],
) -> Obligation:
    try:
        check()
    except ValidationError as error:
        return Obligation(name, statement, evidence, (str(error),))
    return Obligation(name, statement, evidence)
