"""The topology is what the program says, whoever puts the system together."""

from dataclasses import replace

import pytest

from compiler.ir.edge import Barrier, Token
from hw.topology import topology_of
from tests.hw.hand_built import relay, shared_link
from tests.programs import ShardPlan, program_for

ALL = ShardPlan(4, "tree", result="all")
PROGRAMS = {
    "one chip": program_for(4, 4, 4, chips=1),
    "no links": program_for(8, 4, 4, plan=ShardPlan(2, shard={"m": "tp"})),
    "tree": program_for(4, 4, 16, chips=4),
    "both ways": program_for(4, 4, 16, plan=ALL),
    "pages": program_for(4, 4, 16, plan=ALL, target="semaphore-mesh"),
    "groups": program_for(4, 4, 16, plan=ALL, target="barrier-mesh"),
    "relay": relay(),
    "turns": shared_link(handoff="Barrier"),
}
each_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)


@each_program
def test_each_link_is_a_channel_between_its_chips_with_the_edge_that_it_carries(program):
    channels = topology_of(program).channels
    assert sorted(channel.link.name for channel in channels) == sorted(
        link.name for link in program.links
    )
    for channel in channels:
        sender = program.stage_by_name[channel.edge.source]
        receiver = program.stage_by_name[channel.edge.destination]
        assert (channel.source, channel.destination) == (sender.chip, receiver.chip)
        assert channel.edge.link == channel.link.name
        (landing,) = receiver.outs
        assert channel.depth_pages == program.buffer_by_name[landing].depth_pages
        assert channel.signature.width_bits == channel.link.width_bits
        assert channel.latency_cycles == channel.link.latency_cycles


@each_program
def test_no_two_channels_share_a_name_or_a_port(program):
    channels = topology_of(program).channels
    ports = [(c.source, c.sender_port) for c in channels]
    ports += [(c.destination, c.receiver_port) for c in channels]
    assert len({*ports}) == len(ports)
    assert len({channel.name for channel in channels}) == len(channels)


@each_program
def test_chips_know_where_they_are_and_how_deep_it_is_where_credits_go(program):
    expected = [{"coordinate": chip} for chip in range(program.chip_count)]
    for edge in program.edges:
        if isinstance(edge.handoff, Token):
            chip = program.stage_by_name[edge.source].chip
            port = f"{edge.buffer.partition('.')[2]}_link_credits"
            expected[chip][port] = program.landing(edge).depth_pages
    assert [*topology_of(program).constants] == expected


@each_program
def test_the_offers_of_a_group_meet_in_one_place(program):
    topology = topology_of(program)
    groups = {e.handoff.group for e in program.edges if isinstance(e.handoff, Barrier)}
    assert len(topology.meeting_points) == len(groups)
    for channel in topology.channels:
        point = topology.meeting_point(channel)
        if not isinstance(channel.edge.handoff, Barrier):
            assert point is None
            continue
        assert point is not None
        assert {c.edge.handoff.group for c in point.channels} == {channel.edge.handoff.group}
        assert point.parameters["receivers"] == len(point.channels)
        assert point.parameters["depth_pages"] == max(c.depth_pages for c in point.channels)


def test_sums_and_wholes_of_one_collective_meet_apart():
    points = topology_of(PROGRAMS["groups"]).meeting_points
    assert [point.name for point in points] == ["barrier_tree_broadcast", "barrier_tree_reduce"]


@each_program
def test_the_order_of_records_says_nothing(program):
    backwards = replace(
        program,
        stages=program.stages[::-1],
        buffers=program.buffers[::-1],
        edges=program.edges[::-1],
        links=program.links[::-1],
    )
    assert topology_of(backwards) == topology_of(program)
