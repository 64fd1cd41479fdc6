"""What somebody chose stays as it is, or is refused with the rule that it breaks."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from compiler.check import check
from compiler.errors import (
    LinkPortsExceededError,
    RouteError,
    ShardwrightError,
    SharedLinkBarrierError,
    UncertifiedProgramError,
    ValidationError,
)
from compiler.flow.components import components
from compiler.ir.body import Add, Body, Literal, Max, Operand, left_fold
from compiler.ir.buffer import Depth
from compiler.ir.certificate import Obligation
from compiler.ir.choice import Chooser
from compiler.ir.edge import Edge, Fifo, Semaphore, Token
from compiler.ir.graph import LoopOrder
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import (
    Copy,
    Engine,
    EngineKind,
    Fold,
    Load,
    MatmulTiles,
    Merge,
    Recv,
    Site,
    Store,
)
from compiler.ir.walk import Loop, Walk
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.passes.route import route
from compiler.passes.tile import tile
from compiler.passes.undecided import undecided
from compiler.pipeline import compile, run_passes, shard
from compiler.serialize import from_json, to_json
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.errors import InterpreterDeadlockError
from sim.interpreter import interpret
from tests.compiler.programs import (
    MANY_PORTS,
    TOKEN,
    changed,
    compiled,
    lowered,
    partitioned,
    sharded,
    without,
)

ROOMY = get("token-mesh", compute_engines=4, movement_engines=6)
COMPUTE, MOVEMENT, LINK = EngineKind.COMPUTE, EngineKind.MOVEMENT, EngineKind.LINK


def refusal_of(make: Callable[[], object], error: type[ShardwrightError] = ValidationError):
    with pytest.raises(error) as refusal:
        make()
    return refusal.value


def obligation(program: Program, name: str) -> Obligation:
    (found,) = (o for o in check(program).obligations if o.name == name)
    return found


def assert_exact(program: Program) -> None:
    """The interpreter gets numpy's product out of a program that can be saved and loaded."""
    rng = np.random.default_rng(0)
    claim = program.claim
    a, b = (rng.integers(-128, 128, shape) for shape in ((claim.m, claim.k), (claim.k, claim.n)))
    assert np.array_equal(interpret(from_json(to_json(program)), a, b).c, a @ b)


# --- The order of a reduction -------------------------------------------------------------------


