"""The digest is the same for the same chips, and another for any others."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.ir.buffer import Depth
from compiler.ir.choice import Chooser
from compiler.ir.graph import Graph, LoopOrder
from compiler.ir.init import Values
from compiler.ir.tensor import ValueRange
from compiler.pipeline import compile
from compiler.serialize import from_json, to_json
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from constraints.description import load_board
from constraints.target import board_target
from hw.program_digest import program_digest
from tests.compiler.programs import changed
from tests.programs import program_for

PINS = {"link_width_bits": 8, "link_flit_cycles": 2, "link_latency_cycles": 8}
PAIR = program_for(4, 4, 8, chips=2, tile=2, **PINS)


def ordered(graph: Graph, loops: str, by: Chooser) -> Graph:
    """A graph whose product has that order of loops."""
    (product,) = graph.operations
    return replace(graph, operations=(replace(product, order=LoopOrder(loops, by=by)),))


def test_a_program_read_from_its_file_has_the_same():
    assert program_digest(from_json(to_json(PAIR))) == program_digest(PAIR) < 1 << 64


def test_name_target_prediction_and_certificate_do_not_count():
    renamed = replace(PAIR, name="other", certificate=None, schedule=None)
    renamed = replace(renamed, target=replace(PAIR.target, name="mine", description="of mine"))
    assert program_digest(renamed) == program_digest(PAIR)


def test_the_same_product_has_the_same_for_a_board_and_for_a_machine_with_its_links():
    board = load_board("ulx3s-85f")
    for_board = board_target(board, tile=2)
    links = {
        field: getattr(for_board, field)
        for field in ("link_width_bits", "link_flit_cycles", "link_latency_cycles")
    }
    digests = [
        program_digest(compile(MatmulSpec(4, 4, 8), machine, ShardPlan(2, "tree")))
        for machine in (for_board, get("token-mesh", tile=2, **links))
    ]
    assert digests[0] == digests[1]


def test_values_that_a_host_writes_do_not_count():
    rng = np.random.default_rng(0)
    digests = set()
    for _ in range(2):
        values = tuple(rng.integers(-9, 9, 8 * 4).tolist())
        spec = MatmulSpec(4, 4, 8, b_range=ValueRange(min(values), max(values)), b=Values(values))
        digests.add(program_digest(compile(spec, get("token-mesh", tile=2))))
    assert len(digests) == 1


def test_who_made_a_choice_does_not_count():
    (product,) = PAIR.graph.operations
    assert product.order is not None
    assert product.order.by is Chooser.COMPILER
    by_hand = replace(
        PAIR,
        graph=ordered(PAIR.graph, product.order.loops, Chooser.HAND),
        buffers=tuple(replace(b, depth=Depth(b.depth_pages)) for b in PAIR.buffers),
    )
    assert to_json(by_hand) != to_json(PAIR)
    assert program_digest(by_hand) == program_digest(PAIR)


SAME_SHAPE = {
    "narrower links": program_for(4, 4, 8, chips=2, tile=2, **(PINS | {"link_width_bits": 4})),
    "slower links": program_for(4, 4, 8, chips=2, tile=2, **(PINS | {"link_latency_cycles": 9})),
    "page by page": program_for(4, 4, 8, chips=2, tile=2, target="semaphore-mesh", **PINS),
    "a deeper buffer": changed(PAIR, "c0.a_pages", depth=Depth(4)),
    "slices exchanged": replace(
        PAIR,
        tensors=tuple(
            replace(t, part=replace(t.part, row=4 - t.part.row if t.part.of == "b" else 0))
            for t in PAIR.tensors
        ),
    ),
    "the other order": replace(PAIR, graph=ordered(PAIR.graph, "nm", Chooser.HAND)),
}


@pytest.mark.parametrize("other", SAME_SHAPE.values(), ids=SAME_SHAPE)
def test_another_program_of_the_same_shape_has_another(other):
    assert (other.claim, other.chip_count) == (PAIR.claim, PAIR.chip_count)
    assert program_digest(other) != program_digest(PAIR)
