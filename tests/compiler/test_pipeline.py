"""The way from a product to a program: pure, deterministic, idempotent, validated throughout."""

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import (
    AccumulatorOverflowError,
    NoEngineError,
    NoHandoffError,
    ShardPlanError,
    ShardwrightError,
    UncertifiedProgramError,
    ValidationError,
)
from compiler.ir.body import left_fold
from compiler.ir.buffer import Depth
from compiler.ir.choice import Chooser
from compiler.ir.edge import Barrier, Fifo, Link, Semaphore, ValidReady
from compiler.ir.graph import LoopOrder
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Engine, EngineKind, Fold, Site
from compiler.pipeline import PASSES, compile, run_passes, shard
from compiler.shard_plan import ShardPlan
from compiler.targets import LinkKind, get
from compiler.validate import validate
from compiler.workload import MatmulSpec
from tests.compiler.programs import (
    LOCAL_ONLY,
    MANY_PORTS,
    SEMAPHORE,
    TOKEN,
    changed,
    compiled,
    lowered,
    partitioned,
    renamed,
    sharded,
)

STARTS = [
    pytest.param(lowered(), TOKEN, id="one chip"),
    pytest.param(partitioned(4), TOKEN, id="tree of 4"),
    pytest.param(partitioned(5, "star"), TOKEN, id="star of 5"),
    pytest.param(partitioned(3, target=SEMAPHORE), SEMAPHORE, id="tree of 3, semaphores"),
]


@pytest.mark.parametrize(("program", "target"), STARTS)
def test_passes_leave_the_program_that_they_are_given_alone(program, target):
    for _, step in PASSES:
        before = deepcopy(program)
        result = step(program, target)
        assert program == before
        program = result


@pytest.mark.parametrize(("program", "target"), STARTS)
def test_equal_programs_give_equal_programs(program, target):
    assert run_passes(program, target) == run_passes(deepcopy(program), target)


@pytest.mark.parametrize(("program", "target"), STARTS)
def test_running_all_passes_again_changes_nothing(program, target):
    once = run_passes(program, target)
    assert run_passes(once, target) == once


@pytest.mark.parametrize(("program", "target"), STARTS)
def test_each_pass_again_changes_nothing(program, target):
    for name, step in PASSES:
        program = step(program, target)
        assert step(program, target) == program, name


@pytest.mark.parametrize("chips", [4, Mesh(tp=4)], ids=str)
def test_a_number_of_chips_or_a_mesh_is_a_plan(chips):
    spec = MatmulSpec(8, 8, 64)
    program = compile(spec, TOKEN, ShardPlan(4))
    assert compile(spec, TOKEN, chips) == program
    assert shard(compile(spec, TOKEN), chips, TOKEN) == program


def test_a_plan_that_says_too_little_is_refused():
    with pytest.raises(ShardPlanError, match="stated for a mesh of several axes"):
        compile(MatmulSpec(8, 8, 64), TOKEN, Mesh(row=2, col=2))
    with pytest.raises(ShardPlanError, match="a positive integer, not 0"):
        compile(MatmulSpec(8, 8, 64), TOKEN, 0)


def test_sharding_leaves_the_one_chip_program_alone():
    program = compiled()
    before = deepcopy(program)
    assert shard(program, ShardPlan(4), TOKEN) == shard(before, ShardPlan(4), TOKEN)
    assert program == before


@given(
    m=st.integers(1, 40),
    n=st.integers(1, 40),
    blocks=st.integers(1, 4),
    chips=st.integers(1, 9),
    reduce=st.sampled_from(["star", "tree"]),
    target=st.sampled_from([MANY_PORTS, replace(SEMAPHORE, link_ports=16)]),
)
def test_whatever_divides_is_compiled_sharded_and_valid(m, n, blocks, chips, reduce, target):
    whole = compile(MatmulSpec(m, n, 8 * blocks * chips), target)
    program = shard(whole, ShardPlan(chips, reduce), target)
    validate(program, target)
    assert program.chip_count == chips
    assert program.claim == whole.claim
    assert None not in {buffer.depth for buffer in program.buffers}
    assert None not in {edge.handoff for edge in program.edges}
    assert run_passes(program, target) == program


