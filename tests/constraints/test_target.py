"""Boards as the compiler's machines: what is compiled for one can be cabled."""

import pytest

from compiler.pipeline import compile, shard
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from constraints.cabling import cables_of_program, cabling_of
from constraints.description import board_names, load_board
from constraints.target import board_target
from tests.constraints.files import BOARD


@pytest.mark.parametrize("name", board_names())
def test_a_target_is_what_the_board_provides(name):
    board = load_board(name)
    target = board_target(board)
    assert target.name == name
    assert target.tile == board.tile
    assert target.link_ports == len(board.links)
    assert target.link_width_bits == len(board.links[0].data)
    assert target.link_latency_cycles == board.link.latency_cycles
    assert target.link_flit_cycles == board.link.flit_cycles
    assert target.memory_bytes == board.memory_bytes
    assert (target.local_handoff, target.crossing_handoff) == ("ValidReady", "Token")


def test_another_tile_can_be_asked_for():
    assert board_target(load_board("icebreaker"), tile=4).tile == 4


def test_a_board_without_links_is_for_one_chip(tmp_path):
    path = tmp_path / "alone.toml"
    head, _, tail = BOARD.partition("[[links]]")
    path.write_text(f"links = []\n{head}{tail[tail.index('[[free]]') :]}")
    target = board_target(load_board(path))
    assert target.link_ports == 0
    assert target.description == "a board on the bench: a chip per board, no links"
    compile(MatmulSpec(m=4, n=4, k=4), target)


@pytest.mark.parametrize(("name", "chips"), [("icebreaker", 2), ("ecpix5-85", 4)])
def test_the_links_of_a_program_are_cabled(name, chips):
    board = load_board(name)
    target = board_target(board)
    tile = target.tile
    program = compile(MatmulSpec(m=tile, n=tile, k=tile * chips), target=target)
    sharded = shard(program, ShardPlan(chips, reduce="tree"), target)
    cabling = cabling_of((board,) * chips, cables_of_program(sharded))
    assert [cable.link for cable in cabling.cables] == [link.name for link in sharded.links]
    for cable, link in zip(cabling.cables, sharded.links, strict=True):
        assert (cable.source, cable.destination) == (link.source_chip, link.destination_chip)
        sender, receiver = cabling.ends(cable)
        assert (sender.direction, receiver.direction) == ("out", "in")
