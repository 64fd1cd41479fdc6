from dataclasses import replace

import pytest

from compiler.ir.stage import Load, Store
from compiler.ir.walk import Loop, Walk
from compiler.shard_plan import ShardPlan
from hw import system
from hw.units import UNITS, UnitKind
from sim.amaranth_engine import AmaranthEngine
from sim.errors import SimulationHangError
from sim.hang import waiting_stages
from tests.hw.hand_built import relay, shared_link
from tests.hw.simulation import idle, simulate
from tests.hw.system_bench import SETTLING_CYCLES, SystemBench
from tests.programs import program_for, random_operands
from tests.sim.broken import CutChannel, one_way_if_latency_is

TARGETS = ("token-mesh", "semaphore-mesh")


def waits_of(program) -> set[str]:
    """What the watchdog says of a run that cannot end."""
    with pytest.raises(SimulationHangError) as error:
        AmaranthEngine(program).run({}, max_cycles=400)
    waits = error.value.waits
    assert len(set(waits)) == len(waits)
    assert str(error.value) == (
        f"the run did not end within 400 cycles; waiting: {'; '.join(waits)}"
    )
    return set(waits)


@pytest.fixture
def misled(monkeypatch):
    """Lets the hardware of a load or a store go through that many pages, whatever it should do."""

    def mislead(tensor: str, page_count: int) -> None:
        for kind in (Load, Store):
            monkeypatch.setitem(UNITS, kind, _misled(UNITS[kind], tensor, page_count))

    return mislead


def _misled(unit: UnitKind, tensor: str, page_count: int) -> UnitKind:
    def build(kind, around):
        if kind.tensor == tensor:
            kind = replace(kind, walk=Walk((Loop(page_count, 0),)))
        return unit.build(kind, around)

    return replace(unit, build=build)


@pytest.mark.parametrize("target", TARGETS)
def test_a_load_that_ends_too_early_starves_all_that_follow_it(target, misled):
    # Chip 3 lacks half a result; all others have done what they can.
    program = program_for(4, 4, 32, chips=4, target=target)
    misled("c3.b", 1)
    assert waits_of(program) == {
        "c3.matmul waits for a page from c3.load_b in c3.b_pages",
        "c2.recv_0 waits for a page from c3.matmul over c3->c2",
        "c2.fold waits for a page from c2.recv_0 in c2.landing_0",
        "c0.recv_1 waits for a page from c2.fold over c2->c0",
        "c0.fold waits for a page from c0.recv_1 in c0.landing_1",
        "c0.store_c waits for a page from c0.fold in c0.reduced",
    }


@pytest.mark.parametrize("target", TARGETS)
def test_the_other_load_then_waits_for_room(target, misled):
    program = program_for(8, 8, 16, target=target)
    misled("a", 2)
    assert waits_of(program) == {
        "load_b waits for room in b_pages",
        "matmul waits for a page from load_a in a_pages",
        "store_c waits for a page from matmul in partial",
    }


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_whose_loads_both_ended_waits_for_both(target, misled):
    program = program_for(4, 4, 16, target=target)
    misled("a", 3)
    misled("b", 3)
    assert waits_of(program) == {
        "matmul waits for a page from load_a in a_pages",
        "matmul waits for a page from load_b in b_pages",
        "store_c waits for a page from matmul in partial",
    }


def test_products_and_loads_that_have_done_their_work_are_not_named(misled):
    # The store wants one page more than there is.
    program = program_for(8, 8, 16, chips=2)
    misled("c", 5)
    assert waits_of(program) == {
        "c0.store_c waits for a page from c0.fold in c0.reduced",
        "c0.fold waits for a page from c0.matmul in c0.partial",
        "c0.fold waits for a page from c0.recv_0 in c0.landing_0",
        "c0.recv_0 waits for a page from c1.matmul over c1->c0",
    }


def test_a_link_that_loses_a_page_leaves_its_receiver_waiting(monkeypatch):
    monkeypatch.setattr(system, "LinkChannel", CutChannel)
    assert waits_of(program_for(4, 4, 8, chips=2)) == {
        "c0.recv_0 waits for a page from c1.matmul over c1->c0",
        "c0.fold waits for a page from c0.recv_0 in c0.landing_0",
        "c0.store_c waits for a page from c0.fold in c0.reduced",
    }


def test_a_link_whose_credits_never_return_is_named_with_the_buffer_at_its_end(monkeypatch):
    program = program_for(4, 16, 16, chips=4, link_latency_cycles=2)
    links = tuple(
        replace(link, latency_cycles=3) if link.name == "c2->c0" else link for link in program.links
    )
    monkeypatch.setattr(system, "LinkChannel", one_way_if_latency_is(3))
    pages = program.buffer_by_name["c0.landing_1"].depth_pages
    assert pages < 4, "the link must run out of credits before it has sent all"
    assert waits_of(replace(program, links=links)) >= {
        "link c2->c0 waits for a free page in c0.landing_1",
        "c0.recv_1 waits for a page from c2.fold over c2->c0",
        "c0.fold waits for a page from c0.recv_1 in c0.landing_1",
        "c0.store_c waits for a page from c0.fold in c0.reduced",
    }


