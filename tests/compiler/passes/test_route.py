"""Edges cross on direct links between the chips that they join, and links that are set are kept."""

from dataclasses import replace

import pytest

from compiler.errors import LinkPortsExceededError, ShardError
from compiler.ir.edge import Link
from compiler.ir.mesh import Mesh
from compiler.passes.partition import partition
from compiler.passes.place import place
from compiler.passes.route import route
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from tests.compiler.programs import MANY_PORTS, TOKEN, changed, lowered, partitioned


def chips_of(program, edge) -> tuple[int, int]:
    ends = (program.stage_by_name[name].site.chip for name in (edge.source, edge.destination))
    return tuple(ends)


@pytest.mark.parametrize("chips", [2, 3, 5, 8, 16])
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_every_crossing_edge_has_a_link_of_its_own(chips, reduce):
    program = route(partitioned(chips, reduce, target=MANY_PORTS), MANY_PORTS)
    carried = {}
    for edge in program.edges:
        if not program.crosses(edge):
            assert edge.link is None
            continue
        link = program.link_by_name[edge.link]
        assert (link.source_chip, link.destination_chip) == chips_of(program, edge)
        carried[link.name] = edge.name
    assert len(carried) == len(program.links) == chips - 1


def test_links_are_as_the_target_has_them():
    target = get("token-mesh", link_width_bits=64, link_latency_cycles=3)
    program = route(partitioned(2, target=target), target)
    assert program.links == (Link("c1->c0", 1, 0, 64, 3),)


def test_one_chip_has_no_links():
    program = route(place(lowered(), TOKEN), TOKEN)
    assert program.links == ()
    assert {edge.link for edge in program.edges} == {None}


def test_what_goes_back_has_links_of_its_own():
    program = partition(lowered(), ShardPlan(4, result="all"), TOKEN)
    names = {link.name for link in route(program, TOKEN).links}
    there = {"c1->c0", "c2->c0", "c3->c2"}
    back = {"c0->c1", "c0->c2", "c2->c3"}
    assert names == there | back


@pytest.mark.parametrize("axis", ["row", "col"])
def test_groups_have_links_of_their_own_and_none_between_them(axis):
    mesh = Mesh(row=2, col=3)
    plan = ShardPlan(mesh, "star", shard={"k": axis})
    program = route(partition(lowered(16, 16, 96), plan, TOKEN), TOKEN)
    hops = {(link.source_chip, link.destination_chip) for link in program.links}
    assert hops == {(chip, group[0]) for group in mesh.groups(axis) for chip in group[1:]}


def test_a_link_that_is_chosen_is_kept():
    wide = Link("wide", 1, 0, 1024, 2)
    program = changed(partitioned(4), "c1.matmul->c0.recv_0", link="wide")
    program = route(replace(program, links=(wide,)), TOKEN)
    assert program.link_by_name["wide"] == wide
    assert {link.name for link in program.links} == {"wide", "c2->c0", "c3->c2"}
    carried = {edge.name: edge.link for edge in program.edges}
    assert carried["c1.matmul->c0.recv_0"] == "wide"


def test_a_link_that_is_set_is_used_as_it_is():
    slow = Link("c1->c0", 1, 0, 32, 50)
    program = route(replace(partitioned(2), links=(slow,)), TOKEN)
    assert program.links == (slow,)


def test_routing_again_changes_nothing():
    once = route(partitioned(8), TOKEN)
    assert route(once, TOKEN) == once


def test_more_links_than_ports_are_refused():
    with pytest.raises(LinkPortsExceededError) as refusal:
        route(partitioned(8), get("token-mesh", link_ports=2))
    error = refusal.value
    assert isinstance(error, ShardError)
    assert (error.chip, error.needed, error.ports, error.algorithm) == (0, 3, 2, "tree")
    assert str(error) == (
        "a tree needs 3 links at chip 0, which has 2 link ports; "
        "choose fewer chips, or a target with more link ports"
    )


def test_links_beyond_the_ports_are_refused_without_a_collective_as_well():
    program = replace(partitioned(2), collectives=())
    with pytest.raises(LinkPortsExceededError, match="the program needs 1 links at chip 0"):
        route(program, get("token-mesh", link_ports=0))