@given(m=st.integers(1, 30), n=st.integers(1, 30), k=st.integers(1, 200), chips=st.integers(1, 8))
def test_whatever_does_not_divide_is_compiled_with_padding(m, n, k, chips):
    spec = MatmulSpec(m, n, k).padded_k(8 * chips)
    program = shard(compile(spec, TOKEN), ShardPlan(chips), TOKEN)
    assert (program.claim.k, program.claim.k + program.claim.k_pad) == (k, spec.k_total)


HAND_SET = get(
    "token-mesh",
    handoffs=("ValidReady", "Fifo", "Token", "Semaphore", "Barrier"),
    movement_engines=5,
    compute_engines=3,
)
SITE = Site(2, 1, 3)


def ordered(program, loops: str):
    """The program with a loop order that somebody chose."""
    (product,) = program.graph.operations
    graph = replace(program.graph, operations=(replace(product, order=LoopOrder(loops)),))
    return replace(program, graph=graph)


def moved(program, chip: int, site: Site):
    for stage in program.stages:
        if stage.site == Site(chip):
            program = changed(program, stage.name, site=site)
    return program


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("c1.matmul", {"engine": Engine(EngineKind.COMPUTE, 2)}),
        ("c0.recv_1", {"engine": Engine(EngineKind.LINK, 7)}),
        ("c0.fold", {"engine": Engine(EngineKind.COMPUTE, 1)}),
        ("c3.load_a", {"engine": Engine(EngineKind.MOVEMENT, 4)}),
        ("c0.landing_0", {"depth": Depth(5)}),
        ("c1.partial", {"depth": Depth(3)}),
        ("c1.load_a->c1.matmul", {"handoff": Fifo()}),
        ("c0.recv_0->c0.fold", {"handoff": ValidReady()}),
        ("c1.matmul->c0.recv_0", {"handoff": Barrier("tree_reduce")}),
    ],
)
def test_what_is_set_by_hand_survives(name, changes):
    program = run_passes(changed(partitioned(4), name, **changes), HAND_SET)
    records = [*program.stages, *program.buffers, *program.edges]
    (record,) = (record for record in records if record.name == name)
    assert changes.items() <= vars(record).items()
    validate(program, HAND_SET)


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        (
            "c1.partial",
            {"depth": Depth(1)},
            "4 result pages take 138 cycles, but 104 with unbounded buffers; room was waited for "
            "in c1.partial",
        ),
        (
            "c1.matmul->c0.recv_0",
            {"handoff": Barrier()},
            "c1.matmul->c0.recv_0 waits at the barrier of '', which nobody joins",
        ),
        (
            "c1.matmul->c0.recv_0",
            {"handoff": Barrier("ring_reduce")},
            "c1.matmul->c0.recv_0 waits at the barrier of 'ring_reduce', which nobody joins",
        ),
    ],
)
def test_what_is_set_by_hand_and_keeps_the_run_from_its_rate_is_refused(name, changes, text):
    with pytest.raises(UncertifiedProgramError) as refusal:
        run_passes(changed(partitioned(4), name, **changes), HAND_SET)
    assert refusal.value.violations == (("no deadlock", text),)
    assert str(refusal.value) == (
        f"program 'matmul_16x16x64_tree4' is not certified: no deadlock: {text}"
    )


def test_a_semaphore_set_by_hand_survives_among_others():
    handoff = Semaphore("go", "done")
    program = partitioned(4, target=SEMAPHORE)
    program = run_passes(changed(program, "c1.matmul->c0.recv_0", handoff=handoff), SEMAPHORE)
    crossing = {edge.buffer: edge.handoff for edge in program.edges if program.crosses(edge)}
    assert crossing.pop("c1.partial") == handoff
    assert len(crossing) == 2
    names = {name for pair in crossing.values() for name in (pair.ready, pair.valid)}
    assert len(names - {"go", "done"}) == 4


def test_a_site_set_by_hand_survives():
    program = run_passes(moved(partitioned(4), 2, SITE), TOKEN)
    here = [stage for stage in program.stages if stage.name.startswith("c2.")]
    assert {stage.site for stage in here} == {SITE}
    assert {program.buffer_by_name[name].site for s in here for name in s.outs} == {SITE}


