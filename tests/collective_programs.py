"""Collectives by themselves: finished programs, what goes into them, and what must come out."""

from functools import cache
from typing import Any

import numpy as np

from compiler import targets
from compiler.collective_spec import CollectiveSpec
from compiler.ir.mesh import Mesh, mesh_of
from compiler.ir.program import Program
from compiler.pipeline import compile_collective
from compiler.targets import Target

TILE = 2
TARGET = targets.get(
    "token-mesh",
    tile=TILE,
    compute_engines=16,
    link_ports=32,
    link_width_bits=64,
    link_latency_cycles=10,
)


def spec_of(
    kind: str,
    algorithm: str,
    chips: int | Mesh,
    *,
    rows: int | None = None,
    cols: int | None = None,
    **fields: Any,
) -> CollectiveSpec:
    """A collective of a tile on each chip and one more, or of as many elements as is said."""
    mesh = mesh_of(chips) if isinstance(chips, int) else chips
    size = mesh.size(fields.get("axis", "tp"))
    return CollectiveSpec(
        kind,
        mesh,
        rows=rows or (TILE * size if kind == "all_to_all" else TILE),
        cols=cols or TILE * (size + 1),
        algorithm=algorithm,
        **{"axis": "tp", **fields},
    )


@cache
def collective(
    kind: str, algorithm: str, chips: int | Mesh, *, target: Target = TARGET, **fields: Any
) -> Program:
    """The finished program of a collective, stated as for :func:`spec_of`."""
    return compile_collective(spec_of(kind, algorithm, chips, **fields), target)


def given(program: Program, seed: int) -> np.ndarray:
    """Random elements over all that the program says it takes, as wide integers."""
    (name,) = program.graph.inputs
    value = program.graph.value_by_name[name]
    within = program.tensors_of[name][0].value_range
    rng = np.random.default_rng(seed)
    return rng.integers(within.low, within.high, (value.rows, value.cols), endpoint=True)


def made(program: Program, x: np.ndarray) -> np.ndarray:
    """What numpy makes of them: the sum or the greatest of the slices, or the same again."""
    (moved,) = program.graph.operations
    if moved.combine is None:
        return x
    slices = np.split(x, program.mesh.size(moved.axis))
    return np.sum(slices, axis=0) if moved.combine == "sum" else np.max(slices, axis=0)
