"""Bounds, names, ports, pairing and quantities: whether the program is a graph at all."""

from collections import Counter
from collections.abc import Container

from compiler.errors import ValidationError
from compiler.ir.body import is_operation, operands_of
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, Merge, PortCount, Recv, Split, Stage, Store
from compiler.validate.bounds import check_bounds
from compiler.validate.graph import check_graph
from compiler.validate.names import check_names
from compiler.validate.quantities import check_quantities
from compiler.validate.types import check_type_names


def check_structure(program: Program) -> None:
    """Names are unique and known, stages have the ports of their kind, buffers are paired.

    What has a size has one, and nothing is larger than the limits. That comes first, because it
    costs nothing, and all else may take as long as the program is large.
    """
    check_names(program)
    check_bounds(program)
    check_graph(program)
    _unique_names(program)
    _known_names(program)
    for stage in program.stages:
        _stage_ports(stage)
        if isinstance(stage.kind, Fold | Map):
            _fold_operands(stage)
        if isinstance(stage.kind, Merge | Split):
            _turns(stage)
    _buffer_pairing(program)
    _layout_lengths(program)
    check_quantities(program)
    check_type_names(program)


def _unique_names(program: Program) -> None:
    groups = {
        "tensor": program.tensors,
        "stage": program.stages,
        "buffer": program.buffers,
        "edge": program.edges,
        "link": program.links,
        "collective": program.collectives,
        "memory owner": (*program.tensors, *program.buffers),
    }
    for what, things in groups.items():
        for name, count in Counter(thing.name for thing in things).items():
            if count > 1:
                raise ValidationError(
                    "DuplicateName", name, f"{count} {what}s are named {name!r}; a name is identity"
                )


def _known_names(program: Program) -> None:
    def known(name: str, names: Container[str], what: str, user: str) -> None:
        if name not in names:
            raise ValidationError(
                "UnknownName", name, f"{user} names {what} {name!r}, which does not exist"
            )

    for tensor in program.tensors:
        known(tensor.value, program.graph.value_by_name, "value", f"tensor {tensor.name!r}")
    for stage in program.stages:
        for buffer in (*stage.ins, *stage.outs):
            known(buffer, program.buffer_by_name, "buffer", f"stage {stage.name!r}")
        if isinstance(stage.kind, Load | Store):
            known(stage.kind.tensor, program.tensor_by_name, "tensor", f"stage {stage.name!r}")
    for edge in program.edges:
        known(edge.source, program.stage_by_name, "stage", f"edge {edge.name!r}")
        known(edge.destination, program.stage_by_name, "stage", f"edge {edge.name!r}")
        known(edge.buffer, program.buffer_by_name, "buffer", f"edge {edge.name!r}")
        if edge.link is not None:
            known(edge.link, program.link_by_name, "link", f"edge {edge.name!r}")
    for collective in program.collectives:
        user = f"collective {collective.name!r}"
        known(collective.value, program.graph.value_by_name, "value", user)
        known(collective.axis, program.mesh.names, "axis", user)
        for name in collective.stages:
            known(name, program.stage_by_name, "stage", user)


def _stage_ports(stage: Stage) -> None:
    wanted = (stage.kind.ins, stage.kind.outs)
    has = (len(stage.ins), len(stage.outs))
    if not all(ports.allows(count) for ports, count in zip(wanted, has, strict=True)):
        raise ValidationError(
            "StagePorts",
            stage.name,
            f"{type(stage.kind).__name__} stage {stage.name!r} must have {_said(wanted[0])} inputs "
            f"and {_said(wanted[1])} outputs, not {has[0]} and {has[1]}",
        )


def _said(ports: PortCount) -> str:
    return f"at least {ports.least}" if ports.most is None else str(ports.most)


def _turns(stage: Stage) -> None:
    """Every input of a merge, and every output of a split, has its turn."""
    assert isinstance(stage.kind, Merge | Split)
    what, ports = (
        ("inputs", stage.ins) if isinstance(stage.kind, Merge) else ("outputs", stage.outs)
    )
    named = {*stage.kind.turns}
    wrong = sorted(named - {*range(len(ports))})
    left_out = [name for index, name in enumerate(ports) if index not in named]
    if wrong or left_out:
        why = f"turn {wrong[0]} is none of them" if wrong else f"{left_out[0]!r} has no turn"
        raise ValidationError(
            "Turns",
            stage.name,
            f"{type(stage.kind).__name__} stage {stage.name!r} has {len(ports)} {what}, but {why}",
        )