def test_a_link_set_by_hand_survives():
    link = Link("my_link", 1, 0, 512, 3)
    target = replace(TOKEN, link_kinds=(LinkKind("mine", 512, 3),))
    program = replace(partitioned(4), links=(link,))
    program = run_passes(changed(program, "c1.matmul->c0.recv_0", link="my_link"), target)
    assert program.link_by_name["my_link"] == link
    assert program.edge_by_buffer["c1.partial"].link == "my_link"


@pytest.mark.parametrize("order", ["mn", "nm"])
def test_a_loop_order_set_by_hand_survives(order):
    (product,) = run_passes(ordered(lowered(), order), TOKEN).graph.operations
    assert (product.order, product.order.by) == (LoopOrder(order), Chooser.HAND)


def test_a_body_set_by_hand_survives():
    body = left_fold(3)
    program = changed(partitioned(4), "c0.fold", kind=Fold(type(body)(body.right, body.left)))
    assert run_passes(program, TOKEN).stage_by_name["c0.fold"].kind == Fold(
        type(body)(body.right, body.left)
    )


def refusal_of(make) -> ValidationError:
    with pytest.raises(ValidationError) as refusal:
        make()
    return refusal.value


def test_a_refusal_names_the_pass_behind_which_it_came():
    """Memory for the tensors, but not for a single buffer: only when depths are known."""
    tensors = 16 * 64 + 64 * 16 + 4 * 16 * 16
    for memory, where in ((tensors - 1, "lower"), (tensors, "buffer")):
        target = get("token-mesh", memory_bytes=memory)
        error = refusal_of(lambda target=target: compile(MatmulSpec(16, 16, 64), target))
        assert (error.rule, error.after_pass) == ("MemoryExceeded", where)
        assert str(error).endswith(f" (after pass {where})")


def test_a_refusal_after_sharding_names_it():
    """Four stages more on the home chip do not matter, but the output beside two slices does."""
    program = compiled()
    slices = 2 * 16 * 32 + 4 * 16 * 16
    error = refusal_of(
        lambda: shard(program, ShardPlan(2), get("token-mesh", memory_bytes=slices - 1))
    )
    assert (error.rule, error.after_pass) == ("MemoryExceeded", "partition")


@pytest.mark.parametrize("run", [run_passes, lambda p, t: shard(p, ShardPlan(2), t)])
def test_a_broken_program_is_refused_before_any_pass(run):
    program = changed(compiled(), "load_a->matmul", source="nowhere")
    error = refusal_of(lambda: run(program, TOKEN))
    assert (error.rule, error.after_pass) == ("UnknownName", None)


@pytest.mark.parametrize(
    "program",
    [
        replace(compiled(), graph=renamed(compiled().graph, a="nowhere")),
        replace(compiled(), stages=(), buffers=(), edges=()),
        ordered(lowered(), "xy"),
        replace(lowered(), tile=0, tensors=tuple(replace(t, tile=0) for t in lowered().tensors)),
        changed(sharded(4), "c1->c0", width_bits=0),
        changed(sharded(4), "c0.landing_0", depth=Depth(-3)),
        replace(sharded(4), mesh=Mesh(tp=3)),
    ],
    ids=["claim", "empty", "order", "tile", "link", "depth", "too few chips"],
)
def test_no_broken_program_gets_as_far_as_breaking_a_pass(program):
    with pytest.raises(ValidationError):
        run_passes(program, TOKEN)


@pytest.mark.parametrize(
    ("spec", "target", "error"),
    [
        (MatmulSpec(8, 8, 2**20), TOKEN, AccumulatorOverflowError),
        (MatmulSpec(8, 8, 8), get("token-mesh", handoffs=("Token",)), NoHandoffError),
        (MatmulSpec(8, 8, 8), get("token-mesh", movement_engines=2), NoEngineError),
        (MatmulSpec(2**12, 8, 2**13), LOCAL_ONLY, ValidationError),
    ],
)
def test_all_refusals_can_be_caught_as_one(spec, target, error):
    assert issubclass(error, ShardwrightError)
    with pytest.raises(error):
        compile(spec, target)
