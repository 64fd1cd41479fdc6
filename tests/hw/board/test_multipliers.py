from dataclasses import replace

import pytest

from constraints.description import load_board
from constraints.families import FAMILIES
from hw.board.multipliers import BLOCKS, board_multipliers
from hw.multiplier.ecp5 import Ecp5Multiplier
from hw.multiplier.ice40 import Ice40Multiplier
from hw.multiplier.logic import LogicMultiplier
from tests.programs import program_for


@pytest.mark.parametrize(
    ("name", "tile", "blocks", "kind"),
    [
        ("ulx3s-85f", 8, 64, Ecp5Multiplier),
        ("ecpix5-85", 16, 156, Ecp5Multiplier),
        ("icebreaker", 2, 4, Ice40Multiplier),
        ("icebreaker", 4, 8, Ice40Multiplier),
    ],
)
def test_blocks_are_taken_as_far_as_the_device_has_them(name, tile, blocks, kind):
    plan = board_multipliers(program_for(8, 8, 32, tile=tile), 0, load_board(name))
    assert plan is not None
    assert (plan.tile, plan.block, plan.block_count) == (tile, kind, blocks)
    kinds = [plan.kind(row, lane) for row in range(tile) for lane in range(tile)]
    assert kinds.count(kind) == blocks
    assert kinds.count(LogicMultiplier) == plan.rest_count == tile**2 - blocks


def test_there_is_a_block_for_every_family_that_is_said_to_have_one():
    assert set(BLOCKS) == {name for name, each in FAMILIES.items() if each.multiplier_blocks}


def test_a_plain_style_leaves_them_to_the_tool():
    program = program_for(8, 8, 32, tile=8)
    assert board_multipliers(program, 0, load_board("arty-a7-100t")) is None
    board = replace(load_board("ulx3s-85f"), multiplier_style="plain")
    assert board_multipliers(program, 0, board) is None