def summed(order: tuple[int, ...], cut: int) -> Body:
    """A sum over operands in some order, of the first ``cut`` and of the rest."""
    if len(order) == 1:
        return Operand(order[0])
    left, right = order[:cut], order[cut:]
    return Add(summed(left, max(1, len(left) // 2)), summed(right, max(1, len(right) // 2)))


ORDERS = [
    summed(order, cut)
    for order in (*permutations(range(4)),)[::5]
    for cut in (1, 2, 3)
]  # fmt: skip


@pytest.mark.parametrize("body", ORDERS, ids=str)
def test_the_order_of_a_reduction_survives(body):
    program = changed(partitioned(4, "star"), "c0.fold", kind=Fold(body))
    program = run_passes(program, TOKEN)
    assert program.stage_by_name["c0.fold"].kind == Fold(body)
    assert run_passes(program, TOKEN) == program
    assert dict(obligation(program, "order").evidence)["c0.fold"] == str(body)
    assert check(program).holds
    assert_exact(program)


def test_the_orders_of_several_folds_are_chosen_one_by_one():
    bodies = {"c0.fold": summed((2, 1, 0, 3), 2), "c4.fold": summed((2, 1, 0), 1)}
    program = partitioned(8)
    for name, body in bodies.items():
        program = changed(program, name, kind=Fold(body))
    program = run_passes(program, TOKEN)
    kinds = {name: program.stage_by_name[name].kind for name in (*bodies, "c2.fold", "c6.fold")}
    rest = dict.fromkeys(("c2.fold", "c6.fold"), Fold(left_fold(2)))
    assert kinds == {name: Fold(body) for name, body in bodies.items()} | rest
    assert_exact(program)


@pytest.mark.parametrize("width", [1, 8, 64])
@pytest.mark.parametrize("kind", ["Token", "Barrier"])
def test_deep_brackets_are_timed_until_nothing_moves(kind, width):
    """Room in a fold is passed back from operation to operation, one of them in each round."""
    target = get("token-mesh", handoffs=("ValidReady", kind), tile=4, link_width_bits=width)
    inner = Add(Operand(5), Add(Operand(6), Operand(7)))
    body = Add(Add(left_fold(2), Add(Operand(2), Operand(3))), Add(Operand(4), inner))
    whole = lower(MatmulSpec(1, 12, 32, sum_bits=22), target)
    program = partition(whole, ShardPlan(8, "star"), target)
    program = run_passes(changed(program, "c0.fold", kind=Fold(body)), target)
    assert check(program).holds
    assert_exact(program)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (Add(left_fold(4), Operand(0)), "FoldOperandRepeated"),
        (left_fold(3), "FoldOperandUnused"),
        (left_fold(5), "FoldOperandMissing"),
        (Add(left_fold(4), Add(Literal(0), Literal(0))), "FoldBody"),
        (Max(left_fold(2), Add(Operand(2), Operand(3))), "MaxOfPartials"),
        (Add(left_fold(4), Literal(1)), "LiteralInFold"),
    ],
    ids=str,
)
def test_an_order_that_is_no_reduction_is_refused(body, rule):
    program = changed(partitioned(4, "star"), "c0.fold", kind=Fold(body))
    error = refusal_of(lambda: run_passes(program, TOKEN))
    assert (error.rule, error.subject, error.after_pass) == (rule, "c0.fold", None)


# --- Placement ----------------------------------------------------------------------------------


def moved(program: Program, chip: int, site: Site) -> Program:
    for stage in program.stages:
        if stage.name.startswith(f"c{chip}."):
            program = changed(program, stage.name, site=site)
    return program


def test_every_chip_may_have_a_site_of_its_own():
    program = partitioned(4)
    for chip in range(4):
        program = moved(program, chip, Site(chip, chip + 1, 7 - chip))
    program = run_passes(program, TOKEN)
    for stage in program.stages:
        chip = int(stage.name[1])
        assert stage.site == Site(chip, chip + 1, 7 - chip)
        assert {program.buffer_by_name[name].site for name in stage.outs} <= {stage.site}
    assert run_passes(program, TOKEN) == program
    assert_exact(program)


@pytest.mark.parametrize(
    ("stage", "site", "rule", "subject"),
    [
        ("c1.load_a", Site(2), "MissingReceive", "c1.load_a->c1.matmul"),
        ("c1.matmul", Site(1, 1, 0), "SiteCount", "c1.matmul"),
        ("c0.fold", Site(0, 0, 1), "SiteCount", "c0.fold"),
        ("c0.recv_0", Site(1), "MissingReceive", "c0.recv_0->c0.fold"),
        ("c0.store_c", Site(3), "MissingReceive", "c0.fold->c0.store_c"),
    ],
)
def test_a_place_that_pages_cannot_reach_is_refused(stage, site, rule, subject):
    program = changed(partitioned(4), stage, site=site)
    error = refusal_of(lambda: run_passes(program, TOKEN))
    assert (error.rule, error.subject) == (rule, subject)


@pytest.mark.parametrize("chip", [-1, 1, 7])
def test_a_chip_that_does_not_exist_is_refused(chip):
    program = lowered()
    for stage in program.stages:
        program = changed(program, stage.name, site=Site(chip))
    error = refusal_of(lambda: run_passes(program, TOKEN))
    assert (error.rule, error.subject) == ("UnknownChip", "load_a")


def test_a_memory_map_survives():
    program = sharded(2)
    moved_up = tuple(replace(place, address=place.address + 4096) for place in program.memory)
    again = run_passes(replace(program, memory=moved_up), TOKEN)
    assert again.memory == moved_up
    assert check(again).holds


def test_a_memory_map_whose_places_overlap_is_refused():
    program = sharded(2)
    first, second, *rest = (place for place in program.memory if place.chip == 0)
    others = tuple(place for place in program.memory if place.chip != 0)
    memory = (first, replace(second, address=first.address), *rest, *others)
    error = refusal_of(lambda: run_passes(replace(program, memory=memory), TOKEN))
    assert error.rule == "MemoryMap"


# --- Engines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("chips", [2, 4, 8])
def test_sharding_keeps_engines_and_folds_on_a_compute_engine(chips, reduce):
    engines = {
        "load_a": Engine(MOVEMENT, 4),
        "load_b": Engine(MOVEMENT, 1),
        "matmul": Engine(COMPUTE, 2),
        "store_c": Engine(MOVEMENT, 5),
    }
    program = lowered(k=16 * chips, target=ROOMY)
    for name, engine in engines.items():
        program = changed(program, name, engine=engine)
    program = shard(run_passes(program, ROOMY), ShardPlan(chips, reduce), ROOMY)
    for stage in program.stages:
        local = stage.name.partition(".")[2]
        if local in engines:
            assert stage.engine == engines[local]
        elif isinstance(stage.kind, Fold):
            assert stage.engine == Engine(COMPUTE, 0)
        else:
            assert isinstance(stage.kind, Recv)
            assert stage.engine.kind is LINK
    assert_exact(program)


@pytest.mark.parametrize(
    ("stage", "engine", "rule"),
    [
        ("c1.matmul", Engine(COMPUTE, 4), "UnknownEngine"),
        ("c1.matmul", Engine(COMPUTE, -1), "UnknownEngine"),
        ("c1.matmul", Engine(MOVEMENT, 3), "EngineRole"),
        ("c0.fold", Engine(MOVEMENT, 5), "EngineRole"),
        ("c0.fold", Engine(LINK, 5), "EngineRole"),
        ("c0.recv_0", Engine(MOVEMENT, 5), "EngineRole"),
        ("c2.load_b", Engine(MOVEMENT, 0), "EngineOversubscribed"),
        ("c0.fold", Engine(COMPUTE, 0), "EngineOversubscribed"),
    ],
)
def test_an_engine_that_is_not_there_or_not_free_is_refused(stage, engine, rule):
    program = changed(sharded(4, target=ROOMY), stage, engine=engine)
    error = refusal_of(lambda: run_passes(program, ROOMY))
    assert (error.rule, error.subject) == (rule, stage)


@pytest.mark.parametrize(
    ("stage", "engine"), [("c2.load_b", Engine(MOVEMENT, 0)), ("c0.fold", Engine(COMPUTE, 0))]
)
def test_an_engine_that_nobody_has_yet_is_given_to_whoever_chose_it(stage, engine):
    program = run_passes(changed(partitioned(4, target=ROOMY), stage, engine=engine), ROOMY)
    users = [s.name for s in program.stages if (s.chip, s.engine) == (int(stage[1]), engine)]
    assert users == [stage]
    assert_exact(program)


# --- Depths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [1, 3])
def test_a_deeper_buffer_survives_wherever_it_is(more):
    chosen = sharded(4)
    for buffer in chosen.buffers:
        depth = buffer.depth_pages + more
        program = run_passes(changed(partitioned(4), buffer.name, depth=Depth(depth)), TOKEN)
        assert program.buffer_by_name[buffer.name].depth_pages == depth
        assert check(program).holds


def test_sharding_keeps_a_deeper_buffer():
    program = run_passes(changed(lowered(), "partial", depth=Depth(11)), TOKEN)
    program = shard(program, ShardPlan(4), TOKEN)
    assert {program.buffer_by_name[f"c{chip}.partial"].depth_pages for chip in range(4)} == {11}
    assert_exact(program)


@pytest.mark.parametrize("depth", [0, -1])
@pytest.mark.parametrize("buffer", ["c0.landing_1", "c2.a_pages", "c3.partial"])
def test_a_buffer_without_room_is_refused(buffer, depth):
    program = changed(partitioned(4), buffer, depth=Depth(depth))
    error = refusal_of(lambda: run_passes(program, TOKEN))
    assert (error.rule, error.subject) == ("BufferDepth", buffer)


def test_a_buffer_that_keeps_the_run_from_its_rate_is_refused():
    program = changed(partitioned(4), "c0.landing_0", depth=Depth(1))
    error = refusal_of(lambda: run_passes(program, TOKEN), UncertifiedProgramError)
    ((name, why),) = error.violations
    assert name == "no deadlock"
    assert "with unbounded buffers; room was waited for in c0.landing_0" in why


# --- Hand-offs, order of loops, routes ------------------------------------------------------------


@pytest.mark.parametrize(
    ("edge", "handoff", "rule"),
    [
        ("c1.load_a->c1.matmul", Token(), "LocalCrossSiteEdge"),
        ("c1.matmul->c0.recv_0", Fifo(), "CrossSiteLocalEdge"),
        ("c1.load_a->c1.matmul", Fifo(), "HandoffNotProvided"),
        ("c1.matmul->c0.recv_0", Semaphore("go", "done"), "HandoffNotProvided"),
    ],
)
def test_a_handoff_that_does_not_fit_is_refused(edge, handoff, rule):
    program = changed(partitioned(4), edge, handoff=handoff)
    error = refusal_of(lambda: run_passes(program, TOKEN))
    assert (error.rule, error.subject) == (rule, edge)


@pytest.mark.parametrize("loops", ["mm", "m", "", "mnk", "NM"])
def test_an_order_of_loops_that_visits_no_tile_once_is_refused(loops):
    (product,) = lowered().graph.operations
    graph = replace(lowered().graph, operations=(replace(product, order=LoopOrder(loops)),))
    error = refusal_of(lambda: run_passes(replace(lowered(), graph=graph), TOKEN))
    assert error.rule == "LoopOrder"


@pytest.mark.parametrize(
    ("stage", "kind", "rule"),
    [
        ("matmul", MatmulTiles(7), "CountingImbalance"),
        ("matmul", MatmulTiles(16), "CountingImbalance"),
        ("store_c", Store("c", Walk((Loop(4, 2),))), "WalkLeavesTensor"),
        ("load_a", Load("a", Walk((Loop(16, 1),))), "CountingImbalance"),
    ],
)
def test_walks_and_counts_that_do_not_cover_the_product_are_refused(stage, kind, rule):
    error = refusal_of(lambda: run_passes(changed(lowered(), stage, kind=kind), TOKEN))
    assert error.rule == rule


# --- The seeds' cases -----------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_a_512_deep_contraction_over_2_chips_counts_the_blocks_of_its_slices(reduce):
    """64 blocks on one chip are 32 on each of two: a slice that kept 64 would never end."""
    whole = compiled(k=512)
    assert whole.stage_by_name["matmul"].kind == MatmulTiles(64)
    program = shard(whole, ShardPlan(2, reduce), TOKEN)
    for chip in range(2):
        assert program.stage_by_name[f"c{chip}.matmul"].kind == MatmulTiles(32)
        for load in ("load_a", "load_b"):
            kind = program.stage_by_name[f"c{chip}.{load}"].kind
            assert isinstance(kind, Load)
            assert kind.walk.page_count == 2 * 2 * 32
    counting = obligation(program, "counting")
    assert counting.holds
    pages = 2 * 2 * (2 * 2 * 32 + 2 + 1 + 1)
    assert counting.evidence == (("buffers", 8), ("pages", pages))
    assert_exact(program)

    stale = changed(program, "c1.matmul", kind=MatmulTiles(64))
    assert obligation(stale, "counting").violations == (
        "buffer 'c0.landing_0' receives 2 pages, but 'c0.fold' takes 4",
    )
    with pytest.raises(InterpreterDeadlockError, match="the program cannot go on"):
        interpret(stale, np.zeros((16, 512), int), np.zeros((512, 16), int))


def remote_read(program: Program, chip: int) -> Program:
    """The fold of chip 0 reads the partial of another chip where it is, without a receive."""
    sender = next(e for e in program.edges if e.source == f"c{chip}.matmul")
    recv = sender.destination
    (landed,) = program.edges_by_source[recv]
    fold = program.stage_by_name["c0.fold"]
    ins = tuple(sender.buffer if name == landed.buffer else name for name in fold.ins)
    program = without(program, recv, landed.buffer, landed.name)
    program = changed(program, sender.name, destination="c0.fold")
    return changed(program, "c0.fold", ins=ins)


def test_a_reduction_that_reads_remote_partials_directly_is_refused_at_the_edge():
    error = refusal_of(lambda: run_passes(remote_read(sharded(4), 1), TOKEN))
    assert (error.rule, error.subject) == ("MissingReceive", "c1.matmul->c0.recv_0")
    assert str(error) == (
        "MissingReceive: edge 'c1.matmul->c0.recv_0' crosses to site (0,0,0) and ends in "
        "'c0.fold', which reads the sender's buffer 'c1.partial'; it must end in a Recv with a "
        "landing buffer of its own"
    )


def test_a_reduction_whose_local_copy_nobody_fills_is_refused_at_the_buffer():
    program = sharded(4)
    program = without(program, "c0.recv_0", "c0.recv_0->c0.fold", "c1.matmul->c0.recv_0")
    read = Edge("c1.matmul->c0.fold", "c1.matmul", "c1.partial", "c0.fold")
    program = replace(program, edges=(*program.edges, read))
    error = refusal_of(lambda: run_passes(program, TOKEN))
    assert (error.rule, error.subject) == ("BufferProducerCount", "c0.landing_0")
    assert "has 0 producing stages; it must have one" in str(error)


def test_the_checker_refuses_a_remote_read_by_itself():
    certificate = check(remote_read(sharded(4), 1))
    assert certificate.violated[0].name == "landing"
    assert certificate.violated[0].violations[0].startswith("MissingReceive: edge 'c1.matmul->")


@pytest.mark.parametrize(("reduce", "target"), [("tree", TOKEN), ("star", MANY_PORTS)])
def test_sixteen_chips_are_one_collective_and_15_crossings(reduce, target):
    program = sharded(16, reduce, target=target)
    (collective,) = program.collectives
    assert (collective.kind, collective.algorithm, collective.home) == ("reduce", reduce, 0)
    assert collective.chips == tuple(range(16))
    crossing = [edge for edge in program.edges if program.crosses(edge)]
    senders = [program.stage_by_name[edge.source].site.chip for edge in crossing]
    assert sorted(senders) == list(range(1, 16))
    assert len(program.links) == 15
    assert {edge.handoff for edge in crossing} == {Token()}
    receives = {stage.name for stage in program.stages if isinstance(stage.kind, Recv)}
    folds = {stage.name for stage in program.stages if isinstance(stage.kind, Fold)}
    assert set(collective.stages) == receives | folds
    assert len(receives) == 15
    assert dict(obligation(program, "landing").evidence) == {
        "edges between chips": 15,
        "receives": 15,
    }


def test_sixteen_chips_in_a_star_need_more_ports_than_a_chip_has():
    whole = compile(MatmulSpec(16, 16, 256), TOKEN)
    error = refusal_of(lambda: shard(whole, ShardPlan(16, "star"), TOKEN), LinkPortsExceededError)
    assert (error.chip, error.needed, error.ports) == (0, 15, 8)


# --- What is chosen by hand, though the passes would choose the same ------------------------------


def by_hand(program: Program) -> Program:
    """A finished program in which every decision is somebody's."""
    (product,) = program.graph.operations
    assert product.order is not None
    operations = (replace(product, order=hand(product.order)),)
    return replace(
        program,
        graph=replace(program.graph, operations=operations),
        stages=tuple(replace(s, engine=hand(s.engine)) for s in program.stages),
        buffers=tuple(replace(b, depth=hand(b.depth)) for b in program.buffers),
        edges=tuple(replace(e, handoff=hand(e.handoff)) for e in program.edges),
    )


def hand(decision):
    return replace(decision, by=Chooser.HAND)


def choosers(program: Program) -> dict[str, set[Chooser]]:
    """Who made the decisions of each kind."""
    return {
        "order": {product.order.by for product in program.graph.operations},
        "engine": {stage.engine.by for stage in program.stages},
        "depth": {buffer.depth.by for buffer in program.buffers},
        "hand-off": {edge.handoff.by for edge in program.edges},
    }


PLANS = (
    ShardPlan(2),
    ShardPlan(4, "star", result="all"),
    ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}, result="all"),
    ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "n": "col"}),
)
over_plans = pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.mesh} {plan.shard}")


