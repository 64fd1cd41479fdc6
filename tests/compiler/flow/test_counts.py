"""Page counts: what each buffer is given, where it is chosen."""

from dataclasses import replace

import pytest

from compiler.flow.counts import known_page_counts, page_counts
from compiler.flow.errors import FlowError
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Load, MatmulTiles, Merge, Split, Stage, Store
from tests.compiler.programs import changed, compiled, lowered, sharded

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
