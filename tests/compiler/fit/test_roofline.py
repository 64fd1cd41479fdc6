"""The roofline: figures by hand, and never above what a program takes."""

import math
from dataclasses import replace

import pytest

from compiler.fit.model import Layer
from compiler.fit.roofline import Roofline, in_cycles, in_seconds, received_partials
from compiler.passes.algorithms import tree
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import MemoryTier, PlanningTarget, get
from compiler.workload import MatmulSpec

FAST, SLOW, SLOWEST = MemoryTier("S", 10**6), MemoryTier("H", 10**9, 500), MemoryTier("D", 10**12)
PEAKS = "peak_operations_per_second"


def planned(**changes) -> PlanningTarget:
    """A machine of round figures."""
    figures = {
        "name": "paper",
        "description": "",
        "memory": (FAST, SLOW, SLOWEST),
        PEAKS: (("fp8", 4000), ("bf16", 1000)),
        "link_bytes_per_second": 100,
        "max_chips": 64,
    } | changes
    named = [
        "max_chips",
        "link_bytes_per_second",
        *(f"{PEAKS}.{name}" for name, _ in figures[PEAKS]),
        *(f"memory.{tier.name}.capacity_bytes" for tier in figures["memory"]),
        *(f"memory.{tier.name}.bytes_per_second" for tier in figures["memory"]),
    ]
    return PlanningTarget(**figures, sources=tuple((name, "here") for name in named))


def test_cycles_by_hand():
    # 24 x 20 is 3 x 3 tiles of 8; k = 64 over 2 chips is 4 blocks of 8; a beat of 8 int32 is 256
    # bits, which are 4 flits of 64.
    target = get("token-mesh", link_width_bits=64)
    times = in_cycles(Layer("up", 24, 20, 64), 2, target)
    assert times == Roofline(compute=9 * 4 * 8, memory=9 * 4 * 8, link=9 * 8 * 4)
    assert (times.time, times.bound, times.undecided) == (288, "compute", ())


def test_a_narrow_link_bounds_and_one_chip_has_none():
    target = get("token-mesh", link_width_bits=32)
    assert in_cycles(Layer("up", 8, 8, 64), 4, target) == Roofline(16, 16, 64)
    assert in_cycles(Layer("up", 8, 8, 64), 4, target).bound == "link"
    assert in_cycles(Layer("up", 8, 8, 64), 1, target) == Roofline(64, 64, 0)


def test_an_uneven_slice_counts_whole_blocks():
    assert in_cycles(Layer("up", 1, 1, 65), 4, get("token-mesh")).compute == 3 * 8


def test_a_machine_takes_no_known_time_for_what_it_does_not_multiply():
    times = in_cycles(Layer("up", 8, 8, 64, dtype="bf16"), 2, get("token-mesh"))
    assert times == Roofline(None, None, 8)
    assert (times.bound, times.undecided) == ("link", ("compute", "memory"))
    assert in_cycles(Layer("up", 8, 8, 64, dtype="bf16"), 1, get("token-mesh")).bound is None


def test_seconds_by_hand():
    # Each of 4 chips: 2 * 10 * 20 * 10 operations; 10 * 10 + 10 * 20 elements of 2 bytes and 200
    # sums of 4; the home chip receives two partial sums.
    times = in_seconds(Layer("up", 10, 20, 40, dtype="bf16"), 4, planned(), SLOW)
    assert times.compute == 4000 / 1000
    assert times.memory == times.memory_at_most == (300 * 2 + 800) / 500
    assert times.link == 2 * 800 / 100
    assert (times.time, times.bound, times.undecided) == (16, "link", ())


def test_an_uneven_slice_counts_the_longest():
    assert in_seconds(Layer("up", 1, 1, 10, dtype="fp8"), 4, planned(), SLOW).compute == 6 / 4000


def test_a_slower_memory_limits_one_of_unknown_rate():
    layer = Layer("up", 10, 20, 40, dtype="bf16")
    times = in_seconds(layer, 4, planned(), FAST)
    assert (times.memory, times.memory_at_most) == (None, 1400 / 500)
    assert (times.bound, times.undecided) == ("link", ())
    alone = in_seconds(layer, 1, planned(), FAST)
    assert (alone.compute, alone.memory_at_most) == (16, (1200 * 2 + 800) / 500)
    assert (alone.bound, alone.undecided) == ("compute", ())
    quick = planned(**{PEAKS: (("bf16", 10**6),)}, link_bytes_per_second=10**6)
    assert in_seconds(layer, 4, quick, FAST).undecided == ("memory",)


def test_nothing_limits_the_slowest_memory_of_unknown_rate():
    times = in_seconds(Layer("up", 10, 20, 40, dtype="bf16"), 4, planned(), SLOWEST)
    assert (times.memory, times.memory_at_most) == (None, None)
    assert times.undecided == ("memory",)
    assert in_seconds(Layer("up", 1, 1, 1), 1, planned(), None).memory is None


def test_a_figure_that_is_unknown_leaves_its_time_unknown():
    times = in_seconds(Layer("up", 1, 1, 4), 2, planned(link_bytes_per_second=None), SLOW)
    assert (times.compute, times.link) == (None, None)
    assert times.undecided == ("compute", "link")
    alone = in_seconds(Layer("up", 1, 1, 4), 1, planned(link_bytes_per_second=None), SLOW)
    assert alone.link == 0


def test_nothing_known_is_no_bound():
    nothing = Roofline(None, None, None)
    assert (nothing.time, nothing.bound) == (0, None)
    assert nothing.undecided == ("compute", "memory", "link")


def test_a_tie_goes_to_compute_and_then_to_memory():
    assert Roofline(5, 5, 5).bound == "compute"
    assert Roofline(4, 5, 5).bound == "memory"


@pytest.mark.parametrize("chips", range(1, 40))
def test_the_home_chip_receives_as_many_partials_as_the_tree_has_levels(chips):
    assert received_partials(chips) == len(tree(chips).children[0])
    assert received_partials(chips) == math.ceil(math.log2(chips))


@pytest.mark.parametrize("width", [16, 64, 256])
@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh", "barrier-mesh"])
@pytest.mark.parametrize("chips", [1, 2, 4])
def test_no_program_is_predicted_to_be_faster(target, chips, width):
    machine = get(target, link_width_bits=width)
    for m, n, k in ((8, 8, 32), (20, 12, 128), (1, 40, 64)):
        program = compile(MatmulSpec(m, n, k), machine, ShardPlan(chips))
        times = in_cycles(Layer("up", m, n, k), chips, machine)
        assert times.compute == program.schedule.ideal_cycles
        assert times.time < program.schedule.cycles
        assert program.schedule.bound.split()[0] == times.bound


def test_more_chips_never_take_longer_to_compute():
    layer = Layer("up", 16, 100, 1000, dtype="bf16")
    counts, tiled = range(1, 65), replace(layer, dtype="int8")
    for times in (
        [in_seconds(layer, chips, planned(), SLOW).compute for chips in counts],
        [in_cycles(tiled, chips, get("token-mesh")).compute for chips in counts],
    ):
        assert times == sorted(times, reverse=True)
