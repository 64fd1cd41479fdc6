"""Components that differ in names alone: what holds of one of them holds of all."""

from collections.abc import Hashable, Iterable

from compiler.flow.components import Component
from compiler.flow.order import sources_of
from compiler.ir.edge import Barrier
from compiler.ir.operations import operations_of
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Map, MatmulTiles, Merge, Recv, Split, Stage


def alike(program: Program, parts: Iterable[Component]) -> list[list[Component]]:
    """Components whose pages pass in the same cycles, together, by their first ones.

    The stages of two components of a group correspond to each other by their places.
    """
    groups: dict[Hashable, list[Component]] = {}
    for part in parts:
        groups.setdefault(_form(program, part), []).append(part)
    return list(groups.values())


def _form(program: Program, part: Component) -> Hashable:
    """All that the cycles of a component depend on, with places for names."""
    buffers = {name: place for place, name in enumerate(_buffers(part))}
    groups: dict[Barrier, int] = {}
    stages: list[Hashable] = []
    for stage in part.stages:
        taken = tuple(buffers[name] for name in sources_of(program, stage))
        crossing: Hashable = None
        if isinstance(stage.kind, Recv):
            (edge,) = program.edges_by_destination[stage.name]
            link = program.link_by_name[edge.link] if edge.link else None
            figures = link and (link.width_bits, link.latency_cycles, link.flit_cycles)
            group = None
            if isinstance(edge.handoff, Barrier):
                group = groups.setdefault(edge.handoff, len(groups))
            crossing = figures, type(edge.handoff), group
        stages.append((type(stage.kind), _facts(stage), taken, len(stage.outs), crossing))
    pages: list[Hashable] = []
    for name in buffers:
        buffer = program.buffer_by_name[name]
        depth = buffer.depth and (buffer.depth.pages, buffer.depth.by)
        page = buffer.page.beats, buffer.page.beat_bits, buffer.fall_through
        pages.append((depth, page, part.share.get(name)))
    return part.rounds, tuple(stages), tuple(pages)


def _buffers(part: Component) -> list[str]:
    return [name for stage in part.stages for name in stage.outs]


def _facts(stage: Stage) -> Hashable:
    """What a stage does to its pages."""
    match stage.kind:
        case MatmulTiles(block_count):
            return block_count
        case Fold(body) | Map(body):
            return operations_of(body)
        case Merge(turns) | Split(turns):
            return turns
        case _:
            return None
