"""The flow of pages: which buffers a stage takes from, and an order in which all are filled."""

from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.ir.stage import Recv, Stage


def sources_of(program: Program, stage: Stage) -> tuple[str, ...]:
    """Buffers that a stage takes from. A receive takes from the sender's."""
    if isinstance(stage.kind, Recv):
        return tuple(edge.buffer for edge in program.edges_by_destination[stage.name])
    return stage.ins


def in_flow_order(program: Program) -> list[Stage]:
    """All stages, each behind those that fill its sources."""
    order: list[Stage] = []
    filled: set[str] = set()
    waiting = list(program.stages)
    while waiting:
        ready = [stage for stage in waiting if filled.issuperset(sources_of(program, stage))]
        if not ready:
            names = ", ".join(repr(stage.name) for stage in waiting)
            raise ValidationError(
                "Cycle", waiting[0].name, f"stages {names} feed each other in a circle"
            )
        order += ready
        filled.update(name for stage in ready for name in stage.outs)
        placed = {stage.name for stage in order}
        waiting = [stage for stage in waiting if stage.name not in placed]
    return order
