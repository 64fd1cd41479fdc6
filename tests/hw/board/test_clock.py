# amaranth: UnusedElaboratable=no
"""The clock of a board: which block makes it, and how its reset is released."""

from dataclasses import replace

import pytest
from amaranth.hdl import ClockDomain, Module, Signal
from amaranth.sim import Simulator

from bitstream.build_plan import build_plan
from constraints.description import board_names, load_board
from constraints.errors import UnreachableClockError
from hw.board.clock import SETTLING_CYCLES, ClockGenerator, request
from hw.board.resources import platform_of
from tests.hw.board.designs import Blinker

MEGA = 1_000_000
BLOCKS = {"ecp5": "EHXPLLL", "ice40": "SB_PLL40_PAD", "xilinx7": "PLLE2_BASE"}


def at(name: str, target_hz: int):
    board = load_board(name)
    return replace(board, clock=replace(board.clock, target_hz=target_hz))


def design(board) -> str:
    plan = build_plan(Blinker(board), platform_of(board, ()), family=board.family)
    return "\n".join(text for name, text in plan.files if name.endswith((".il", ".v")))


@pytest.mark.parametrize("name", board_names())
def test_where_the_oscillator_has_the_frequency_there_is_no_pll(name):
    board = load_board(name)
    board = replace(board, clock=replace(board.clock, target_hz=board.clock.source_hz))
    assert BLOCKS[board.family] not in design(board)


@pytest.mark.parametrize("name", board_names())
def test_another_frequency_takes_the_block_of_the_family(name):
    board = load_board(name)
    board = replace(board, clock=replace(board.clock, target_hz=2 * board.clock.source_hz))
    text = design(board)
    assert [block for block in BLOCKS.values() if block in text] == [BLOCKS[board.family]]


def test_a_frequency_that_cannot_be_made_is_refused_with_the_nearest():
    with pytest.raises(UnreachableClockError, match="it makes: 12,000,000 or 16,") as caught:
        ClockGenerator(at("icebreaker", 13 * MEGA + 1))
    assert caught.value.nearest[0] == 12 * MEGA


def test_block_rams_of_ice40_get_their_time():
    assert ClockGenerator(load_board("icebreaker")).settling_cycles == 360
    assert ClockGenerator(load_board("ulx3s-85f")).settling_cycles == SETTLING_CYCLES


@pytest.mark.parametrize("lock_at", [0, 5, 40])
def test_the_clock_settles_after_enough_cycles_with_lock(lock_at):
    generator = ClockGenerator(load_board("ulx3s-85f"))
    m = Module()
    m.domains.settling = ClockDomain("settling", reset_less=True)
    steady = Signal()
    settled = generator._settle(m, steady)
    simulator = Simulator(m)
    simulator.add_clock(1e-6, domain="settling")
    seen = []

    async def bench(ctx):
        for cycle in range(lock_at + SETTLING_CYCLES + 8):
            ctx.set(steady, cycle >= lock_at)
            await ctx.tick("settling")
            seen.append(ctx.get(settled))

    simulator.add_testbench(bench)
    simulator.run()
    assert seen.index(1) == lock_at + SETTLING_CYCLES
    assert all(seen[seen.index(1) :])


def test_a_resource_is_requested_by_its_name_and_number():
    platform = platform_of(load_board("ulx3s-85f"), ())
    assert request(platform, "button_fire 1").io.metadata[0].name == "T1"
    assert request(platform, "uart").rx.io.metadata[0].name == "M1"


def test_the_reset_button_is_read_as_its_board_has_it():
    """An inverted button is pressed when its pin is low, and its buffer inverts it."""
    platform = platform_of(load_board("ecpix5-85"), ())
    assert request(platform, "rst 0").invert == (True,)
