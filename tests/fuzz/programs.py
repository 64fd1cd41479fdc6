"""The certified programs that the fuzzer begins with: small, and of every kind that there is."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from compiler.passes.shard import ShardPlan, replicate

from compiler import targets
from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.init import Const, Pattern, Values, Zero
from compiler.ir.program import Program, WorkPlan
from compiler.ir.tensor import ValueRange
from compiler.passes.lower import lower
from compiler.pipeline import compile_sharded, run_passes
from compiler.serialize import to_json
from compiler.workload import MatmulSpec


def _made(spec: MatmulSpec, chips: int = 1, reduce: str = "tree", **changes: Any) -> Program:
    name = changes.pop("target", "token-mesh")
    machine = targets.get(name, **{"tile": 2, "link_latency_cycles": 3} | changes)
    return compile_sharded(spec, ShardPlan(chips, reduce), machine)


def _other_order() -> Program:
    """Result tiles column by column."""
    target = targets.get("token-mesh", tile=2)
    program = lower(MatmulSpec(4, 6, 8), target)
    program = run_passes(replace(program, work=WorkPlan(2, 3, 4, "nm")), target)
    return run_passes(replicate(program, ShardPlan(2), target), target)


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
}


@cache
def _text(kind: str) -> str:
    # A carried certificate would differ after almost any edit and hide what the check finds.
    return to_json(replace(PROGRAMS[kind](), certificate=None))


def document(kind: str) -> dict[str, Any]:
    """A program as the data of its file, made anew for each use."""
    return json.loads(_text(kind))
