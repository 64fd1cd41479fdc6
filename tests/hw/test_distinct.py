# amaranth: UnusedElaboratable=no
"""Chips that count as the same hardware are the same netlist, and no others are."""

import pytest

from compiler.ir.body import Literal, Max, Operand
from compiler.ir.buffer import Depth
from compiler.ir.init import Pattern
from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw.chip import Chip
from hw.distinct import distinct_chips
from hw.verilog.convert import to_rtlil
from tests.compiler.programs import changed, renamed
from tests.hw.hand_built import relay, shared_link
from tests.programs import finished, program_for
from tests.tiers import chosen

MESH = Mesh(row=2, col=2)
PROGRAMS = {
    "one chip": program_for(2, 2, 2, chips=1, tile=1),
    "tree over 2": program_for(2, 2, 4, chips=2, tile=2),
    "tree over 4": program_for(4, 2, 8, chips=4, tile=1),
    "tree over 5": program_for(2, 2, 10, chips=5, tile=1),
    "star over 4": program_for(2, 2, 8, chips=4, tile=1, reduce="star"),
    "semaphores over 4": program_for(2, 2, 8, chips=4, tile=1, target="semaphore-mesh"),
    "map over 3": finished(MatmulSpec(2, 2, 6, map=Max(Operand(0), Literal(0))), chips=3, tile=1),
}
PROGRAMS["sums on every chip"] = program_for(
    2, 2, 4, tile=1, plan=ShardPlan(4, "tree", result="all")
)
PROGRAMS["uneven mesh"] = program_for(
    3, 2, 5, tile=1, plan=ShardPlan(MESH, shard={"m": "row", "k": "col"}, uneven=True)
)
PROGRAMS["turns"] = shared_link()
PROGRAMS["relay"] = relay()
PROGRAMS["slow links"] = program_for(2, 2, 8, chips=4, tile=1, link_flit_cycles=2)
IN_EVERY_RUN = ["one chip", "tree over 2", "star over 4", "map over 3"]
each_program = pytest.mark.parametrize("name", chosen(PROGRAMS, IN_EVERY_RUN))


def netlist(program, chip: int, *, host: bool) -> str:
    return to_rtlil(Chip(program, chip, host=host), "chip")


@pytest.mark.covers("values")
@pytest.mark.parametrize("host", [False, True])
@each_program
def test_chips_are_the_same_if_and_only_if_their_netlists_are(name, host):
    program = PROGRAMS[name]
    first_of: dict[str, int] = {}
    expected = {
        chip: first_of.setdefault(netlist(program, chip, host=host), chip)
        for chip in range(program.chip_count)
    }
    assert distinct_chips(program, host=host) == expected


@pytest.mark.parametrize("k", [8, 128])
@pytest.mark.parametrize(("chips", "kinds"), [(1, 1), (2, 2), (4, 3), (8, 4), (16, 5), (64, 7)])
def test_a_tree_has_one_kind_of_chip_with_a_host_port_for_each_level(chips, kinds, k):
    program = program_for(64, 64, k * chips, chips=chips, tile=8)
    assert len(set(distinct_chips(program, host=True).values())) == kinds


def test_uneven_slices_of_as_many_blocks_are_the_same_hardware():
    # Three tiles of rows over two chips; the last tile is short.
    program = program_for(7, 3, 2, tile=2, plan=ShardPlan(2, shard={"m": "tp"}, uneven=True))
    assert [t.rows for t in program.tensors if t.part.of == "a"] == [4, 3]
    assert distinct_chips(program, host=True) == {0: 0, 1: 0}
    # Five blocks of k over four chips: the first one has two.
    program = program_for(2, 2, 10, tile=2, plan=ShardPlan(4, "star", uneven=True))
    assert distinct_chips(program, host=True) == {0: 0, 1: 1, 2: 1, 3: 1}
    program = program_for(2, 2, 12, tile=2, plan=ShardPlan(4, "star", uneven=True))
    assert distinct_chips(program, host=True) == {0: 0, 1: 1, 2: 2, 3: 2}


@pytest.mark.parametrize("chips", [2, 4, 9])
@pytest.mark.parametrize("host", [False, True])
def test_a_star_has_two_kinds_of_chips(chips, host):
    program = program_for(8, 8, 4 * chips, chips=chips, reduce="star")
    assert distinct_chips(program, host=host) == {0: 0} | dict.fromkeys(range(1, chips), 1)


def test_what_the_memories_hold_does_not_count():
    spec = MatmulSpec(8, 8, 16, a=Pattern(7, 3), b=Pattern(5, 2))
    program = finished(spec, chips=4, reduce="star")
    assert distinct_chips(program) == {0: 0, 1: 1, 2: 1, 3: 1}


def test_the_depth_of_the_landing_buffer_at_the_other_end_counts_without_host_ports_alone():
    program = program_for(16, 16, 64, chips=4)
    depth = {buffer.name: buffer.depth_pages for buffer in program.buffers}
    assert depth["c0.landing_0"] != depth["c2.landing_0"]
    assert distinct_chips(program) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert distinct_chips(program, host=True) == {0: 0, 1: 1, 2: 2, 3: 1}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("c2.partial", {"depth": Depth(9)}),
        ("c2.a_pages", {"depth": Depth(9)}),
        ("c2.load_b", {"name": "c2.load_weights"}),
        ("c2.partial", {"fall_through": True}),
    ],
)
@pytest.mark.parametrize("host", [False, True])
def test_whatever_is_different_on_a_chip_counts(name, change, host):
    program = program_for(2, 2, 8, chips=4, tile=1, reduce="star")
    assert distinct_chips(program, host=host) == {0: 0, 1: 1, 2: 1, 3: 1}
    if "name" in change:
        different = renamed(program, **{name: change["name"]})
    else:
        different = changed(program, name, **change)
    assert distinct_chips(different, host=host) == {0: 0, 1: 1, 2: 2, 3: 1}
