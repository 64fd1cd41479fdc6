"""Partitioning over a mesh: each element lies on exactly the chips that the layouts say."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.layout import At, Layout, Partial, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Fold, MatmulTiles, Recv, Store
from compiler.passes.algorithms import ALGORITHMS
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.shard_plan import DIMS, ShardPlan
from compiler.workload import MatmulSpec
from tests.compiler.programs import MANY_PORTS, lowered

MESHES = (Mesh(row=2, col=2), Mesh(tp=4), Mesh(row=2, col=3), Mesh(a=2, b=2, c=2))
TILE = 8


def shardings(mesh: Mesh) -> list[dict[str, str]]:
    """Every way to cut m, n and k, each along an axis of its own or not at all."""
    ways = set(permutations((*mesh.names, *[None] * 3), 3))
    return [
        {dim: axis for dim, axis in zip(DIMS, way, strict=True) if axis}
        for way in sorted(ways, key=str)
    ]


EVERY = [
    pytest.param(mesh, shard, id=f"{mesh} {shard}") for mesh in MESHES for shard in shardings(mesh)
]
everywhere = pytest.mark.parametrize(("mesh", "shard"), EVERY)
results = pytest.mark.parametrize("result", ["home", "all"])


def made(mesh: Mesh, shard: dict[str, str], extents=(37, 50, 70), **options) -> Program:
    """A product of 5, 7 and 9 tiles, of which the last ones are short, cut unevenly."""
    plan = ShardPlan(mesh, shard=shard, uneven=True, **options)
    return partition(lowered(*extents, target=MANY_PORTS), plan, MANY_PORTS)


def share(mesh: Mesh, chip: int, axis: str | None, extent: int) -> np.ndarray:
    """The elements along a dimension that a chip has, as numpy deals out the tiles."""
    elements = np.arange(extent)
    if axis is None:
        return elements
    tiles = [elements[begin : begin + TILE] for begin in range(0, extent, TILE)]
    along = np.unravel_index(chip, [a.size for a in mesh.axes])[mesh.names.index(axis)]
    parts = np.array_split(np.arange(len(tiles)), mesh.size(axis))[along]
    return np.concatenate([tiles[part] for part in parts])


@everywhere
@results
def test_each_element_lies_on_exactly_the_chips_whose_slices_have_it(mesh, shard, result):
    program = made(mesh, shard, result=result)
    extents = dict(zip(DIMS, (37, 50, 70), strict=True))
    homes = set(range(mesh.chip_count))
    if shard.get("k") and result == "home":
        axis = mesh.names.index(shard["k"])
        homes = {c for c in homes if mesh.coordinates(c)[axis] == 0}
    for value, dims in (("a", "mk"), ("b", "kn"), ("c", "mn")):
        holders = homes if value == "c" else set(range(mesh.chip_count))
        assert sorted(t.chip for t in program.tensors_of[value]) == sorted(holders)
        for tensor in program.tensors_of[value]:
            rows, cols = (share(mesh, tensor.chip, shard.get(d), extents[d]) for d in dims)
            first = tensor.part.row, tensor.part.col
            assert np.array_equal(np.arange(tensor.rows) + first[0], rows)
            assert np.array_equal(np.arange(tensor.cols) + first[1], cols)
            assert program.real_shape(tensor) == (len(rows), len(cols))


@everywhere
@results
def test_values_say_how_they_are_spread(mesh, shard, result):
    def placement(value: str, axis: str):
        dims = {"a": "mk", "b": "kn", "c": "mn"}[value]
        cuts = next((dim for dim, along in shard.items() if along == axis), None)
        if cuts is not None and cuts in dims:
            return Shard(cuts)
        return At(0) if (value, cuts, result) == ("c", "k", "home") else Replicate()

    program = made(mesh, shard, result=result)
    for value in program.graph.values:
        assert value.layout == tuple(placement(value.name, axis) for axis in mesh.names)
    assert program.claim == lowered(37, 50, 70, target=MANY_PORTS).claim


@everywhere
@results
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_buffers_say_what_they_hold(mesh, shard, result, reduce):
    """Found by walking back over stages to the products whose results are in a page."""
    program = made(mesh, shard, result=result, reduce=reduce)
    k = mesh.names.index(shard["k"]) if "k" in shard else None
    layout = {value.name: value.layout for value in program.graph.values}

    def products(name: str) -> set[int]:
        (stage,) = (stage for stage in program.stages if name in stage.outs)
        if isinstance(stage.kind, MatmulTiles):
            return {stage.chip}
        if isinstance(stage.kind, Recv):
            return products(program.edges_by_destination[stage.name][0].buffer)
        return set().union(*map(products, stage.ins))

    for buffer in program.buffers:
        local = buffer.name.partition(".")[2]
        if local in ("a_pages", "b_pages"):
            assert buffer.holds == (layout[local[0]],)
            continue
        expected: Layout = layout["c"]
        if k is not None:
            chips = products(buffer.name)
            indices = tuple(sorted(mesh.coordinates(chip)[k] for chip in chips))
            assert (
                len({(*mesh.coordinates(c)[:k], *mesh.coordinates(c)[k + 1 :]) for c in chips}) == 1
            )
            whole = len(indices) == mesh.axes[k].size
            held = Replicate() if whole else Partial(indices)
            expected = (*expected[:k], held, *expected[k + 1 :])
        assert buffer.holds == (expected,)


@everywhere
@results
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_each_group_along_the_axis_of_k_has_collectives_of_its_own(mesh, shard, result, reduce):
    program = made(mesh, shard, result=result, reduce=reduce)
    if "k" not in shard:
        assert program.collectives == ()
        assert not any(program.crosses(edge) for edge in program.edges)
        assert not any(isinstance(stage.kind, Recv | Fold) for stage in program.stages)
        return
    axis = mesh.names.index(shard["k"])
    groups: dict[tuple[int, ...], list[int]] = {}
    for chip in range(mesh.chip_count):
        at = mesh.coordinates(chip)
        groups.setdefault((*at[:axis], *at[axis + 1 :]), []).append(chip)
    kinds = ("reduce",) if result == "home" else ("reduce", "broadcast")
    for kind in kinds:
        found = [c for c in program.collectives if c.kind == kind]
        assert sorted(list(c.chips) for c in found) == sorted(groups.values())
        numbers = [""] if len(found) == 1 else [f"_{number}" for number in range(len(found))]
        assert [c.name for c in found] == [f"{reduce}_{kind}{number}" for number in numbers]
        for collective in found:
            assert (collective.value, collective.axis) == ("c", shard["k"])
            assert (collective.algorithm, collective.home) == (reduce, min(collective.chips))
            chips = {program.stage_by_name[name].chip for name in collective.stages}
            assert chips <= set(collective.chips)
    assert len(program.collectives) == len(kinds) * len(groups)
    hops = ALGORITHMS[reduce](mesh.axes[axis].size).parent
    expected = {
        (group[index], group[above])
        for group in groups.values()
        for index, above in enumerate(hops)
        if above is not None
    }
    if result == "all":
        expected |= {(above, below) for below, above in expected}
    assert {
        (program.stage_by_name[e.source].chip, program.stage_by_name[e.destination].chip)
        for e in program.edges
        if program.crosses(e)
    } == expected


@everywhere
def test_along_an_axis_that_cuts_nothing_all_chips_do_the_same(mesh, shard):
    program = made(mesh, shard)
    unused = [mesh.names.index(axis) for axis in mesh.names if axis not in shard.values()]
    for view in program.chips:
        at = tuple(0 if i in unused else x for i, x in enumerate(mesh.coordinates(view.chip)))
        twin = program.chips[mesh.chip(at)]
        for mine, other in zip(view.tensors, twin.tensors, strict=True):
            assert (mine.value, mine.rows, mine.cols, mine.part) == (
                other.value, other.rows, other.cols, other.part
            )  # fmt: skip
        assert len(view.stages) == len(twin.stages)


@everywhere
@results
def test_the_output_keeps_its_name_where_one_chip_alone_has_it(mesh, shard, result):
    program = made(mesh, shard, result=result)
    outputs = [tensor.name for tensor in program.tensors_of["c"]]
    if len(outputs) == 1:
        assert outputs == ["c"]
    else:
        assert outputs == [f"c{t.chip}.c" for t in program.tensors_of["c"]]
    stores = [s for s in program.stages if isinstance(s.kind, Store)]
    assert sorted(s.kind.tensor for s in stores) == sorted(outputs)
    assert all(program.tensor_by_name[s.kind.tensor].chip == s.chip for s in stores)


def test_names_tell_programs_of_one_product_apart():
    names = {
        made(mesh, shard, reduce=reduce, result=result).name
        for mesh in MESHES
        for shard in shardings(mesh)
        for reduce in ("star", "tree")
        for result in ("home", "all")
    }
    sums = sum(
        ("k" in shard) * 4 + ("k" not in shard) for mesh in MESHES for shard in shardings(mesh)
    )
    assert len(names) == sums


@given(
    mesh=st.sampled_from(MESHES),
    data=st.data(),
    pad=st.integers(0, 40),
)
def test_padding_belongs_to_whoever_has_the_end_of_the_contraction(mesh, data, pad):
    """Zeros are no elements: what is real of the slices of A is A once, and no more."""
    shard = data.draw(st.sampled_from([s for s in shardings(mesh) if "k" in s]))
    chips = mesh.size(shard["k"])
    spec = MatmulSpec(40, 56, 13 + pad).padded_k(TILE * chips)
    plan = ShardPlan(mesh, shard={"k": shard["k"]})
    program = partition(lower(spec, MANY_PORTS), plan, MANY_PORTS)
    seen = np.zeros((40, 13 + pad), int)
    for tensor in program.tensors_of["a"]:
        rows, cols = program.real_shape(tensor)
        seen[:rows, tensor.part.col : tensor.part.col + cols] += 1
        assert tensor.cols == spec.k_total // chips
    assert (seen == mesh.chip_count // chips).all()
