"""The parts of a program that mutations take hold of, by what they do and not by their names."""

from dataclasses import replace

from compiler.ir.body import Body
from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.edge import Edge
from compiler.ir.graph import Matmul
from compiler.ir.layout import Layout, Placement, Shard
from compiler.ir.program import Collective, Program
from compiler.ir.stage import (
    Copy,
    Engine,
    EngineKind,
    Fold,
    Load,
    Map,
    MatmulTiles,
    Merge,
    Recv,
    Split,
    Stage,
    Store,
)
from compiler.ir.tensor import Tensor
from tests.compiler.programs import changed


def of_kind(program: Program, kind: type) -> list[Stage]:
    """Stages of one kind, in the order of the program."""
    return [stage for stage in program.stages if isinstance(stage.kind, kind)]


def loads(program: Program) -> list[Stage]:
    """By chip, the load of the left operand and that of the right one."""
    return of_kind(program, Load)


def last_product(program: Program) -> Stage:
    """The product of the last chip, which sends its partial sum away if there are several."""
    return of_kind(program, MatmulTiles)[-1]


def store(program: Program) -> Stage:
    """The store of the first chip, which is at home for its group."""
    return of_kind(program, Store)[0]


def feeding(program: Program, stage: Stage) -> Edge:
    """The one edge that ends in a stage."""
    (edge,) = program.edges_by_destination[stage.name]
    return edge


def product_of(program: Program) -> Matmul:
    """The product that the program says it computes."""
    (product,) = program.graph.operations
    return product


def crossings(program: Program) -> list[Edge]:
    """Edges between chips."""
    return [edge for edge in program.edges if program.crosses(edge)]


def leaf_edges(program: Program) -> list[Edge]:
    """Edges that take a product's partial sum straight to where another chip adds it."""
    return [
        edge
        for edge in crossings(program)
        if isinstance(program.stage_by_name[edge.source].kind, MatmulTiles)
        and isinstance(reader(program, edge).kind, Fold)
    ]


def reader(program: Program, edge: Edge) -> Stage:
    """The stage that takes what an edge between chips brings, behind the receive."""
    (landed,) = program.edges_by_source[edge.destination]
    return program.stage_by_name[landed.destination]


def home_fold(program: Program) -> Stage | None:
    """The fold that makes the whole sum."""
    return next(iter(of_kind(program, Fold)), None)


def sums(program: Program) -> list[Buffer]:
    """Buffers that do not hold pages of operands."""
    loaded = {name for stage in loads(program) for name in stage.outs}
    return [buffer for buffer in program.buffers if buffer.name not in loaded]


def reduction(program: Program) -> Collective | None:
    """The first collective that reduces."""
    return next((c for c in program.collectives if c.kind == "reduce"), None)


def broadcast(program: Program) -> Collective | None:
    """The first collective that broadcasts."""
    return next((c for c in program.collectives if c.kind == "broadcast"), None)


def axis_of(program: Program, dim: str) -> int | None:
    """Which axis of the mesh the values are cut along where they run along ``dim``."""
    for value in program.graph.values:
        if Shard(dim) in value.layout:
            return value.layout.index(Shard(dim))
    return None


def beside(program: Program, chip: int, axis: int, index: int) -> int:
    """The chip that differs from another along an axis alone, where it stands at ``index``."""
    coordinates = program.mesh.coordinates(chip)
    return program.mesh.chip((*coordinates[:axis], index, *coordinates[axis + 1 :]))


def operands_on(program: Program, chip: int) -> tuple[Tensor, Tensor]:
    """A chip's parts of the left and of the right operand."""
    product = product_of(program)
    left, right = (
        next(t for t in program.tensors if t.chip == chip and t.value == value)
        for value in (product.left, product.right)
    )
    return left, right


def slices(program: Program, chip: int) -> list[str]:
    """Names of a chip's slices of both operands, if the contraction is cut."""
    if axis_of(program, "k") is None:
        return []
    return [tensor.name for tensor in operands_on(program, chip)]


