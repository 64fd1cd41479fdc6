"""Whether a program is for the boards that it is built for."""

from dataclasses import replace

import pytest

from bitstream.board_check import check_board
from bitstream.errors import ProgramBoardError
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from constraints.description import load_board
from constraints.target import board_target
from tests.bitstream.tools import small_program

ICE, ULX = (load_board(name) for name in ("icebreaker", "ulx3s-85f"))


def test_a_program_for_other_links_is_refused():
    program = small_program(ICE)
    check_board(program, ICE)
    with pytest.raises(
        ProgramBoardError, match=r"not for board 'ulx3s-85f': its link_width_bits is 4, .* 8; "
    ):
        check_board(program, ULX)


def test_a_program_that_needs_more_memory_than_its_boards_have_is_refused():
    program = small_program(ICE)
    needed = sum(place.size_bytes for place in program.memory if place.chip == 0)
    check_board(program, replace(ICE, memory_bytes=needed))
    with pytest.raises(ProgramBoardError) as refused:
        check_board(program, replace(ICE, memory_bytes=needed - 1))
    assert str(refused.value) == (
        f"program {program.name!r} is not for board 'icebreaker': its memory of chip 0 in bytes is "
        f"{needed}, and that of the board {needed - 1}; compile it for the board (leave --program "
        "out)"
    )


def test_a_program_whose_pages_come_faster_than_credits_is_refused():
    """A page of one sum of 32 bits takes 2 flits of 16 bits, of 2 cycles each."""
    wide = replace(ICE.links[0], data=tuple("abcdefghijklmnop"))
    board = replace(ICE, links=(wide, *ICE.links[1:]))
    spec = MatmulSpec(m=4, n=4, k=16)
    program = compile(spec, board_target(board, tile=1), ShardPlan(2, "tree"))
    (edge,) = (edge for edge in program.edges if program.crosses(edge))
    with pytest.raises(ProgramBoardError) as refused:
        check_board(program, board)
    assert str(refused.value) == (
        f"program {program.name!r} is not for board 'icebreaker': its number of cycles for a page "
        f"on edge {edge.name!r} is 4, and a board returns a credit in 6, so that credits would "
        "come slower than pages; compile it with a larger tile"
    )
    larger = compile(spec, board_target(board, tile=2), ShardPlan(2, "tree"))
    check_board(larger, board)