def test_what_the_passes_choose_is_theirs():
    assert set(map(frozenset, choosers(compiled()).values())) == {frozenset({Chooser.COMPILER})}
    assert set(map(frozenset, choosers(sharded(4)).values())) == {frozenset({Chooser.COMPILER})}


def test_what_is_by_hand_stays_by_hand_through_passes_and_files():
    program = by_hand(compiled())
    assert program == compiled()
    assert set(map(frozenset, choosers(program).values())) == {frozenset({Chooser.HAND})}
    for again in (run_passes(program, TOKEN), from_json(to_json(program))):
        assert repr(again.stages) == repr(program.stages)
        assert choosers(again) == choosers(program)


@over_plans
def test_sharding_takes_along_what_is_by_hand_and_decides_the_rest_anew(plan):
    """Slices of one program whose choices are the passes', and of one with the same by hand."""
    target = get("token-mesh", link_ports=16)
    whole = compile(MatmulSpec(32, 32, 64), target)
    ours, theirs = shard(whole, plan, target), shard(by_hand(whole), plan, target)
    for stage in whole.stages:
        copies = [s for s in theirs.stages if s.name.partition(".")[2] == stage.name]
        assert copies
        for copy in copies:
            assert (copy.engine, copy.engine.by) == (stage.engine, Chooser.HAND)
    for buffer in whole.buffers:
        copies = [b for b in theirs.buffers if b.name.partition(".")[2] == buffer.name]
        assert copies
        for copy in copies:
            assert (copy.depth, copy.depth.by) == (buffer.depth, Chooser.HAND)
    (product,) = theirs.graph.operations
    assert product.order.by is Chooser.HAND
    assert set(map(frozenset, choosers(ours).values())) == {frozenset({Chooser.COMPILER})}
    made = {s.name for s in ours.stages if isinstance(s.kind, Fold | Recv | Copy)}
    by = {s.engine.by for s in theirs.stages if s.name in made}
    assert by <= {Chooser.COMPILER}