def placed(layout: Layout, axis: int, placement: Placement) -> Layout:
    """A layout with another placement along one axis."""
    return (*layout[:axis], placement, *layout[axis + 1 :])


def moved(program: Program, name: str, row: int, col: int) -> Program:
    """``program`` with a tensor that is said to begin elsewhere in its value."""
    part = program.tensor_by_name[name].part
    return changed(program, name, part=replace(part, row=row, col=col))


def is_plain(program: Program) -> bool:
    """Whether one axis cuts the contraction, and every sum goes straight to the first chip."""
    return (
        len(program.mesh.axes) == 1
        and axis_of(program, "k") == 0
        and not of_kind(program, Copy)
        and not of_kind(program, Merge)
        and not forwards(program)
        and not is_ring(program)
    )


def is_ring(program: Program) -> bool:
    """Whether sums go round a ring of chips."""
    return any(collective.algorithm == "ring" for collective in program.collectives)


def forwards(program: Program) -> list[Stage]:
    """Receives of what is sent on as it comes."""
    return [
        stage
        for stage in of_kind(program, Recv)
        for edge in program.edges_by_source[stage.name]
        if program.crosses(edge)
    ]


def with_map(program: Program, edge: Edge, body: Body) -> Program:
    """``program`` with a map between the two ends of an edge, on the chip of its source."""
    source = program.stage_by_name[edge.source]
    destination = program.stage_by_name[edge.destination]
    local = next(e.handoff for e in program.edges if not program.crosses(e))
    computing = EngineKind.COMPUTE
    busy = [s for s in program.stages if s.site == source.site and s.kind.engine is computing]
    engine = Engine(computing, len(busy))
    held = program.buffer_by_name[edge.buffer]
    mapped = f"{edge.buffer}.mapped"
    stage = Stage(f"{edge.source}.map", Map(body), (edge.buffer,), (mapped,), source.site, engine)
    program = replace(
        program,
        stages=(*program.stages, stage),
        buffers=(*program.buffers, replace(held, name=mapped)),
        edges=(
            *program.edges,
            Edge(f"{edge.source}->map", edge.source, edge.buffer, stage.name, local),
        ),
    )
    program = changed(program, edge.buffer, kind=BufferKind.FIFO)
    program = changed(program, edge.name, source=stage.name, buffer=mapped)
    if isinstance(destination.kind, Recv):
        return program
    ins = tuple(mapped if name == edge.buffer else name for name in destination.ins)
    return changed(program, destination.name, ins=ins)


def switches(program: Program) -> tuple[Stage, Stage] | None:
    """The merge and the split at the two ends of a link that edges share, if there is one.

    A ring has others, too, which do not come in pairs.
    """
    merges, splits = of_kind(program, Merge), of_kind(program, Split)
    return (merges[0], splits[0]) if merges and not is_ring(program) else None


def exchanged_chips(program: Program, one: int, other: int) -> Program:
    """``program`` with two chips in each other's place, wherever a chip is named."""

    def of(chip: int) -> int:
        return {one: other, other: one}.get(chip, chip)

    def sited(record: Stage | Buffer) -> Stage | Buffer:
        assert record.site is not None
        return replace(record, site=replace(record.site, chip=of(record.site.chip)))

    return replace(
        program,
        tensors=tuple(replace(t, chip=of(t.chip)) for t in program.tensors),
        stages=tuple(map(sited, program.stages)),
        buffers=tuple(map(sited, program.buffers)),
        links=tuple(
            replace(x, source_chip=of(x.source_chip), destination_chip=of(x.destination_chip))
            for x in program.links
        ),
        collectives=tuple(
            replace(c, chips=tuple(map(of, c.chips)), home=of(c.home)) for c in program.collectives
        ),
        memory=tuple(replace(place, chip=of(place.chip)) for place in program.memory),
    )
