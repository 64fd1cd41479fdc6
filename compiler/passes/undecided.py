"""Undecided: take back what passes have decided, and keep what somebody chose."""

from dataclasses import replace

from compiler.ir.buffer import Buffer
from compiler.ir.choice import Chooser
from compiler.ir.edge import Edge
from compiler.ir.graph import Matmul, Operation
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Stage, Store


def undecided(program: Program) -> Program:
    """The program as it was before the passes, but for the decisions that no pass has made.

    Walks and counts of blocks of a product follow from the shapes of a chip, so they go in any
    case. Those of a redistribution are the turns of its pages, and no pass finds them again.
    """
    walks_follow = program.graph.product is not None
    return replace(
        program,
        graph=replace(program.graph, operations=tuple(map(_operation, program.graph.operations))),
        stages=tuple(_stage(s, walks_follow=walks_follow) for s in program.stages),
        buffers=tuple(map(_buffer, program.buffers)),
        edges=tuple(map(_edge, program.edges)),
        links=(),
        memory=(),
        schedule=None,
        certificate=None,
    )


def _operation(product: Operation) -> Operation:
    if not isinstance(product, Matmul):
        return product
    is_ours = product.order is not None and product.order.by is Chooser.COMPILER
    return replace(product, order=None) if is_ours else product


def _stage(stage: Stage, *, walks_follow: bool) -> Stage:
    kind, engine = stage.kind, stage.engine
    match kind:
        case Load() | Store() if walks_follow:
            kind = replace(kind, walk=None)
        case MatmulTiles():
            kind = MatmulTiles()
        case _:
            pass
    if engine is not None and engine.by is Chooser.COMPILER:
        engine = None
    return replace(stage, kind=kind, engine=engine)


def _buffer(buffer: Buffer) -> Buffer:
    is_ours = buffer.depth is not None and buffer.depth.by is Chooser.COMPILER
    return replace(buffer, site=None, depth=None if is_ours else buffer.depth)


def _edge(edge: Edge) -> Edge:
    is_ours = edge.handoff is not None and edge.handoff.by is Chooser.COMPILER
    return replace(edge, handoff=None if is_ours else edge.handoff, link=None)
