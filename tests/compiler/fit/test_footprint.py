"""Bytes of a layer: by hand, and as a compiled program has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.fit.footprint import (
    MemoryFootprint,
    planned_footprint,
    program_footprint,
    tiled_footprint,
)
from compiler.fit.model import Layer
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec


def test_planned_bytes_by_hand():
    layer = Layer("up", 3, 5, 10, dtype="bf16")
    assert planned_footprint(layer, 1) == MemoryFootprint(10 * 5 * 2, 3 * 10 * 2, 3 * 5 * 4)
    assert planned_footprint(layer, 4) == MemoryFootprint(3 * 5 * 2, 3 * 3 * 2, 2 * 3 * 5 * 4)


def test_tiled_bytes_by_hand():
    # 2 x 3 result tiles of 64 elements, 5 blocks of k in all, so 2 on each of 4 chips.
    layer = Layer("up", 9, 20, 40)
    weights, activations, result = 2 * 3 * 64, 2 * 2 * 64, 2 * 3 * 64 * 4
    buffers = 2 * 2 * 64 + (1 + 2 + 1) * 2 * 64 * 4
    assert tiled_footprint(layer, 4, 8) == MemoryFootprint(weights, activations + result, buffers)
    assert tiled_footprint(layer, 1, 8) == MemoryFootprint(
        5 * 3 * 64, 2 * 5 * 64 + result, 2 * 2 * 64 + 1 * 2 * 64 * 4
    )


def test_small_tensors_begin_at_multiples_of_64_bytes():
    assert tiled_footprint(Layer("up", 1, 1, 4), 1, 2) == MemoryFootprint(64, 64 + 64, 2 * 64 + 64)


@pytest.mark.parametrize("tile", [1, 2, 3, 8])
@pytest.mark.parametrize("chips", [1, 2, 3, 4, 8])
def test_the_bytes_of_a_program_are_those_of_its_memory_map(tile, chips):
    machine = get("token-mesh", tile=tile)
    m, n, k = 5, 7, 6 * tile * chips
    program = compile(MatmulSpec(m, n, k), machine, ShardPlan(chips))
    footprint = program_footprint(program)
    ends = {place.chip: 0 for place in program.memory}
    for place in program.memory:
        ends[place.chip] = max(ends[place.chip], place.address + place.size_bytes)
    assert sum(footprint) == ends[0] == max(ends.values())
    tiled = tiled_footprint(Layer("up", m, n, k), chips, tile)
    assert footprint[:2] == tiled[:2]


@given(
    m=st.integers(1, 200),
    n=st.integers(1, 200),
    k=st.integers(1, 2000),
    tile=st.sampled_from([1, 4, 8, 16]),
    dtype=st.sampled_from(["int8", "bf16"]),
)
def test_more_chips_never_hold_more_weights(m, n, k, tile, dtype):
    layer = Layer("up", m, n, k, dtype=dtype)
    for footprints in (
        [planned_footprint(layer, chips) for chips in range(1, 20)],
        [tiled_footprint(layer, chips, tile) for chips in range(1, 20)],
    ):
        weights = [footprint.weights for footprint in footprints]
        activations = [footprint.activations for footprint in footprints]
        assert weights == sorted(weights, reverse=True)
        assert activations == sorted(activations, reverse=True)
        assert weights[-1] > 0