@over_plans
def test_undecided_takes_back_what_the_passes_have_chosen_and_no_more(plan):
    target = get("token-mesh", link_ports=16)
    program = compile(MatmulSpec(32, 32, 64), target, plan)
    blank = undecided(program)
    assert {stage.engine for stage in blank.stages} == {None}
    assert {(buffer.depth, buffer.site) for buffer in blank.buffers} == {(None, None)}
    assert {(edge.handoff, edge.link) for edge in blank.edges} == {(None, None)}
    assert [operation.order for operation in blank.graph.operations] == [None]
    derived = (blank.links, blank.memory, blank.schedule, blank.certificate)
    assert derived == ((), (), None, None)
    assert run_passes(blank, target) == program
    assert undecided(blank) == blank

    kept = undecided(by_hand(program))
    assert [s.engine for s in kept.stages] == [s.engine for s in program.stages]
    assert [b.depth for b in kept.buffers] == [b.depth for b in program.buffers]
    assert [e.handoff for e in kept.edges] == [e.handoff for e in program.edges]
    assert kept.graph == program.graph
    assert run_passes(kept, target) == program


# --- Ways over other chips ------------------------------------------------------------------------

WAYS = (
    {3: (1,)},
    {2: (1,), 3: (2, 1)},
    {1: (2, 3), 3: (2,)},
    {1: (3,), 2: (3,)},
    {3: (2,), 2: (3,)},
)


