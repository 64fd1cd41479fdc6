"""The certified programs that the fuzzer begins with: small, and of every kind that there is."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from compiler import targets
from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.graph import LoopOrder
from compiler.ir.init import Const, Pattern, Values, Zero
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.tensor import ValueRange
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.pipeline import compile, run_passes
from compiler.serialize import to_json
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec


def _machine(name: str = "token-mesh", **changes: Any) -> targets.Target:
    return targets.get(name, **{"tile": 2, "link_latency_cycles": 3} | changes)


def _made(spec: MatmulSpec, chips: int = 1, reduce: str = "tree", **changes: Any) -> Program:
    machine = _machine(changes.pop("target", "token-mesh"), **changes)
    return compile(spec, machine, ShardPlan(chips, reduce))


def _spread(spec: MatmulSpec, mesh: Mesh, target: str = "token-mesh", **options: Any) -> Program:
    """A program over a mesh; ``options`` are those of a plan."""
    return compile(spec, _machine(target), ShardPlan(mesh, **options))


def _led(spec: MatmulSpec, plan: ShardPlan, via: dict[str, tuple[int, ...]]) -> Program:
    """A program whose edges, by their names, pass other chips."""
    machine = _machine()
    program = partition(lower(spec, machine), plan, machine)
    edges = tuple(replace(edge, via=via.get(edge.name, ())) for edge in program.edges)
    return run_passes(replace(program, edges=edges), machine)


def _other_order() -> Program:
    """Result tiles column by column."""
    target = targets.get("token-mesh", tile=2)
    program = lower(MatmulSpec(4, 6, 8), target)
    product = replace(program.graph.operations[0], order=LoopOrder("nm"))
    program = replace(program, graph=replace(program.graph, operations=(product,)))
    return run_passes(partition(program, ShardPlan(2), target), target)


MAP = Max(Add(Operand(0), Literal(-3)), Literal(0))

PROGRAMS: dict[str, Callable[[], Program]] = {
    "one chip": lambda: _made(MatmulSpec(4, 6, 8)),
    "one chip of tile 1": lambda: _made(MatmulSpec(2, 3, 4), tile=1),
    "mapped": lambda: _made(MatmulSpec(3, 4, 6, map=MAP)),
    "two chips": lambda: _made(MatmulSpec(4, 4, 8), 2),
    "tree of four": lambda: _made(MatmulSpec(2, 4, 16), 4, link_width_bits=24),
    "star of four, slow links": lambda: _made(
        MatmulSpec(4, 2, 8), 4, "star", link_flit_cycles=2, link_latency_cycles=30
    ),
    "semaphores": lambda: _made(MatmulSpec(4, 4, 12), 3, target="semaphore-mesh"),
    "barrier": lambda: _made(MatmulSpec(2, 4, 12), 3, "star", target="barrier-mesh"),
    "padded, narrow": lambda: _made(
        MatmulSpec(3, 3, 7, k_pad=1, a_range=ValueRange(-2, 3), sum_bits=13), 2
    ),
    "values": lambda: _made(MatmulSpec(2, 2, 4, a=Values(tuple(range(8))), b=Pattern(5, 2)), 2),
    "constants, semaphores": lambda: _made(
        MatmulSpec(4, 2, 4, a=Const(3), b=Zero(), map=Max(Operand(0), Literal(1))),
        2,
        target="semaphore-mesh",
    ),
    "columns first": _other_order,
    "rows and contraction": lambda: _spread(
        MatmulSpec(4, 2, 8), Mesh(row=2, col=2), shard={"m": "row", "k": "col"}
    ),
    "contraction and columns, uneven, values": lambda: _spread(
        MatmulSpec(2, 5, 7, a=Pattern(5, 2), b=Pattern(7, 3)),
        Mesh(x=2, y=2),
        shard={"k": "x", "n": "y"},
        uneven=True,
    ),
    "rows and columns": lambda: _spread(
        MatmulSpec(4, 4, 4), Mesh(row=2, col=2), shard={"n": "row", "m": "col"}
    ),
    "an axis unused": lambda: _spread(
        MatmulSpec(2, 2, 4), Mesh(row=2, col=2), shard={"k": "row"}, result="all"
    ),
    "to all": lambda: _spread(MatmulSpec(2, 4, 12), Mesh(tp=3), result="all", reduce="star"),
    "to all, mapped, semaphores": lambda: _spread(
        MatmulSpec(2, 2, 8, map=MAP), Mesh(tp=4), "semaphore-mesh", result="all"
    ),
    "to all, barrier": lambda: _spread(
        MatmulSpec(2, 2, 6, sum_bits=20), Mesh(tp=2), "barrier-mesh", result="all", uneven=True
    ),
    "a shared link": lambda: _led(
        MatmulSpec(2, 4, 6), ShardPlan(3, "star"), {"c2.matmul->c0.recv_1": (1,)}
    ),
    "a forward": lambda: _led(MatmulSpec(2, 2, 8), ShardPlan(4), {"c3.matmul->c2.recv_0": (1,)}),
}


@cache
def _text(kind: str) -> str:
    # A carried certificate would differ after almost any edit and hide what the check finds.
    return to_json(replace(PROGRAMS[kind](), certificate=None))


def document(kind: str) -> dict[str, Any]:
    """A program as the data of its file, made anew for each use."""
    return json.loads(_text(kind))
