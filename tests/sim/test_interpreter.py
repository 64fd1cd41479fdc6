"""The interpreter computes what the program says, page by page, through buffers of its depths."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.body import Add, Literal, Max, Operand, left_fold
from compiler.ir.buffer import Depth
from compiler.ir.dtype import INT8, integer
from compiler.ir.edge import Barrier
from compiler.ir.graph import LoopOrder
from compiler.ir.init import Const, Pattern, Values, Zero
from compiler.ir.mesh import Mesh
from compiler.ir.orientation import Orientation
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Merge, Split, Stage
from compiler.ir.tensor import ValueRange
from compiler.ir.walk import Loop, Walk
from compiler.passes.lower import lower
from compiler.pipeline import run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim import interpreter
from sim.errors import InterpreterDeadlockError, OperandShapeError
from sim.interpreter import PageQueue, evaluate, interpret, wrapped
from tests.compiler.programs import changed
from tests.programs import finished, program_for, random_operands

TARGETS = {
    "token": {"target": "token-mesh"},
    "semaphore": {"target": "semaphore-mesh"},
    "barrier": {"target": "token-mesh", "handoffs": ("ValidReady", "Barrier")},
}
SHAPES = [
    ((1, 1, 1), (1, "tree")),
    ((16, 16, 64), (1, "tree")),
    ((5, 18, 13), (1, "star")),
    ((8, 8, 32), (2, "tree")),
    ((7, 9, 32), (4, "star")),
    ((7, 9, 32), (4, "tree")),
    ((20, 3, 40), (5, "tree")),
    ((9, 9, 28), (7, "star")),
    ((4, 21, 128), (16, "tree")),
]


@pytest.fixture
def queues(monkeypatch):
    """Every buffer of the next run, watched: by its name."""
    found: dict[str, WatchedQueue] = {}

    def make(name: str, depth_pages: int) -> WatchedQueue:
        found[name] = WatchedQueue(name, depth_pages)
        return found[name]

    monkeypatch.setattr(interpreter, "PageQueue", make)
    return found


class WatchedQueue(PageQueue):
    """A buffer that never holds, nor promises, more pages than it has room for."""

    fullest = 0

    def push(self, page: np.ndarray) -> None:
        super().push(page)
        self.look()

    def pop(self) -> np.ndarray:
        assert self.pages, f"{self.name} is empty"
        self.look()
        return super().pop()

    def look(self) -> None:
        assert self.popped <= self.pushed <= self.reserved
        assert len(self.pages) == self.pushed - self.popped
        assert self.reserved - self.popped <= self.depth_pages
        self.fullest = max(self.fullest, len(self.pages))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("shape", "chips"), SHAPES, ids=str)
def test_the_product_is_numpys(shape, chips, target, queues):
    program = program_for(*shape, chips=chips[0], reduce=chips[1], **TARGETS[target])
    a, b = random_operands(program, 3)
    result = interpret(program, a, b)
    assert result.c.dtype == np.int32
    assert np.array_equal(result.c, a @ b)
    assert set(result.outputs) == {"c"}
    assert set(queues) == {buffer.name for buffer in program.buffers}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("shape", "chips"), SHAPES, ids=str)
def test_at_the_end_every_buffer_has_given_back_what_it_took(shape, chips, target):
    program = program_for(*shape, chips=chips[0], reduce=chips[1], **TARGETS[target])
    queues = interpret(program, *random_operands(program, 4)).queues
    m_tiles, n_tiles = -(-shape[0] // 4), -(-shape[1] // 4)
    blocks = -(-shape[2] // 4) // chips[0]
    for buffer in program.buffers:
        loaded = buffer.name.endswith(("a_pages", "b_pages"))
        pages = m_tiles * n_tiles * (blocks if loaded else 1)
        queue = queues[buffer.name]
        assert (queue.reserved, queue.pushed, queue.popped) == (pages, pages, pages)
        assert not queue.pages


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("target", TARGETS)
def test_depths_that_are_set_by_hand_hold_and_change_no_result(target, depth, queues):
    program = program_for(12, 12, 32, chips=4, reduce="tree", **TARGETS[target])
    buffers = tuple(replace(buffer, depth=Depth(depth)) for buffer in program.buffers)
    program = replace(program, buffers=buffers)
    a, b = random_operands(program, depth)
    assert np.array_equal(interpret(program, a, b).c, a @ b)
    assert {queue.depth_pages for queue in queues.values()} == {depth}
    assert max(queue.fullest for queue in queues.values()) == depth


def test_a_page_of_a_barrier_waits_for_a_slot_at_every_receiver(monkeypatch):
    """One receiver has a single slot; the other could take pages ahead of it, but must not."""
    program = program_for(12, 12, 32, chips=4, reduce="tree", **TARGETS["barrier"])
    program = changed(program, "c0.landing_1", depth=Depth(1))
    program = changed(program, "c2.landing_0", depth=Depth(4))
    crossing = [edge for edge in program.edges if isinstance(edge.handoff, Barrier)]
    assert len({edge.handoff for edge in crossing}) == 1
    landings = {program.stage_by_name[edge.destination].outs[0] for edge in crossing}
    found: dict[str, PageQueue] = {}

    class Landing(PageQueue):
        def push(self, page):
            if self.name in landings:
                for name in landings:
                    assert found[name].popped + found[name].depth_pages > self.pushed
            super().push(page)

    def make(name: str, depth_pages: int) -> Landing:
        found[name] = Landing(name, depth_pages)
        return found[name]

    monkeypatch.setattr(interpreter, "PageQueue", make)
    a, b = random_operands(program, 0)
    assert np.array_equal(interpret(program, a, b).c, a @ b)
    assert {found[name].pushed for name in landings} == {9}


GRID = Mesh(row=2, col=2)
PLANS = {
    "all of two": ShardPlan(2, result="all"),
    "all of seven by a tree": ShardPlan(7, "tree", result="all"),
    "all of seven by a star": ShardPlan(7, "star", result="all"),
    "rows": ShardPlan(3, shard={"m": "tp"}, uneven=True),
    "columns": ShardPlan(3, shard={"n": "tp"}, uneven=True),
    "uneven contraction": ShardPlan(4, uneven=True),
    "rows and columns": ShardPlan(GRID, shard={"m": "row", "n": "col"}, uneven=True),
    "rows and contraction": ShardPlan(GRID, shard={"m": "row", "k": "col"}, uneven=True),
    "contraction and columns, on all": ShardPlan(
        GRID, shard={"k": "row", "n": "col"}, result="all", uneven=True
    ),
    "an axis for nothing": ShardPlan(GRID, shard={"k": "col"}, result="all"),
}


@pytest.mark.parametrize("name", PLANS)
def test_every_copy_of_every_part_is_numpys(name):
    program = finished(MatmulSpec(10, 9, 56), plan=PLANS[name], link_ports=16)
    a, b = random_operands(program, 8)
    result = interpret(program, a, b)
    assert np.array_equal(result.c, a @ b)
    for tensor in program.tensors_of["c"]:
        place = (
            slice(tensor.part.row, tensor.part.row + tensor.rows),
            slice(tensor.part.col, tensor.part.col + tensor.cols),
        )
        assert np.array_equal(result.stored[tensor.name], (a @ b)[place])


@pytest.mark.parametrize("name", ["a", "b"])
def test_beats_along_the_wrong_side_of_a_tile_are_multiplied_as_they_are(name):
    """A is taken by columns and B by rows; a tile that lies otherwise is taken transposed."""
    program = program_for(4, 4, 4)
    turned = {"a": Orientation.ROWS, "b": Orientation.COLUMNS}[name]
    a, b = random_operands(program, 2)
    result = interpret(changed(program, name, orientation=turned), a, b)
    assert np.array_equal(result.c, a.T @ b if name == "a" else a @ b.T)


def parted(program: Program, out: tuple[int, ...], back: tuple[int, ...]) -> Program:
    """The program of one chip with its results split over two buffers, and merged again."""
    (edge,) = program.edges_by_destination["store_c"]
    buffer = program.buffer_by_name[edge.buffer]
    ways = ("way_0", "way_1")
    stages = (
        Stage("split", Split(out), (buffer.name,), ways),
        Stage("merge", Merge(back), ways, ("merged",)),
    )
    edges = (
        replace(edge, name="to_split", destination="split"),
        *(replace(edge, name=way, source="split", buffer=way, destination="merge") for way in ways),
        replace(edge, name="to_store", source="merge", buffer="merged"),
    )
    buffers = tuple(replace(buffer, name=name, depth=Depth(1)) for name in (*ways, "merged"))
    program = changed(program, "store_c", ins=("merged",))
    return replace(
        program,
        stages=(*program.stages, *stages),
        buffers=(*program.buffers, *buffers),
        edges=(*(each for each in program.edges if each != edge), *edges),
    )


@pytest.mark.parametrize("turns", [(0, 1), (1, 0), (0, 0, 1), (1, 0, 0, 1)], ids=str)
def test_pages_that_are_split_and_merged_in_the_same_turns_keep_their_order(turns):
    program = parted(program_for(16, 12, 8), turns, turns)
    a, b = random_operands(program, 1)
    assert np.array_equal(interpret(program, a, b).c, a @ b)


def test_pages_that_are_merged_in_other_turns_than_they_were_split_change_places():
    program = parted(program_for(4, 16, 8), (0, 1), (1, 0))
    a, b = random_operands(program, 1)
    right = (a @ b).reshape(4, 4, 4)
    assert np.array_equal(interpret(program, a, b).c, right[:, [1, 0, 3, 2]].reshape(4, 16))


def test_turns_of_different_shares_end_in_a_standstill():
    program = parted(program_for(4, 16, 8), (0, 0, 1, 1), (0, 0, 0, 1))
    with pytest.raises(InterpreterDeadlockError) as error:
        interpret(program, *random_operands(program, 1))
    assert set(error.value.waits) >= {
        "store_c waits for a page in merged",
        "merge waits for a page in way_0",
    }


def test_a_copy_waits_for_room_in_all_of_its_outputs():
    program = finished(MatmulSpec(8, 8, 16), plan=ShardPlan(2, result="all"))
    program = changed(program, "c0.whole_0", depth=Depth(0))
    with pytest.raises(InterpreterDeadlockError) as error:
        interpret(program, *random_operands(program, 1))
    assert set(error.value.waits) >= {
        "c0.copy waits for room in c0.whole_0",
        "c0.store_c waits for a page in c0.kept",
        "c1.store_c waits for a page in c1.landing_whole",
    }


# --- What stages compute --------------------------------------------------------------------------


MAPS = {
    "relu": (Max(Operand(0), Literal(0)), lambda x: np.maximum(x, 0)),
    "shifted": (Add(Literal(-1000), Operand(0)), lambda x: x - 1000),
    "clipped": (
        Add(Max(Add(Operand(0), Literal(50)), Literal(-70)), Literal(20)),
        lambda x: np.maximum(x + 50, -70) + 20,
    ),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("chips", [1, 3])
def test_a_map_is_applied_to_the_whole_sum(name, chips):
    body, function = MAPS[name]
    spec = MatmulSpec(5, 6, 24, map=body)
    program = finished(spec, chips=chips, compute_engines=3)
    a, b = random_operands(program, 9)
    assert np.array_equal(interpret(program, a, b).c, function(a @ b))


@pytest.mark.parametrize(
    ("init", "values"),
    [
        (Zero(), np.zeros(60, int)),
        (Const(-5), np.full(60, -5)),
        (Pattern(7, 3), np.arange(60) % 7 - 3),
        (Values(tuple(range(-30, 30))), np.arange(-30, 30)),
    ],
    ids=["Zero", "Const", "Pattern", "Values"],
)
@pytest.mark.parametrize("chips", [1, 2, 5])
def test_values_that_the_program_states_are_multiplied(init, values, chips):
    spec = MatmulSpec(3, 4, 20, a=init).padded_k(4 * chips)
    program = finished(spec, chips=chips)
    b = np.arange(80).reshape(20, 4) - 40
    assert np.array_equal(interpret(program, None, b).c, values.reshape(3, 20) @ b)


@pytest.mark.parametrize("k", [1, 4, 5, 23])
def test_padding_lies_outside_of_a_range_without_zero(k):
    """The zeros behind the contraction are no elements, so no declared range has to hold them."""
    span = ValueRange(5, 9)
    values = np.random.default_rng(k).integers(5, 9, (3, k), endpoint=True)
    spec = MatmulSpec(3, 4, k, a=Values(tuple(values.ravel())), a_range=span, b_range=span)
    program = finished(spec.padded_k(12), chips=3)
    b = np.full((k, 4), 9)
    assert np.array_equal(interpret(program, None, b).c, values @ b)


@pytest.mark.parametrize("order", ["mn", "nm"])
def test_the_loop_order_changes_no_result(order):
    target = get("token-mesh", tile=4)
    program = lower(MatmulSpec(12, 8, 8), target)
    (product,) = program.graph.operations
    ordered = (replace(product, order=LoopOrder(order)),)
    program = run_passes(replace(program, graph=replace(program.graph, operations=ordered)), target)
    a, b = random_operands(program, 5)
    assert np.array_equal(interpret(program, a, b).c, a @ b)


def test_a_fold_combines_as_its_body_says():
    """Operands in another place, and a maximum instead of a sum: no reduction, but what it says."""
    program = program_for(4, 4, 8, chips=2)
    a, b = random_operands(program, 6)
    halves = a[:, :4] @ b[:4], a[:, 4:] @ b[4:]
    for body, expected in (
        (Add(Operand(1), Operand(0)), halves[0] + halves[1]),
        (Max(Operand(0), Operand(1)), np.maximum(*halves)),
        (Add(left_fold(2), Literal(7)), halves[0] + halves[1] + 7),
    ):
        edited = changed(program, "c0.fold", kind=Fold(body))
        assert np.array_equal(interpret(edited, a, b).c, expected)


# --- Sums wrap where their type ends --------------------------------------------------------------


def twos_complement(values: np.ndarray, bits: int) -> np.ndarray:
    """The lowest bits of each value, read as a signed number."""
    low = values & (1 << bits) - 1
    return low - ((low >> (bits - 1)) << bits)


@given(
    values=st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=8),
    bits=st.integers(2, 32),
)
def test_a_value_wraps_to_its_lowest_bits(values, bits):
    array = np.array(values)
    assert np.array_equal(wrapped(array, integer(bits)), twos_complement(array, bits))


@pytest.mark.parametrize("bits", [8, 11, 16])
@pytest.mark.parametrize("chips", [1, 4])
def test_sums_that_are_too_narrow_wrap(bits, chips):
    program = program_for(6, 6, 32, chips=chips)
    wide, narrow = program.numerics.total, integer(bits)
    buffers = tuple(
        replace(buffer, page=replace(buffer.page, dtype=narrow))
        if buffer.page.dtype == wide
        else buffer
        for buffer in program.buffers
    )
    a, b = random_operands(program, bits)
    result = interpret(replace(program, buffers=buffers), a, b).c
    assert np.array_equal(result, twos_complement(a @ b, bits))
    assert not np.array_equal(result, a @ b)


def test_every_operation_of_an_expression_wraps():
    """100 + 100 wraps below zero, so the maximum takes the other side."""
    pages = [np.full((2, 2), 100), np.full((2, 2), 3)]
    body = Max(Add(Operand(0), Operand(0)), Operand(1))
    assert (evaluate(body, pages, INT8) == 3).all()
    assert (evaluate(body, pages, integer(16)) == 200).all()
    assert (evaluate(Add(Operand(1), Literal(130)), pages, INT8) == -123).all()
    assert (evaluate(Max(Operand(1), Literal(130)), pages, INT8) == 3).all()
    assert (evaluate(Add(Operand(1), Literal(2**70 + 5)), pages, INT8) == 8).all()


# --- Programs that cannot go on -------------------------------------------------------------------


def shorter(program: Program, load: str, count: int) -> Program:
    """The program with the innermost loop of a load cut to ``count``."""
    kind = program.stage_by_name[load].kind
    *outer, inner = kind.walk.loops
    return changed(
        program, load, kind=replace(kind, walk=Walk((*outer, Loop(count, inner.stride))))
    )


SINGLE = program_for(4, 4, 16)
ONE = program_for(8, 8, 16)
TWO = program_for(32, 8, 16, chips=2)
BARRIER = program_for(4, 4, 16, chips=4, **TARGETS["barrier"])


@pytest.mark.parametrize(
    ("program", "waits"),
    [
        (
            changed(ONE, "b_pages", depth=Depth(0)),
            [
                "load_a waits for room in a_pages",
                "load_b waits for room in b_pages",
                "matmul waits for a page in b_pages",
                "store_c waits for a page in partial",
            ],
        ),
        (
            shorter(ONE, "load_b", 3),
            [
                "load_a waits for room in a_pages",
                "matmul waits for a page in b_pages",
                "store_c waits for a page in partial",
            ],
        ),
        (
            shorter(shorter(SINGLE, "load_a", 3), "load_b", 3),
            ["matmul waits for a page in a_pages", "store_c waits for a page in partial"],
        ),
        (
            changed(TWO, "c0.landing_0", depth=Depth(0)),
            [
                "c0.load_a waits for room in c0.a_pages",
                "c0.load_b waits for room in c0.b_pages",
                "c0.matmul waits for room in c0.partial",
                "c0.recv_0 waits for room in c0.landing_0",
                "c0.fold waits for a page in c0.landing_0",
                "c0.store_c waits for a page in c0.reduced",
                "c1.load_a waits for room in c1.a_pages",
                "c1.load_b waits for room in c1.b_pages",
                "c1.matmul waits for room in c1.partial",
            ],
        ),
        (
            changed(BARRIER, "c2.landing_0", depth=Depth(0)),
            [
                "c0.recv_0 waits for the barrier: c2.landing_0 has no slot for page 0",
                "c0.recv_1 waits for a page in c2.subtotal",
                "c0.fold waits for a page in c0.landing_0",
                "c0.store_c waits for a page in c0.reduced",
                "c2.recv_0 waits for the barrier: c2.landing_0 has no slot for page 0",
                "c2.fold waits for a page in c2.landing_0",
            ],
        ),
    ],
    ids=["no room", "too few pages", "part of a sum", "no landing room", "no slot at a barrier"],
)
def test_a_program_that_cannot_go_on_says_who_waits_for_what(program, waits):
    with pytest.raises(InterpreterDeadlockError) as error:
        interpret(program, *random_operands(program, 0))
    assert str(error.value) == "the program cannot go on: " + "; ".join(waits)
    assert list(error.value.waits) == waits


def test_a_load_that_is_never_read_to_its_end_is_a_standstill():
    """The product is whole and stored, but one page of A is still waiting for room."""
    kind = ONE.stage_by_name["load_a"].kind
    assert isinstance(kind, Load)
    longer = Walk((Loop(9, 0), *kind.walk.loops))
    program = changed(ONE, "load_a", kind=replace(kind, walk=longer))
    with pytest.raises(InterpreterDeadlockError, match="load_a waits for room in a_pages"):
        interpret(program, *random_operands(program, 0))


def test_operands_are_checked_before_anything_runs():
    with pytest.raises(OperandShapeError, match="operand a must be 8 x 16"):
        interpret(ONE, np.zeros((8, 15), int), np.zeros((16, 8), int))
