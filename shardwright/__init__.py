"""The front door: compile a matrix product, shard it over chips, run it.

>>> import numpy as np
>>> import shardwright as sw
>>> target = sw.targets.get("token-mesh")
>>> program = sw.compile(sw.MatmulSpec(m=8, n=8, k=32), target)
>>> program = sw.shard(program, sw.ShardPlan.row_parallel(4), target)
>>> rng = np.random.default_rng(0)
>>> a, b = rng.integers(-128, 128, (8, 32)), rng.integers(-128, 128, (32, 8))
>>> sw.simulate(program, a, b).exact
True
"""

import shardwright.siblings  # noqa: F401 -- first: what follows finds the packages beside this one

# isort: split

from compiler import targets
from compiler.collective_spec import CollectiveSpec
from compiler.errors import ShardwrightError
from compiler.ir.mesh import Mesh
from compiler.pipeline import compile, compile_collective, shard
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.simulate import simulate

__all__ = [
    "CollectiveSpec",
    "MatmulSpec",
    "Mesh",
    "ShardPlan",
    "ShardwrightError",
    "compile",
    "compile_collective",
    "shard",
    "simulate",
    "targets",
]
