# amaranth: UnusedElaboratable=no
"""Systems of programs that are built by hand: forwards, and links that several edges share."""

from dataclasses import replace

import pytest

from compiler.flow.counts import page_counts
from compiler.ir.orientation import Orientation
from compiler.ir.stage import Load
from compiler.ir.walk import Loop, Walk
from compiler.latencies import FIFO_CYCLES, LOAD_CYCLES
from hw.chip import Chip
from hw.distinct import distinct_chips
from hw.verilog.convert import to_verilog
from tests.hw.hand_built import assembled, kept, relay, shared_link, stage, tensor
from tests.hw.simulation import idle, simulate
from tests.hw.system_bench import SETTLING_CYCLES, SystemBench, put_in, taken_out
from tests.programs import random_operands

HANDOFFS = ("Token", "Semaphore", "Barrier")


def three_runs(program) -> list[int]:
    """Cycles of three runs without a reset between them, all of which are right."""
    bench, took = SystemBench(program), []

    async def testbench(ctx):
        for seed in range(3):
            await idle(ctx, SETTLING_CYCLES)
            right, cycles = await bench.multiply(ctx, *random_operands(program, seed))
            assert right
            took.append(cycles)
            for channel in bench.system.topology.channels:
                sender = bench.system.chips[channel.source]
                beats = ctx.get(sender.activity.count(f"{channel.sender_port}_beats"))
                assert beats == page_counts(program)[channel.edge.buffer] * program.tile

    simulate(bench.dut, testbench)
    return took


@pytest.mark.parametrize("depth_pages", [1, 2, 4])
@pytest.mark.parametrize("handoff", HANDOFFS)
def test_a_chip_passes_on_what_it_receives(handoff, depth_pages):
    program = relay(handoff=handoff, depth_pages=depth_pages)
    assert [len(chip.products) for chip in program.chips] == [0, 0, 1]
    assert len(set(three_runs(program))) == 1


@pytest.mark.covers("values")
@pytest.mark.parametrize("turns", [(0, 1), (1, 0), (0, 1, 1), (1, 0, 1, 1, 0)], ids=str)
@pytest.mark.parametrize("handoff", HANDOFFS)
def test_edges_that_share_a_link_part_again_behind_it(handoff, turns):
    assert len(set(three_runs(shared_link(turns, handoff=handoff)))) == 1


def test_a_chip_that_passes_on_differs_by_how_many_pages_it_does():
    """Nothing else of it tells when it is done."""
    program = relay(8)
    assert distinct_chips(program) == {0: 0, 1: 1, 2: 2}
    fewer, more = (
        [page_counts(program)[edge.buffer] for edge in program.chips[1].outgoing]
        for program in (program, relay(16))
    )
    assert fewer == [4]
    assert more == [8]


def test_a_chip_may_do_nothing_but_copy_a_tensor():
    """Nothing that it has can lose a beat, so it has no fault."""
    held = tensor("c0.a", "a", range(4), range(4), Orientation.ROWS)
    kept_one, store = kept(0, range(4), 4, "pages", name="c")
    kept_one = replace(kept_one, dtype=held.dtype)
    load = stage("c0.load", Load(held.name, Walk((Loop(1, 1),))), (), ("pages",))
    program = assembled(1, (4, 4, 4), [held, kept_one], [load, store], {})
    assert "fault" in to_verilog(Chip(program, 0, host=True), "chip")
    chip, took = Chip(program, 0), []

    async def testbench(ctx):
        beats = [[1, 2, 3, 4], [-5, 6, 7, 8], [9, 10, -11, 12], [13, 14, 15, -16]]
        put_in(ctx, chip, "c0.a", beats)
        ctx.set(chip.start, 1)
        await ctx.tick()
        ctx.set(chip.start, 0)
        while not ctx.get(chip.done):
            await ctx.tick()
        took.append(ctx.get(chip.activity.cycles))
        assert taken_out(ctx, chip, "c") == beats

    simulate(chip, testbench)
    assert took == [LOAD_CYCLES + FIFO_CYCLES + 3]