def _layout_lengths(program: Program) -> None:
    """What a buffer is said to hold is said along each axis of the mesh."""
    axes = len(program.mesh.axes)
    for buffer in program.buffers:
        if not buffer.holds:
            raise ValidationError(
                "HoldsNothing", buffer.name, f"buffer {buffer.name!r} does not say what it holds"
            )
        for layout in buffer.holds:
            if len(layout) != axes:
                raise ValidationError(
                    "LayoutLength",
                    buffer.name,
                    f"buffer {buffer.name!r} says what it holds along {len(layout)} axes; the mesh "
                    f"{program.mesh} has {axes}",
                )


def _fold_operands(stage: Stage) -> None:
    assert isinstance(stage.kind, Fold | Map)
    uses = Counter(operands_of(stage.kind.body))
    for index in sorted(uses):
        if not 0 <= index < len(stage.ins):
            raise ValidationError(
                "FoldOperandMissing",
                stage.name,
                f"stage {stage.name!r} reads op{index}, but has only {len(stage.ins)} inputs",
            )
    for index, name in enumerate(stage.ins):
        if uses[index] != 1:
            rule = "FoldOperandRepeated" if uses[index] else "FoldOperandUnused"
            raise ValidationError(
                rule,
                stage.name,
                f"fold {stage.name!r} reads input {name!r} (op{index}) "
                f"{uses[index]} times in {stage.kind.body}; each input counts exactly once",
            )
    if not is_operation(stage.kind.body):
        raise ValidationError(
            "FoldBody",
            stage.name,
            f"stage {stage.name!r} computes {stage.kind.body}; it must be an operation, in which "
            f"no operation is of literals alone",
        )


def _buffer_pairing(program: Program) -> None:
    """One stage fills a buffer, one edge leaves it, and both agree on who reads it."""
    producers = Counter(name for stage in program.stages for name in stage.outs)
    readers = Counter(name for stage in program.stages for name in stage.ins)
    edges = Counter(edge.buffer for edge in program.edges)
    for buffer in program.buffers:
        name = buffer.name
        if producers[name] != 1:
            raise ValidationError(
                "BufferProducerCount",
                name,
                f"buffer {name!r} has {producers[name]} producing stages; it must have one",
            )
    for buffer in program.buffers:
        name = buffer.name
        if edges[name] != 1:
            raise ValidationError(
                "BufferConsumerCount",
                name,
                f"buffer {name!r} has {edges[name]} consuming edges; it must have one",
            )
        if readers[name] > 1:
            raise ValidationError(
                "BufferReadTwice",
                name,
                f"buffer {name!r} is read by {readers[name]} inputs; its pages can be taken once",
            )
    for edge in program.edges:
        source = program.stage_by_name[edge.source]
        destination = program.stage_by_name[edge.destination]
        if edge.buffer not in source.outs:
            raise ValidationError(
                "EdgeSource",
                edge.name,
                f"edge {edge.name!r} takes from buffer {edge.buffer!r}, which its source "
                f"{source.name!r} does not fill",
            )
        if not isinstance(destination.kind, Recv) and edge.buffer not in destination.ins:
            raise ValidationError(
                "EdgeDestination",
                edge.name,
                f"edge {edge.name!r} ends in {destination.name!r}, which does not read buffer "
                f"{edge.buffer!r}",
            )
    for stage in program.stages:
        arrivals = {edge.buffer for edge in program.edges_by_destination.get(stage.name, ())}
        for name in stage.ins:
            if name not in arrivals:
                raise ValidationError(
                    "InputWithoutEdge",
                    stage.name,
                    f"stage {stage.name!r} reads buffer {name!r}, but no edge leads it there",
                )
        if isinstance(stage.kind, Recv) and len(arrivals) != 1:
            raise ValidationError(
                "RecvSource",
                stage.name,
                f"receive {stage.name!r} has {len(arrivals)} incoming edges; it must have one",
            )
