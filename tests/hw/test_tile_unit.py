# amaranth: UnusedElaboratable=no
import random

import numpy as np
import pytest
from amaranth.hdl import ResetInserter, Signal

from hw.multiplier.logic import LogicMultiplier
from hw.multiplier.plan import MultiplierPlan
from hw.tile_unit import TileUnit
from tests.hw.simulation import (
    delayed,
    idle,
    landing_buffer,
    lanes,
    monitor,
    producer,
    random_beats,
    simulate,
)

SHAPES = [(1, 1), (1, 3), (3, 1), (3, 2), (4, 1), (5, 2)]


def tile_unit(tile, block_count, result_pages, bits=8) -> TileUnit:
    """A tile unit whose totals are just wide enough for one result, so that they soon wrap."""
    greatest = tile * block_count * 4 ** (bits - 1)
    return TileUnit(
        lanes(tile, bits),
        lanes(tile, greatest.bit_length() + 1),
        block_count=block_count,
        result_pages=result_pages,
    )


def results_of(a, b, beats_per_result) -> list[list[int]]:
    """Rows of the products of A tiles, given as columns, and B tiles, given as rows."""
    rows = []
    for first in range(0, len(a), beats_per_result):
        columns = np.array(a[first : first + beats_per_result], dtype=np.int64)
        rows += (columns.T @ np.array(b[first : first + beats_per_result])).tolist()
    return rows


def operands(dut, results, seed):
    rng = random.Random(seed)
    count = results * dut.block_count * dut.tile
    return (random_beats(rng, count, dut.operand), random_beats(rng, count, dut.operand))


def feed_and_read(dut, a, b, received, *, densities=(1.0, 1.0, 1.0), seed=0):
    """Producers of both operands and a reader of the results."""
    density_a, density_b, density_c = densities
    return [
        producer(dut.a, a, density=density_a, seed=f"a/{seed}"),
        producer(dut.b, b, density=density_b, seed=f"b/{seed}"),
        landing_buffer(
            dut.c,
            received,
            len(a) // dut.block_count,
            page_beats=dut.tile,
            depth_pages=dut.result_pages,
            page_release=dut.page_release,
            density=density_c,
            seed=seed,
        ),
    ]


@pytest.mark.covers("pairs")
@pytest.mark.parametrize(("tile", "block_count"), SHAPES)
@pytest.mark.parametrize("result_pages", [1, 3])
@pytest.mark.parametrize("density_a", [0.3, 1.0])
@pytest.mark.parametrize("density_b", [0.3, 1.0])
@pytest.mark.parametrize("read_density", [0.2, 1.0])
def test_multiplies_tiles(tile, block_count, result_pages, density_a, density_b, read_density):
    densities = (density_a, density_b, read_density)
    seed = f"{tile}/{block_count}/{result_pages}/{densities}"
    dut = tile_unit(tile, block_count, result_pages)
    a, b = operands(dut, 10, seed)
    received, log = [], []
    simulate(
        dut,
        *feed_and_read(dut, a, b, received, densities=densities, seed=seed),
        monitors=[monitor(log, dut.a.valid, dut.a.ready, dut.b.valid, dut.b.ready, dut.active)],
    )
    assert received == results_of(a, b, block_count * tile)
    for a_valid, a_ready, b_valid, b_ready, active in log:
        assert (a_valid and a_ready) == (b_valid and b_ready) == active


@pytest.mark.parametrize("bits", [2, 8])
@pytest.mark.parametrize(("a_sign", "b_sign"), [(-1, -1), (-1, 1), (1, -1), (1, 1)])
def test_is_exact_at_the_extremes_while_its_accumulators_wrap_around(a_sign, b_sign, bits):
    extreme = {-1: -(1 << (bits - 1)), 1: (1 << (bits - 1)) - 1}
    dut = tile_unit(3, 2, result_pages=2, bits=bits)
    results = 20
    a, b = ([[extreme[sign]] * 3] * (6 * results) for sign in (a_sign, b_sign))
    received = []
    simulate(dut, *feed_and_read(dut, a, b, received))
    assert received == [[6 * extreme[a_sign] * extreme[b_sign]] * 3] * (3 * results)
    assert abs(6 * extreme[a_sign] * extreme[b_sign]) * results >= 1 << dut.total.elem_shape.width


@pytest.mark.parametrize("tile", [1, 3])
def test_planned_multipliers_keep_schedule_and_results(tile):
    plan = MultiplierPlan(tile, LogicMultiplier, tile)
    logs = []
    for multipliers in (None, plan):
        dut = TileUnit(
            lanes(tile),
            lanes(tile, 32),
            block_count=2,
            result_pages=2,
            multipliers=multipliers,
        )
        a, b = operands(dut, 6, "planned")
        received, log = [], []
        benches = feed_and_read(dut, a, b, received, densities=(0.8, 0.8, 0.8))
        simulate(dut, *benches, monitors=[monitor(log, dut.active, dut.c.valid, dut.c.payload)])
        assert received == results_of(a, b, 2 * tile)
        logs.append(log)
    assert logs[0] == logs[1]


