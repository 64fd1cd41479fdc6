"""Programs of every kind, and their Verilog designs."""

from functools import cache

import pytest

from compiler.ir.body import Literal, Max, Operand
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw.verilog.design import Design, design
from tests.hw.hand_built import relay, shared_link
from tests.programs import finished, program_for
from tests.tiers import chosen

PROGRAMS: dict[str, Program] = {
    "one chip": program_for(4, 8, 4, chips=1),
    "one multiplication": program_for(1, 1, 1, chips=1, tile=1),
    "tiles of 1": program_for(2, 3, 4, chips=2, tile=1),
    "tiles of 3, edges, star over 3": program_for(5, 4, 18, chips=3, tile=3, reduce="star"),
    "tiles of 8": program_for(8, 8, 16, chips=2, tile=8),
    "tree over 4, narrow links": program_for(4, 8, 32, chips=4, link_width_bits=24),
    "links wider than a beat": program_for(4, 4, 8, chips=2, tile=2, link_width_bits=100),
    "semaphores over 3": program_for(4, 4, 12, chips=3, tile=2, target="semaphore-mesh"),
    "barrier over 4": program_for(
        4, 4, 16, chips=4, tile=2, target="barrier-mesh", link_width_bits=10
    ),
    "sums on every chip": program_for(4, 4, 8, tile=2, plan=ShardPlan(4, "tree", result="all")),
    "uneven mesh": program_for(
        6,
        4,
        10,
        tile=2,
        target="barrier-mesh",
        plan=ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}, uneven=True),
    ),
    "no links": program_for(8, 4, 4, plan=ShardPlan(2, shard={"m": "tp"})),
    "relay": relay(),
    "turns": shared_link(),
    "sums of 20 bits": finished(MatmulSpec(4, 4, 8, sum_bits=20), chips=2, tile=2),
    "map": finished(MatmulSpec(4, 4, 8, map=Max(Operand(0), Literal(0))), chips=2, tile=2),
}

IN_EVERY_RUN = (
    "one chip",
    "tiles of 3, edges, star over 3",
    "semaphores over 3",
    "uneven mesh",
    "relay",
    "turns",
)
each_program = pytest.mark.parametrize("name", chosen(PROGRAMS, IN_EVERY_RUN))


@cache
def design_of(name: str) -> Design:
    """The Verilog of one of the programs."""
    return design(PROGRAMS[name])