@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("ways", WAYS, ids=str)
@pytest.mark.parametrize("kind", ["token-mesh", "semaphore-mesh", "barrier-mesh"])
def test_a_way_over_other_chips_is_taken_and_sums_what_was_summed(kind, ways, reduce):
    """A barrier counts rounds of one page each, so edges that share a link cannot wait at one."""
    target = get(kind)
    program = partitioned(4, reduce, target=target)
    for sender, via in ways.items():
        buffer = (
            f"c{sender}.{'subtotal' if f'c{sender}.fold' in program.stage_by_name else 'partial'}"
        )
        edge = program.edge_by_buffer[buffer]
        via = tuple(chip for chip in via if chip != program.stage_by_name[edge.destination].chip)
        program = changed(program, edge.name, via=via)
    routed = route(tile(program), target)
    merges = (stage for stage in routed.stages if isinstance(stage.kind, Merge))
    shared = {edge.name for merge in merges for edge in routed.edges_by_source[merge.name]}
    if shared and kind == "barrier-mesh":
        error = refusal_of(lambda: run_passes(program, target), SharedLinkBarrierError)
        assert error.target == target.name
        assert error.edge in shared
        return
    program = run_passes(program, target)
    assert run_passes(program, target) == program
    assert {edge.via for edge in program.edges} == {()}
    assert_exact(program)


def test_a_sum_may_share_a_link_with_its_own_parts():
    """Chip 1's part passes from chip 2 to chip 3, and so does the sum on its way back.

    Stages feed each other in a circle, but every page of the sum comes behind its own part.
    """
    program = partition(lowered(), ShardPlan(4, result="all"), TOKEN)
    program = run_passes(changed(program, "c1.matmul->c0.recv_0", via=(2, 3)), TOKEN)
    (part,) = components(program)
    assert part.goes_round(program)
    assert_exact(program)


def test_a_way_inside_a_chip_or_over_none_that_there_is_is_refused():
    for edge, via in (("c0.matmul->c0.fold", (1,)), ("c1.matmul->c0.recv_0", (4,))):
        program = changed(partitioned(4), edge, via=via)
        error = refusal_of(lambda program=program: run_passes(program, TOKEN))
        assert (error.rule, error.subject) == ("ViaChip", edge)
    program = changed(partitioned(4), "c1.matmul->c0.recv_0", via=(2, 2))
    error = refusal_of(lambda: run_passes(program, TOKEN), RouteError)
    assert str(error) == (
        "edge 'c1.matmul->c0.recv_0' is to pass chip 2, which is on its way already; name each "
        "chip between its ends once (via)"
    )