@pytest.mark.covers("values")
@pytest.mark.parametrize(("tile", "block_count"), SHAPES)
@pytest.mark.parametrize("result_pages", [1, 2, 3, 8])
def test_keeps_its_schedule_to_the_cycle(tile, block_count, result_pages):
    """A result follows the one before without an idle cycle, unless it waits for a page.

    The last row of a result is out ``tile - 1 + 7`` cycles after its last pair; it can be read in
    the next cycle, and its page be taken again in the one after that.
    """
    dut = tile_unit(tile, block_count, result_pages)
    beats = block_count * tile
    a, b = operands(dut, results := 12, "schedule")
    received, log = [], []
    benches = feed_and_read(dut, a, b, received)
    simulate(dut, *benches, monitors=[monitor(log, dut.active, dut.c.valid)])
    starts = [0]
    for result in range(1, results):
        starts.append(starts[-1] + beats)
        if result >= result_pages:
            page_taken = starts[result - result_pages]
            starts[-1] = max(starts[-1], page_taken + (beats - 1) + (tile - 1 + 7) + 2)
    assert [cycle for cycle, (active, _) in enumerate(log) if active] == [
        start + beat for start in starts for beat in range(beats)
    ]
    assert [cycle for cycle, (_, valid) in enumerate(log) if valid] == [
        start + (beats - 1) + 7 + row for start in starts for row in range(tile)
    ]
    if (result_pages - 1) * beats >= tile + 7:
        assert starts == [*range(0, results * beats, beats)]
    assert received == results_of(a, b, beats)


@pytest.mark.parametrize(("tile", "block_count"), SHAPES)
@pytest.mark.parametrize("result_pages", [1, 2, 3])
def test_starts_no_result_without_room_for_all_of_it(tile, block_count, result_pages):
    dut = tile_unit(tile, block_count, result_pages)
    beats = block_count * tile
    log = []

    async def both_ends(ctx):
        ctx.set(dut.a.valid, 1)
        ctx.set(dut.b.valid, 1)
        await idle(ctx, result_pages * beats + 10)
        ctx.set(dut.page_release, 1)
        await ctx.tick()
        ctx.set(dut.page_release, 0)
        await idle(ctx, beats + 10)

    simulate(dut, both_ends, monitors=[monitor(log, dut.active, dut.a.ready, dut.b.ready)])
    takes, waits = [(1, 1, 1)], [(0, 0, 0)]
    assert log == takes * result_pages * beats + waits * 11 + takes * beats + waits * 10


@pytest.mark.parametrize("cycles_before", [1, 4, 6, 8, 9, 10, 11, 13, 20])
@pytest.mark.parametrize("tile", [1, 3])
def test_gives_right_answers_again_after_a_reset_in_mid_run(tile, cycles_before):
    dut = tile_unit(tile, 2, result_pages=2)
    reset = Signal()
    a, b = operands(dut, 6, cycles_before)
    received = []

    async def reset_in_mid_run(ctx):
        ctx.set(dut.a.payload, a[-1])
        ctx.set(dut.b.payload, b[-1])
        ctx.set(dut.a.valid, 1)
        ctx.set(dut.b.valid, 1)
        await idle(ctx, cycles_before)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        ctx.set(dut.a.valid, 0)
        ctx.set(dut.b.valid, 0)

    async def no_beat_is_left(ctx):
        await idle(ctx, cycles_before + 1)
        for _ in range(12):
            _, _, valid = await ctx.tick().sample(dut.c.valid)
            assert not valid

    again = feed_and_read(dut, a, b, received, densities=(0.6, 0.6, 0.6), seed=cycles_before)
    simulate(
        ResetInserter(reset)(dut),
        reset_in_mid_run,
        no_beat_is_left,
        *(delayed(cycles_before + 15, testbench) for testbench in again),
    )
    assert received == results_of(a, b, 2 * tile)


@pytest.mark.parametrize("pages_before", [0, 1])
def test_asserts_that_a_released_page_was_produced(pages_before):
    dut = tile_unit(3, 1, result_pages=2)

    async def releases_one_page_too_many(ctx):
        ctx.set(dut.a.valid, 1)
        ctx.set(dut.b.valid, 1)
        await idle(ctx, 3 * pages_before)
        ctx.set(dut.a.valid, 0)
        ctx.set(dut.page_release, 1)
        await idle(ctx, pages_before)
        await ctx.tick()

    with pytest.raises(AssertionError, match="page released that was never produced"):
        simulate(dut, releases_one_page_too_many)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"operand": 8}, "Operand must be an ArrayLayout of signed lanes, not 8"),
        ({"total": 32}, "Total must be an ArrayLayout of signed lanes, not 32"),
        ({"block_count": 0}, "Block count must be a positive integer, not 0"),
        ({"result_pages": 1.0}, "Result pages must be a positive integer, not 1.0"),
    ],
    ids=str,
)
def test_refuses_wrong_arguments(change, text):
    right = {"operand": lanes(3), "total": lanes(3, 32), "block_count": 1, "result_pages": 1}
    with pytest.raises(TypeError) as error:
        TileUnit(**right | change)
    assert str(error.value) == text


def test_refuses_layouts_of_different_lanes():
    with pytest.raises(ValueError, match="lanes") as error:
        TileUnit(lanes(3), lanes(4, 32), block_count=1, result_pages=1)
    rule = "Operand and total must have the same number of lanes"
    assert str(error.value) == f"{rule}, not 3 and 4"


def test_refuses_multipliers_planned_for_another_array():
    plan = MultiplierPlan(4, LogicMultiplier, 4)
    text = "Multipliers must be planned for tiles of 3, not 4"
    with pytest.raises(ValueError, match=text):
        TileUnit(lanes(3), lanes(3, 32), block_count=1, result_pages=1, multipliers=plan)
