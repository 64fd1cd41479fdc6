"""Routes lead over direct links between the chips that an edge joins, and are kept."""

from dataclasses import replace

import pytest

from compiler.errors import LinkPortsExceededError, ShardError
from compiler.ir.edge import Link
from compiler.passes.place import place
from compiler.passes.route import route
from compiler.targets import get
from tests.compiler.programs import MANY_PORTS, TOKEN, changed, lowered, replicated


def chips_of(program, edge) -> tuple[int, int]:
    ends = (program.stage_by_name[name].site.chip for name in (edge.source, edge.destination))
    return tuple(ends)


@pytest.mark.parametrize("chips", [2, 3, 5, 8, 16])
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_every_crossing_edge_has_a_link_of_its_own(chips, reduce):
    program = route(replicated(chips, reduce, target=MANY_PORTS), MANY_PORTS)
    carried = {}
    for edge in program.edges:
        if not program.crosses(edge):
            assert edge.route == ()
            continue
        (name,) = edge.route
        link = program.link_by_name[name]
        assert (link.source_chip, link.destination_chip) == chips_of(program, edge)
        carried[name] = edge.name
    assert len(carried) == len(program.links) == chips - 1


def test_links_are_as_the_target_has_them():
    target = get("token-mesh", link_width_bits=64, link_latency_cycles=3)
    program = route(replicated(2, target=target), target)
    assert program.links == (Link("c1->c0", 1, 0, 64, 3),)


def test_one_chip_has_no_links():
    program = route(place(lowered(), TOKEN), TOKEN)
    assert program.links == ()
    assert {edge.route for edge in program.edges} == {()}
    assert program.requires.link_ports == 0


def test_a_route_that_is_set_is_kept_with_its_link():
    wide = Link("wide", 1, 0, 1024, 2)
    program = changed(replicated(4), "c1.matmul->c0.recv_0", route=("wide",))
    program = route(replace(program, links=(wide,)), TOKEN)
    assert program.link_by_name["wide"] == wide
    assert {link.name for link in program.links} == {"wide", "c2->c0", "c3->c2"}
    routes = {edge.name: edge.route for edge in program.edges}
    assert routes["c1.matmul->c0.recv_0"] == ("wide",)


def test_a_link_that_is_set_is_used_as_it_is():
    slow = Link("c1->c0", 1, 0, 32, 50)
    program = route(replace(replicated(2), links=(slow,)), TOKEN)
    assert program.links == (slow,)


def test_routing_again_changes_nothing():
    once = route(replicated(8), TOKEN)
    assert route(once, TOKEN) == once


@pytest.mark.parametrize("chips", [2, 4, 7, 16])
def test_the_program_requires_the_ports_of_its_busiest_chip(chips):
    program = route(replicated(chips), TOKEN)
    ends = [
        end for edge in program.edges if program.crosses(edge) for end in chips_of(program, edge)
    ]
    assert program.requires.link_ports == max(ends.count(chip) for chip in range(chips))


def test_more_links_than_ports_are_refused():
    with pytest.raises(LinkPortsExceededError) as refusal:
        route(replicated(8), get("token-mesh", link_ports=2))
    error = refusal.value
    assert isinstance(error, ShardError)
    assert (error.chip, error.needed, error.ports, error.algorithm) == (0, 3, 2, "tree")
    assert str(error) == (
        "a tree reduction needs 3 links at chip 0, which has 2 link ports; "
        "choose fewer chips, or a target with more link ports"
    )


def test_links_beyond_the_ports_are_refused_without_a_collective_as_well():
    program = replace(replicated(2), collectives=())
    with pytest.raises(LinkPortsExceededError, match="a routed reduction needs 1 links at chip 0"):
        route(program, get("token-mesh", link_ports=0))
