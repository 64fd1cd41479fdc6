import numpy as np
import pytest

from compiler.ir.buffer import Depth
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.amaranth_engine import TIMELINE_SPANS, AmaranthEngine
from sim.errors import SimulationHangError
from sim.result import LinkActivity
from tests.compiler.programs import changed
from tests.programs import finished, program_for, random_operands

TARGETS = ("token-mesh", "semaphore-mesh")


def images(program, a: np.ndarray, b: np.ndarray) -> dict[str, list[int]]:
    """Words of the memories of a product of one page: a column of A is a word, and a row of B."""
    chips = program.chip_count
    lefts, rights = np.split(a, chips, axis=1), np.split(b, chips, axis=0)
    contents = {}
    for chip, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        for name, beats in (("a", left.T), ("b", right)):
            contents[f"c{chip}.{name}"] = [
                int.from_bytes(beat.astype(np.int8).tobytes(), "little") for beat in beats
            ]
    return contents


def matrix(memory: list[int]) -> list[list[int]]:
    return [np.frombuffer(word.to_bytes(16, "little"), "<i4").tolist() for word in memory]


@pytest.mark.parametrize("target", TARGETS)
def test_runs_again_with_other_operands_and_the_same_cycles(target):
    program = program_for(4, 4, 16, chips=4, target=target)
    engine = AmaranthEngine(program)
    for seed in range(3):
        a, b = random_operands(program, seed)
        run = engine.run(images(program, a, b), max_cycles=1000)
        assert matrix(run.memories["c"]) == (a @ b).tolist()
        assert run.cycles == program.schedule.cycles


def test_runs_again_after_a_hang():
    program = program_for(4, 4, 16, chips=4)
    engine = AmaranthEngine(program)
    with pytest.raises(SimulationHangError):
        engine.run({}, max_cycles=program.schedule.cycles - 1)
    assert engine.run({}, max_cycles=program.schedule.cycles).cycles == program.schedule.cycles


def test_tensors_without_contents_are_zero():
    program = program_for(4, 4, 16, chips=2)
    run = AmaranthEngine(program).run({}, max_cycles=1000)
    assert run.memories == {"c": [0, 0, 0, 0]}


def test_every_chip_that_stores_hands_its_copy_back():
    program = finished(MatmulSpec(4, 4, 16), plan=ShardPlan(4, result="all"))
    a, b = random_operands(program, 5)
    run = AmaranthEngine(program).run(images(program, a, b), max_cycles=1000)
    assert set(run.memories) == {f"c{chip}.c" for chip in range(4)}
    for memory in run.memories.values():
        assert matrix(memory) == (a @ b).tolist()
    assert run.cycles == program.schedule.cycles


def test_chips_that_multiply_longer_tell_so():
    """Six tiles of the contraction over four chips are 2, 2, 1 and 1."""
    program = finished(MatmulSpec(4, 4, 24), plan=ShardPlan(4, uneven=True))
    run = AmaranthEngine(program).run({}, max_cycles=1000)
    assert [chip.active_cycles for chip in run.chips] == [8, 8, 4, 4]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("width", [128, 32, 24])
def test_links_tell_their_beats_and_the_cycles_that_they_took(target, width):
    program = program_for(8, 8, 16, chips=4, target=target, link_width_bits=width)
    run = AmaranthEngine(program).run({}, max_cycles=2000)
    flits_per_beat = -(-128 // width)
    assert [link.link for link in run.links] == ["c1->c0", "c2->c0", "c3->c2"]
    for link in run.links:
        assert link.beats == 16
        assert link.busy_cycles == 16 * flits_per_beat
        assert 0 <= link.stall_cycles < run.cycles - link.busy_cycles


@pytest.mark.parametrize("latency", [1, 8, 30])
def test_a_link_stalls_while_its_only_credit_is_on_the_way(latency):
    # A page every 8 cycles. Its slot is free again a round trip behind its last beat.
    program = program_for(8, 8, 16, chips=2, link_latency_cycles=latency)
    (full,) = AmaranthEngine(program).run({}, max_cycles=2000).links
    assert full == LinkActivity("c1->c0", beats=16, busy_cycles=16, stall_cycles=0)
    one_slot = changed(program, "c0.landing_0", depth=Depth(1))
    (slow,) = AmaranthEngine(one_slot).run({}, max_cycles=2000).links
    assert slow.beats == slow.busy_cycles == 16
    assert slow.stall_cycles >= 3 * (2 * latency - 8)


def test_chips_tell_when_they_multiplied():
    program = program_for(8, 8, 32, chips=2)
    run = AmaranthEngine(program).run({}, max_cycles=1000)
    assert [chip.chip for chip in run.chips] == [0, 1]
    for chip in run.chips:
        assert chip.active_cycles == 8 * 8 * 32 // (2 * 4 * 4)
        # From cycle 2, in which the first beats can be read, without a gap.
        assert chip.last_active_cycle == chip.active_cycles + 1


@pytest.mark.parametrize(("m", "n", "k"), [(4, 4, 4), (8, 8, 32), (16, 16, 33)])
def test_timeline_divides_the_run_into_equal_spans(m, n, k):
    program = program_for(m, n, k)
    run = AmaranthEngine(program).run({}, max_cycles=100_000)
    span = -(-run.cycles // TIMELINE_SPANS)
    (chip,) = run.chips
    spans = -(-run.cycles // span)
    assert len(chip.timeline) == spans <= TIMELINE_SPANS
    assert all(0 <= share <= 1 for share in chip.timeline)
    lengths = [span] * (spans - 1) + [run.cycles - span * (spans - 1)]
    active = sum(share * length for share, length in zip(chip.timeline, lengths, strict=True))
    assert active == pytest.approx(chip.active_cycles)


def test_progress_is_called_with_growing_cycles():
    calls = []
    program = program_for(8, 8, 32)
    run = AmaranthEngine(program).run({}, max_cycles=1000, progress=calls.append)
    assert calls[0] == 0
    assert calls == sorted(set(calls))
    assert run.cycles - run.cycles // TIMELINE_SPANS - 1 <= calls[-1] < run.cycles
