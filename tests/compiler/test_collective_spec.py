"""Collectives that cannot be are refused, with what is wrong and the way out."""

from dataclasses import fields
from typing import Any

import pytest

from compiler.check import ways
from compiler.collective_spec import CHANGES, CollectiveSpec
from compiler.errors import CollectiveSpecError, NoCrossChipHandoffError, TooFewTilesError
from compiler.ir.collective import COLLECTIVE_KINDS
from compiler.ir.dtype import FP32, INT64, integer
from compiler.ir.mesh import Mesh, mesh_of
from compiler.passes.page_ways import HOPS
from compiler.pipeline import compile_collective
from tests.collective_programs import TARGET, TILE, spec_of
from tests.compiler.programs import LOCAL_ONLY


def spec(**changes: Any) -> CollectiveSpec:
    stated: dict[str, Any] = {
        "kind": "all_reduce",
        "mesh": mesh_of(4),
        "rows": 8,
        "cols": 8,
        "axis": "tp",
        "algorithm": "ring",
    }
    return CollectiveSpec(**{**stated, **changes})


KINDS = ", ".join(CHANGES)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("kind", "scan", f"one of {KINDS}"),
        ("kind", "all-reduce", f"one of {KINDS}"),
        ("axis", "dp", "one of tp"),
        ("algorithm", "snake", "one of chain, ring, ring-both-ways, star, tree"),
        ("algorithm", None, "one of chain, ring, ring-both-ways, star, tree"),
        ("combine", "product", "one of sum, max"),
        ("rows", 0, "a positive integer"),
        ("rows", 4.0, "a positive integer"),
        ("rows", True, "a positive integer"),
        ("cols", -8, "a positive integer"),
        ("home", 4, "from 0 to 3"),
        ("home", -1, "from 0 to 3"),
    ],
)
def test_a_field_that_cannot_be_is_refused(field, value, rule):
    with pytest.raises(CollectiveSpecError) as refusal:
        spec(**{field: value})
    assert (refusal.value.field, refusal.value.rule) == (field, rule)
    assert refusal.value.value is value
    assert str(refusal.value) == f"collective: {field} must be {rule}, not {value!r}"


@pytest.mark.parametrize("dtype", [integer(1), integer(33), INT64, FP32], ids=str)
def test_elements_that_the_machine_does_not_add_are_refused(dtype):
    with pytest.raises(CollectiveSpecError) as refusal:
        spec(dtype=dtype)
    assert str(refusal.value) == (
        f"collective: dtype must be signed integers of 2 to 32 bits, not {str(dtype)!r}"
    )


def test_a_single_chip_has_nobody_to_share_with():
    for mesh, axis in ((mesh_of(1), "tp"), (Mesh(row=4, col=1), "col")):
        with pytest.raises(CollectiveSpecError) as refusal:
            spec(mesh=mesh, axis=axis)
        assert str(refusal.value) == f"collective: axis {axis} must be of at least 2 chips, not 1"


def test_every_field_is_refused_somewhere_or_is_a_record():
    assert {field.name for field in fields(CollectiveSpec)} == {
        *("kind", "axis", "algorithm", "combine", "rows", "cols", "home", "dtype"),
        "mesh",
    }


def test_the_checker_knows_the_same_kinds_and_algorithms():
    """It states them once more, and takes nothing from the compiler."""
    assert {*CHANGES} == {*COLLECTIVE_KINDS} == {*ways.CHANGES}
    assert {*HOPS} == {*ways.STEPS}
    for kind, change in CHANGES.items():
        assert ways.CHANGES[kind] == (change.given, change.made, change.combines)


@pytest.mark.parametrize("algorithm", HOPS)
@pytest.mark.parametrize("count", range(2, 17))
def test_the_checker_allows_every_step_that_an_algorithm_takes(algorithm, count):
    for root in range(count):
        for index in range(count):
            if index != root:
                near, far = index, HOPS[algorithm](index, root, count)
                assert ways.STEPS[algorithm](near, far, count), (near, far)


CUT = {
    "reduce_scatter": "n",
    "all_gather": "n",
    "gather": "n",
    "scatter": "n",
    "all_to_all": "n",
}
"""Kinds that deal columns out, of which each chip needs a tile."""


@pytest.mark.parametrize("kind", CUT)
def test_a_chip_that_would_be_left_without_a_tile_is_refused(kind):
    with pytest.raises(TooFewTilesError) as refusal:
        compile_collective(spec_of(kind, "ring", 4, rows=8, cols=3 * TILE), TARGET)
    assert str(refusal.value) == (
        "axis n of 6 has 3 tiles of 2, fewer than the 4 chips that are to share them; choose fewer "
        "chips or a smaller tile"
    )
    compile_collective(spec_of(kind, "ring", 4, rows=8, cols=3 * TILE + 1), TARGET)


def test_rows_that_are_dealt_out_are_to_be_enough_too():
    with pytest.raises(TooFewTilesError, match=r"^axis m of 4 has 2 tiles of 2, fewer than the 3 "):
        compile_collective(spec_of("all_to_all", "star", 3, rows=4), TARGET)


@pytest.mark.parametrize("kind", sorted({*CHANGES} - {*CUT}))
def test_what_is_not_cut_may_be_of_a_single_tile(kind):
    assert compile_collective(spec_of(kind, "ring", 4, rows=TILE, cols=1), TARGET).certificate


def test_chips_that_nothing_joins_have_no_collectives():
    with pytest.raises(NoCrossChipHandoffError):
        compile_collective(spec_of("broadcast", "star", 2), LOCAL_ONLY)


@pytest.mark.parametrize("kind", [kind for kind, change in CHANGES.items() if change.combines])
def test_slices_that_end_within_a_tile_are_refused(kind):
    """Rows of what is given are those of all slices, so the next would begin within a tile."""
    with pytest.raises(CollectiveSpecError) as refusal:
        compile_collective(spec_of(kind, "ring", 2, rows=TILE + 1), TARGET)
    assert str(refusal.value) == (
        "collective: rows must be a multiple of the tile, which is 2, where slices are combined, "
        "not 3"
    )
