"""Programs that the compiler's tests share, and edits as a person would make them by hand."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from compiler import targets
from compiler.ir.body import left_fold
from compiler.ir.buffer import Buffer
from compiler.ir.layout import Layout, Partial, Replicate
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Recv, Stage
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import Target
from compiler.workload import MatmulSpec

TOKEN = targets.get("token-mesh")
SEMAPHORE = targets.get("semaphore-mesh")
LOCAL_ONLY = targets.get("local-only")
MANY_PORTS = targets.get("token-mesh", link_ports=16)

GROUPS = ("tensors", "stages", "buffers", "edges", "links", "collectives")


@cache
def lowered(m: int = 16, n: int = 16, k: int = 64, *, target: Target = TOKEN) -> Program:
    """A one-chip program in which nothing is decided."""
    return lower(MatmulSpec(m, n, k), target)


@cache
def compiled(m: int = 16, n: int = 16, k: int = 64, *, target: Target = TOKEN) -> Program:
    """A finished one-chip program."""
    return compile(MatmulSpec(m, n, k), target)


@cache
def partitioned(chips: int, reduce: str = "tree", *, target: Target = TOKEN) -> Program:
    """A program of 16 x 16 x (16 chips) over several chips in which nothing is decided."""
    return partition(lowered(k=16 * chips, target=target), ShardPlan(chips, reduce), target)


@cache
def sharded(
    chips: int, reduce: str = "tree", *, k: int | None = None, target: Target = TOKEN
) -> Program:
    """A finished program over several chips, of 16 x 16 x (16 chips) unless ``k`` is given."""
    return compile(MatmulSpec(16, 16, k or 16 * chips), target, ShardPlan(chips, reduce))


@cache
def spread(
    m: int = 32,
    n: int = 32,
    k: int = 64,
    *,
    mesh: Mesh,
    target: Target = TOKEN,
    **options: Any,
) -> Program:
    """A finished program over a mesh; ``options`` are those of a plan, ``shard`` as pairs."""
    return compile(MatmulSpec(m, n, k), target, ShardPlan(mesh, **options))


def changed(program: Program, name: str, /, **changes: Any) -> Program:
    """``program`` with fields of the one record that is named ``name`` changed."""
    matches = [
        (group, record)
        for group in GROUPS
        for record in getattr(program, group) or ()
        if record.name == name
    ]
    assert len(matches) == 1, f"{len(matches)} records are named {name!r}"
    ((group, record),) = matches
    records = tuple(
        replace(other, **changes) if other is record else other for other in getattr(program, group)
    )
    return replace(program, **{group: records})


def renamed(program: Program, **names: str) -> Program:
    """The program with names replaced wherever they stand."""

    def of(value: Any) -> Any:
        if isinstance(value, str):
            return type(value)(names.get(value, value))
        if isinstance(value, tuple):
            return tuple(map(of, value))
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: of(getattr(value, f.name)) for f in fields(value)})
        return value

    return of(program)


def without(program: Program, *names: str) -> Program:
    """``program`` without the records of these names, nor any mention in a collective."""
    for name in names:
        assert any(r.name == name for g in GROUPS for r in getattr(program, g) or ()), name
    kept = {
        group: tuple(record for record in getattr(program, group) or () if record.name not in names)
        for group in GROUPS
    }
    kept["collectives"] = tuple(
        replace(collective, stages=tuple(s for s in collective.stages if s not in names))
        for collective in kept["collectives"]
    )
    return replace(program, **kept)


def names_on_chip(program: Program, chip: int) -> tuple[str, ...]:
    """Names of all that a chip holds, and of the edges and links that leave it."""
    prefix = f"c{chip}."
    own = (
        record.name
        for group in (program.tensors, program.stages, program.buffers, program.edges)
        for record in group
        if record.name.startswith(prefix)
    )
    links = (link.name for link in program.links if link.source_chip == chip)
    return (*own, *links)


def cut_off(program: Program, chip: int) -> Program:
    """``program`` without a chip that only sends, all of the rest saying truly what it holds."""
    (edge,) = (e for e in program.edges if e.source == f"c{chip}.matmul")
    recv = program.stage_by_name[edge.destination]
    (landed,) = program.edges_by_source[recv.name]
    fold = program.stage_by_name[landed.destination]
    addends = tuple(name for name in fold.ins if name not in recv.outs)
    program = without(program, *names_on_chip(program, chip), recv.name, *recv.outs, landed.name)
    if len(addends) > 1:
        program = changed(program, fold.name, ins=addends, kind=Fold(left_fold(len(addends))))
    else:
        program = bypassed(program, fold.name)
    return replace(program, buffers=tuple(lessened(program, b, chip) for b in program.buffers))


def bypassed(program: Program, fold: str) -> Program:
    """``program`` without a fold: its first addend goes where the sum went."""
    stage = program.stage_by_name[fold]
    (total,), addend = stage.outs, stage.ins[0]
    (incoming,) = (edge for edge in program.edges if edge.buffer == addend)
    (outgoing,) = program.edges_by_source[fold]
    reader = program.stage_by_name[outgoing.destination]
    kind = program.buffer_by_name[total].kind
    program = changed(without(program, fold, total, incoming.name), addend, kind=kind)
    program = changed(program, outgoing.name, source=incoming.source, buffer=addend)
    return changed(program, reader.name, ins=(addend,)) if reader.ins else program


def lessened(program: Program, buffer: Buffer, chip: int) -> Buffer:
    """``buffer`` without the claim to hold the contribution of ``chip`` along the only axis."""

    def without_chip(layout: Layout) -> Layout:
        match layout:
            case (Replicate(),):
                held = tuple(range(program.chip_count))
            case (Partial(of),):
                held = of
            case _:
                return layout
        return (Partial(tuple(index for index in held if index != chip)),)

    return replace(buffer, holds=tuple(map(without_chip, buffer.holds)))


def receives(program: Program) -> Iterable[Stage]:
    """Receive stages, in the order of the program."""
    return (stage for stage in program.stages if isinstance(stage.kind, Recv))
