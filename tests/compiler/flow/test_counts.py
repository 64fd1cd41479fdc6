"""Page counts: what each buffer is given, where it is chosen."""

from dataclasses import replace

import pytest

from compiler.flow.counts import known_page_counts, page_counts
from compiler.flow.errors import FlowError
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Load, MatmulTiles, Merge, Split, Stage, Store
from tests.compiler.programs import changed, compiled, lowered, sharded, spread

ONE, FOUR = compiled(), sharded(4)
RESULTS, BLOCKS = 2 * 2, 8


def switched(*stages: Stage, stored: str) -> Program:
    """What the product makes passes copies, merges and splits before it is stored."""
    program = changed(ONE, "store_c", ins=(stored,))
    return replace(program, stages=(*program.stages, *stages))


COPY = Stage("copy", Copy(), ins=("partial",), outs=("one", "two"))


def test_every_buffer_has_the_pages_of_its_own_chip():
    assert page_counts(ONE) == {
        "a_pages": RESULTS * BLOCKS,
        "b_pages": RESULTS * BLOCKS,
        "partial": RESULTS,
    }
    counts = page_counts(FOUR)
    assert counts.keys() == FOUR.buffer_by_name.keys()
    assert {counts[name] for name in counts if name.endswith(("a_pages", "b_pages"))} == {8}
    assert {counts[name] for name in counts if not name.endswith("_pages")} == {4}


def test_merges_and_splits_share_pages_by_their_turns():
    more = Stage("more", Copy(), ins=("two",), outs=("three", "four"))
    merge = Stage("merge", Merge((0, 1, 0, 2, 0, 1, 2)), ins=("one", "three", "four"), outs=("j",))
    with pytest.raises(FlowError, match="buffer 'one' receives 4 pages, but 'merge' takes 3"):
        page_counts(switched(COPY, more, merge, stored="j"))
    merge = replace(merge, kind=Merge((0, 1, 2)))
    split = Stage("split", Split((0, 1, 1)), ins=("j",), outs=("five", "six"))
    counts = page_counts(switched(COPY, more, merge, split, stored="five"))
    assert (counts["j"], counts["five"], counts["six"]) == (12, 4, 8)
    split = replace(split, kind=Split((0, 1, 1, 1, 1)))
    with pytest.raises(FlowError, match="buffer 'j' receives 12 pages, but 'split' takes 10"):
        page_counts(switched(COPY, more, merge, split, stored="five"))


def test_what_is_not_chosen_is_not_known_and_the_rest_is():
    assert {*known_page_counts(lowered()).values()} == {None}
    program = changed(FOUR, "c0.load_a", kind=Load("c0.a"))
    counts = known_page_counts(program)
    assert [name for name, count in counts.items() if count is None] == ["c0.a_pages"]
    program = changed(program, "c0.matmul", kind=MatmulTiles())
    counts = known_page_counts(program)
    assert [name for name, count in counts.items() if count is None] == ["c0.a_pages", "c0.partial"]
    program = changed(program, "c0.store_c", kind=Store("c"))
    assert known_page_counts(program) == counts
    with pytest.raises(FlowError, match=r"not said how many pages buffer 'c0.a_pages' is given"):
        page_counts(program)


def ring(result: str) -> Program:
    """Three chips with 2 x 6 pages of results."""
    return spread(16, 48, 48, mesh=Mesh(tp=3), reduce="ring", result=result)


def test_counts_come_round_a_circle():
    """Over each link pass two of three sums of each page, and of wholes as many."""
    counts = page_counts(ring("all"))
    assert counts.keys() == ring("all").buffer_by_name.keys()
    assert [counts[f"c{chip}.partial"] for chip in range(3)] == [12] * 3
    assert [counts[f"c{chip}.merged_store"] for chip in range(3)] == [12] * 3
    assert sum(counts[f"c{chip}.landing_c{(chip - 1) % 3}"] for chip in range(3)) == 12 * (2 + 2)
    scattered = page_counts(ring("scattered"))
    assert [scattered[f"c{chip}.landing_c{(chip - 1) % 3}"] for chip in range(3)] == [8] * 3


def test_pages_that_are_left_over_in_a_circle_are_named():
    program = changed(ring("all"), "c1.matmul", kind=MatmulTiles(1))
    with pytest.raises(FlowError) as refusal:
        page_counts(program)
    assert refusal.value.rule == "CountingImbalance"
    assert refusal.value.subject in program.buffer_by_name


def test_round_a_circle_what_is_not_chosen_is_not_known():
    program = ring("all")
    open_ones = tuple(
        replace(s, kind=Load(s.kind.tensor)) if isinstance(s.kind, Load) else s
        for s in program.stages
    )
    counts = known_page_counts(replace(program, stages=open_ones))
    assert {*counts.values()} == {None}
    program = changed(program, "c1.load_a", kind=Load("c1.a"))
    missing = {name for name, count in known_page_counts(program).items() if count is None}
    assert missing == {"c1.a_pages"}


@pytest.mark.parametrize(
    ("program", "buffer", "text"),
    [
        (
            changed(ONE, "matmul", kind=MatmulTiles(3)),
            "a_pages",
            "buffer 'a_pages' receives 32 pages, but 'matmul' takes 30",
        ),
        (
            changed(FOUR, "c3.matmul", kind=MatmulTiles(1)),
            "c2.landing_0",
            "buffer 'c2.landing_0' receives 8 pages, but 'c2.fold' takes 4",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles(4)),
            "partial",
            "buffer 'partial' receives 8 pages, but 'store_c' takes 4",
        ),
    ],
)
def test_pages_that_are_left_over_are_named(program, buffer, text):
    with pytest.raises(FlowError) as refusal:
        page_counts(program)
    assert (refusal.value.rule, refusal.value.subject) == ("CountingImbalance", buffer)
    assert str(refusal.value) == text