def test_a_stopped_link_is_felt_back_to_the_loads(monkeypatch):
    # More pages than all buffers of the chip hold.
    program = program_for(4, 64, 8, chips=2, link_latency_cycles=2)
    monkeypatch.setattr(system, "LinkChannel", one_way_if_latency_is(2))
    assert waits_of(program) >= {
        "link c1->c0 waits for a free page in c0.landing_0",
        "c1.matmul waits for room for a whole page in c1.partial",
        "c1.load_a waits for room in c1.a_pages",
        "c1.load_b waits for room in c1.b_pages",
    }


def test_a_fold_that_finds_no_room_says_so(monkeypatch):
    program = program_for(4, 64, 16, chips=4, link_latency_cycles=2)
    links = tuple(
        replace(link, latency_cycles=3) if link.name == "c2->c0" else link for link in program.links
    )
    monkeypatch.setattr(system, "LinkChannel", one_way_if_latency_is(3))
    waits = waits_of(replace(program, links=links))
    assert "c2.fold waits for room in c2.subtotal" in waits
    assert "link c3->c2 waits for a free page in c2.landing_0" in waits


def test_page_slots_that_are_never_offered_hold_every_semaphore_link(monkeypatch):
    monkeypatch.setattr(system, "LinkChannel", CutChannel)
    program = program_for(4, 4, 16, chips=4, target="semaphore-mesh")
    assert waits_of(program) == {
        "link c1->c0 waits for a free page in c0.landing_0",
        "link c3->c2 waits for a free page in c2.landing_0",
        "c0.recv_0 waits for a page from c1.matmul over c1->c0",
        "c0.recv_1 waits for a page from c2.fold over c2->c0",
        "c2.recv_0 waits for a page from c3.matmul over c3->c2",
        "c0.fold waits for a page from c0.recv_0 in c0.landing_0",
        "c0.fold waits for a page from c0.recv_1 in c0.landing_1",
        "c2.fold waits for a page from c2.recv_0 in c2.landing_0",
        "c0.store_c waits for a page from c0.fold in c0.reduced",
    }


def test_a_relay_whose_sender_starves_says_where_the_pages_should_have_come_from(misled):
    misled("c2.b", 7)
    assert waits_of(relay()) == {
        "c2.matmul waits for a page from c2.load_b in c2.b_pages",
        "c1.recv waits for a page from c2.matmul over c2->c1",
        "c0.recv waits for a page from c1.recv over c1->c0",
        "c0.store_c waits for a page from c0.recv in c0.landing",
    }


def test_a_merge_waits_for_the_input_whose_turn_it_is_alone(misled):
    # Input 0 has every third turn. The other has pages, more than it may pass on.
    misled("c1.b_0", 3)
    assert waits_of(shared_link((0, 1, 1), depth_pages=1)) == {
        "c1.matmul_0 waits for a page from c1.load_b_0 in c1.b_pages_0",
        "c1.merge waits for a page from c1.matmul_0 in c1.partial_0",
        "c1.load_a_1 waits for room in c1.a_pages_1",
        "c1.load_b_1 waits for room in c1.b_pages_1",
        "c1.matmul_1 waits for room for a whole page in c1.partial_1",
        "c0.recv waits for a page from c1.merge over c1->c0",
        "c0.split waits for a page from c0.recv in c0.landing",
        "c0.store_c_0 waits for a page from c0.split in c0.part_0",
        "c0.store_c_1 waits for a page from c0.split in c0.part_1",
    }


def test_a_copy_that_finds_no_room_names_the_outputs_that_have_none(monkeypatch):
    plan = ShardPlan(3, "star", result="all")
    program = program_for(4, 64, 12, plan=plan, link_latency_cycles=2)
    links = tuple(
        replace(link, latency_cycles=3) if link.name == "c0->c2" else link for link in program.links
    )
    monkeypatch.setattr(system, "LinkChannel", one_way_if_latency_is(3))
    waits = waits_of(replace(program, links=links))
    assert {line for line in waits if line.startswith("c0.copy")} == {
        "c0.copy waits for room in c0.whole_1"
    }
    assert "link c0->c2 waits for a free page in c2.landing_whole" in waits
    assert "c1.recv_whole waits for a page from c0.copy over c0->c1" in waits


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_waits_after_a_run(target):
    bench = SystemBench(program_for(8, 8, 32, chips=4, target=target))

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        await bench.multiply(ctx, *random_operands(bench.program, 0))
        await idle(ctx, 5)
        assert waiting_stages(bench.system, ctx.get) == []

    simulate(bench.dut, testbench)


def test_error_says_so_if_nothing_waits():
    error = SimulationHangError(cycles=7, waits=())
    assert str(error) == "the run did not end within 7 cycles; no stage waits"
    assert (error.cycles, error.waits) == (7, ())
