"""The order of flow: which buffers a stage takes from, and an order in which all are filled."""

from collections import defaultdict, deque

from compiler.flow.errors import FlowError
from compiler.ir.program import Program
from compiler.ir.stage import Recv, Stage


def sources_of(program: Program, stage: Stage) -> tuple[str, ...]:
    """Buffers that a stage takes from. A receive takes from the sender's."""
    if isinstance(stage.kind, Recv):
        return tuple(edge.buffer for edge in program.edges_by_destination.get(stage.name, ()))
    return stage.ins


def in_flow_order(program: Program) -> list[Stage]:
    """All stages, each behind those that fill its sources; otherwise in the program's order.

    Where stages feed each other in a circle, as those of a ring of chips do, the circle begins with
    the first receive in it. Whether pages can go round it is for :mod:`compiler.flow.rounds`.

    Raises
    ------
    FlowError
        If a stage takes from a buffer that nothing fills.
    """
    waits: dict[str, set[str]] = {}
    readers: defaultdict[str, list[Stage]] = defaultdict(list)
    filler: dict[str, Stage] = {}
    for stage in program.stages:
        waits[stage.name] = {*sources_of(program, stage)}
        for name in waits[stage.name]:
            readers[name].append(stage)
        for name in stage.outs:
            filler.setdefault(name, stage)
    place = {stage.name: index for index, stage in enumerate(program.stages)}
    ready = deque(stage for stage in program.stages if not waits[stage.name])
    order: dict[str, Stage] = {}
    while len(order) < len(program.stages):
        if not ready:
            circle = _circle(program, waits, order, filler)
            ready.append(min(circle, key=lambda s: (not isinstance(s.kind, Recv), place[s.name])))
        stage = ready.popleft()
        order[stage.name] = stage
        for name in stage.outs:
            for reader in readers.pop(name, ()):
                waits[reader.name].discard(name)
                if not waits[reader.name] and reader.name not in order:
                    ready.append(reader)
    return list(order.values())


def _circle(
    program: Program, waits: dict[str, set[str]], order: dict[str, Stage], filler: dict[str, Stage]
) -> list[Stage]:
    """Stages that feed each other, found backwards from the first one that still waits."""
    stage = next(stage for stage in program.stages if stage.name not in order)
    way: dict[str, Stage] = {}
    while stage.name not in way:
        way[stage.name] = stage
        source = next(name for name in sources_of(program, stage) if name in waits[stage.name])
        if source not in filler:
            message = f"stage {stage.name!r} takes from buffer {source!r}, which nothing fills"
            raise FlowError("BufferUnfilled", stage.name, message)
        stage = filler[source]
    names = list(way)
    return [way[name] for name in names[names.index(stage.name) :]]
