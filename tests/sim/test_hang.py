from dataclasses import replace

import pytest

from compiler.ir.walk import Loop, Walk
from hw import system
from sim.amaranth_engine import AmaranthEngine
from sim.errors import SimulationHangError
from sim.hang import waiting_stages
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


def with_walk(program, stage: str, page_count: int):
    """A program whose stage visits page 0 that many times and no other."""
    return replace(
        program,
        stages=tuple(
            replace(s, kind=replace(s.kind, walk=Walk((Loop(page_count, 0),))))
            if s.name == stage
            else s
            for s in program.stages
        ),
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_load_that_ends_too_early_starves_all_that_follow_it(target):
    # Chip 3 lacks half a result; all others have done what they can.
    program = program_for(4, 4, 32, chips=4, target=target)
    assert waits_of(with_walk(program, "c3.load_b", 1)) == {
        "c3.matmul waits for a page from c3.load_b in c3.b_pages",
        "c2.recv_0 waits for a page from c3.matmul over c3->c2",
        "c2.fold waits for a page from c2.recv_0 in c2.landing_0",
        "c0.recv_1 waits for a page from c2.fold over c2->c0",
        "c0.fold waits for a page from c0.recv_1 in c0.landing_1",
        "c0.store_c waits for a page from c0.fold in c0.reduced",
    }


@pytest.mark.parametrize("target", TARGETS)
def test_the_other_load_then_waits_for_room(target):
    program = program_for(8, 8, 16, target=target)
    assert waits_of(with_walk(program, "load_a", 2)) == {
        "load_b waits for room in b_pages",
        "matmul waits for a page from load_a in a_pages",
        "store_c waits for a page from matmul in partial",
    }


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_whose_loads_both_ended_waits_for_both(target):
    program = program_for(4, 4, 16, target=target)
    short = with_walk(with_walk(program, "load_a", 3), "load_b", 3)
    assert waits_of(short) == {
        "matmul waits for a page from load_a in a_pages",
        "matmul waits for a page from load_b in b_pages",
        "store_c waits for a page from matmul in partial",
    }


def test_products_and_loads_that_have_done_their_work_are_not_named():
    # The store wants one page more than there is.
    program = program_for(8, 8, 16, chips=2)
    assert waits_of(with_walk(program, "c0.store_c", 5)) == {
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
