"""The parts of a program that mutations take hold of, by what they do and not by their names."""

from dataclasses import replace

from compiler.ir.body import Body
from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import (
    Engine,
    EngineKind,
    Fold,
    Load,
    Map,
    MatmulTiles,
    Recv,
    Stage,
    StageRole,
    Store,
)
from tests.compiler.programs import changed


def of_kind(program: Program, kind: type) -> list[Stage]:
    """Stages of one kind, in the order of the program."""
    return [stage for stage in program.stages if isinstance(stage.kind, kind)]


def loads(program: Program) -> list[Stage]:
    return of_kind(program, Load)


def last_product(program: Program) -> Stage:
    """The product of the last chip, which sends its partial sum away if there are several."""
    return of_kind(program, MatmulTiles)[-1]


def store(program: Program) -> Stage:
    (stage,) = of_kind(program, Store)
    return stage


def crossings(program: Program) -> list[Edge]:
    """Edges between chips."""
    return [edge for edge in program.edges if program.crosses(edge)]


def leaf_edges(program: Program) -> list[Edge]:
    """Edges that take a product's partial sum to another chip."""
    products = {stage.name for stage in of_kind(program, MatmulTiles)}
    return [edge for edge in crossings(program) if edge.source in products]


def home_fold(program: Program) -> Stage | None:
    """The fold that makes the whole sum."""
    return next(iter(of_kind(program, Fold)), None)


def fold_of(program: Program, receive: Stage) -> Stage:
    """The fold that adds what a receive takes."""
    (edge,) = program.edges_by_source[receive.name]
    return program.stage_by_name[edge.destination]


def sums(program: Program) -> list[Buffer]:
    """Buffers that do not hold pages of operands."""
    loaded = {name for stage in loads(program) for name in stage.outs}
    return [buffer for buffer in program.buffers if buffer.name not in loaded]


def slices(program: Program, chip: int) -> list[str]:
    """Names of a chip's slices of the left and of the right operand."""
    return [t.name for t in program.tensors if t.slice_of and t.slice_of.index == chip]


def with_map(program: Program, edge: Edge, body: Body) -> Program:
    """``program`` with a map between the two ends of an edge, on the chip of its source."""
    source = program.stage_by_name[edge.source]
    destination = program.stage_by_name[edge.destination]
    local = next(e.handoff for e in program.edges if not program.crosses(e))
    busy = [s for s in program.stages if s.site == source.site and s.role is StageRole.COMPUTE]
    engine = Engine(EngineKind.COMPUTE, len(busy))
    held = program.buffer_by_name[edge.buffer]
    mapped = f"{edge.buffer}.mapped"
    stage = Stage(f"{edge.source}.map", Map(body), (edge.buffer,), (mapped,), source.site, engine)
    program = replace(
        program,
        stages=(*program.stages, stage),
        buffers=(*program.buffers, replace(held, name=mapped)),
        edges=(
            *program.edges,
            Edge(f"{edge.source}->map", edge.source, edge.buffer, stage.name, local, ()),
        ),
    )
    program = changed(program, edge.buffer, kind=BufferKind.FIFO)
    program = changed(program, edge.name, source=stage.name, buffer=mapped)
    if isinstance(destination.kind, Recv):
        return program
    ins = tuple(mapped if name == edge.buffer else name for name in destination.ins)
    return changed(program, destination.name, ins=ins)
