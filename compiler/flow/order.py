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

    Raises
    ------
    FlowError
        If stages feed each other in a circle, or take from a buffer that nothing fills.
    """
    waits: dict[str, int] = {}
    readers: defaultdict[str, list[Stage]] = defaultdict(list)
    for stage in program.stages:
        sources = {*sources_of(program, stage)}
        waits[stage.name] = len(sources)
        for name in sources:
            readers[name].append(stage)
    ready = deque(stage for stage in program.stages if not waits[stage.name])
    order: list[Stage] = []
    filled: set[str] = set()
    while ready:
        stage = ready.popleft()
        order.append(stage)
        for name in stage.outs:
            if name in filled:
                continue
            filled.add(name)
            for reader in readers[name]:
                waits[reader.name] -= 1
                if not waits[reader.name]:
                    ready.append(reader)
    if len(order) < len(program.stages):
        done = {stage.name for stage in order}
        waiting = [stage for stage in program.stages if stage.name not in done]
        names = ", ".join(repr(stage.name) for stage in waiting)
        raise FlowError("Cycle", waiting[0].name, f"stages {names} feed each other in a circle")
    return order
