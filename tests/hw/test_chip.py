# amaranth: UnusedElaboratable=no
import random

import numpy as np
import pytest
from amaranth.hdl import Fragment, Value
from amaranth.lib.wiring import Flow, In, Out

from hw.chip import Chip
from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature
from tests.hw.simulation import idle, simulate
from tests.hw.system_bench import column_beats, put_in, row_beats, taken_out
from tests.programs import program_for, random_operands

PROGRAMS = [
    program_for(8, 8, 32, chips=1),
    program_for(8, 8, 64, chips=8),
    program_for(8, 8, 32, chips=4, reduce="star"),
    program_for(8, 8, 24, chips=3, target="semaphore-mesh"),
]
TREE_OVER_8 = PROGRAMS[1]
TILE, LANE_BITS = 4, 32
# One beat of a result page crosses a link of this width in one flit.
PAIR = program_for(8, 8, 16, chips=2, link_width_bits=TILE * LANE_BITS)
RESULT_PAGES = 4


def elaborated(program, coordinate: int) -> tuple[Chip, list[str]]:
    """A chip, and the names of its submodules."""
    chip = Chip(program, coordinate)
    return chip, sorted(name for _, name, _ in Fragment.get(chip, None).subfragments)


def ports(chip: Chip) -> dict[str, tuple[Flow, int]]:
    """Direction and width of every port signal of a chip."""
    return {
        "_".join(path): (member.flow, Value.cast(signal).shape().width)
        for path, member, signal in chip.signature.flatten(chip)
    }


def flit_of(beat: list[int]) -> int:
    """A beat as bits, lane 0 in the lowest."""
    return int.from_bytes(np.array(beat, "<i4").tobytes(), "little")


def local(name: str) -> str:
    return name.split(".")[-1]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_stage_buffer_tensor_and_link_end_is_a_submodule_by_its_name(program):
    for coordinate in range(program.chip_count):
        stages = [stage for stage in program.stages if stage.site.chip == coordinate]
        buffers = [buffer for buffer in program.buffers if buffer.site.chip == coordinate]
        leaving = [
            edge for edge in program.edges if edge.link and edge.source in {s.name for s in stages}
        ]
        arriving = [
            edge
            for edge in program.edges
            if edge.link and edge.destination in {s.name for s in stages}
        ]
        expected = [
            "activity",
            *(f"memory_{local(t.name)}" for t in program.tensors if t.chip == coordinate),
            *(local(record.name) for record in (*stages, *buffers)),
            *(f"{local(edge.buffer)}_transmitter" for edge in leaving),
            *(f"{local(edge.destination)}_receiver" for edge in arriving),
        ]
        _, submodules = elaborated(program, coordinate)
        assert submodules == sorted(expected)


def test_chips_with_the_same_stages_have_the_same_ports_and_submodules():
    for alike in ((1, 3, 5, 7), (2, 6)):
        (first, names), *others = (elaborated(TREE_OVER_8, coordinate) for coordinate in alike)
        for other, other_names in others:
            assert [local(s.name) for s in other.stages] == [local(s.name) for s in first.stages]
            assert ports(other) == ports(first)
            assert other_names == names


@pytest.mark.parametrize(
    ("target", "link"),
    [("token-mesh", CreditLinkSignature), ("semaphore-mesh", SemaphoreLinkSignature)],
)
def test_ports_are_links_named_after_sending_buffer_and_receiving_stage(target, link):
    program = program_for(8, 8, 32, chips=4, target=target, link_width_bits=24)
    links = {
        0: {"recv_0_link": In, "recv_1_link": In},
        1: {"partial_link": Out},
        2: {"recv_0_link": In, "subtotal_link": Out},
        3: {"partial_link": Out},
    }
    for coordinate, flows in links.items():
        chip, _ = elaborated(program, coordinate)
        members = dict(chip.signature.members)
        assert members.pop("start") == In(1)
        assert members.pop("done") == Out(1)
        assert {name: member.flow for name, member in members.items()} == flows
        for member in members.values():
            signature = member.signature if member.flow == Out else member.signature.flip()
            assert isinstance(signature, link)
            assert signature.width_bits == 24


def test_memories_hold_the_whole_tiles_of_the_tensors_of_the_chip():
    program = program_for(5, 9, 16, chips=2)
    chips = [elaborated(program, coordinate)[0] for coordinate in (0, 1)]
    depths = [
        {name: memory.depth_words for name, memory in chip.memories.items()} for chip in chips
    ]
    a, b, c = 2 * 2 * TILE, 2 * 3 * TILE, 2 * 3 * TILE
    assert depths == [{"c0.a": a, "c0.b": b, "c": c}, {"c1.a": a, "c1.b": b}]


@pytest.mark.parametrize("density", [0.1, 1.0])
def test_leaf_chip_sends_its_partial_sum_and_counts_what_it_did(density):
    rng = random.Random(density)
    chip = Chip(PAIR, 1)
    a, b = random_operands(PAIR, 3)
    a, b = a[:, 8:], b[8:]
    sent = []

    async def testbench(ctx):
        put_in(ctx, chip, "c1.a", column_beats(a, TILE))
        put_in(ctx, chip, "c1.b", row_beats(b, TILE))
        ctx.set(chip.start, 1)
        await ctx.tick()
        ctx.set(chip.start, 0)
        assert not ctx.get(chip.done)
        owed = 0
        while len(sent) < RESULT_PAGES * TILE or owed:
            _, _, valid, flit = await ctx.tick().sample(
                chip.partial_link.flit.valid, chip.partial_link.flit.payload
            )
            if valid:
                sent.append(flit)
                owed += len(sent) % TILE == 0
            returned = owed > 0 and rng.random() < density
            ctx.set(chip.partial_link.credit, returned)
            owed -= returned
        await ctx.tick()
        ctx.set(chip.partial_link.credit, 0)
        await ctx.tick()
        assert ctx.get(chip.done)
        for event, count in (("beats", 16), ("busy", 16)):
            assert ctx.get(chip.activity.count(f"partial_link_{event}")) == count
        assert ctx.get(chip.activity.count("matmul_active")) == RESULT_PAGES * 2 * TILE

    simulate(chip, testbench)
    assert sent == [flit_of(beat) for beat in row_beats(a @ b, TILE)]


def test_home_chip_adds_what_arrives_and_returns_one_credit_for_each_page():
    chip = Chip(PAIR, 0)
    a, b = random_operands(PAIR, 4)
    a, b = a[:, :8], b[:8]
    arriving = np.random.default_rng(5).integers(-(2**24), 2**24, (8, 8))
    beats = row_beats(arriving, TILE)
    returned = []

    async def sender(ctx):
        held, link = chip.fifos["c0.landing_0"].depth_pages, chip.recv_0_link
        for index, beat in enumerate(beats):
            while index % TILE == 0 and not held:
                _, _, credit = await ctx.tick().sample(link.credit)
                held += credit
                returned.append(credit)
            held -= index % TILE == 0
            ctx.set(link.flit.payload, flit_of(beat))
            ctx.set(link.flit.valid, 1)
            _, _, credit = await ctx.tick().sample(link.credit)
            held += credit
            returned.append(credit)
            ctx.set(link.flit.valid, 0)
        while not ctx.get(chip.done):
            _, _, credit = await ctx.tick().sample(link.credit)
            returned.append(credit)

    async def host(ctx):
        put_in(ctx, chip, "c0.a", column_beats(a, TILE))
        put_in(ctx, chip, "c0.b", row_beats(b, TILE))
        ctx.set(chip.start, 1)
        await ctx.tick()
        ctx.set(chip.start, 0)
        while not ctx.get(chip.done):
            await ctx.tick()
        assert taken_out(ctx, chip, "c") == row_beats(a @ b + arriving, TILE)

    simulate(chip, host, sender)
    assert sum(returned) == RESULT_PAGES


@pytest.mark.parametrize("density", [0.2, 1.0])
def test_a_chip_ignores_its_start_in_mid_run(density):
    rng = random.Random(density)
    program = program_for(8, 8, 8, chips=1)
    chip = Chip(program, 0)

    async def testbench(ctx):
        for seed in range(3):
            a, b = random_operands(program, seed)
            put_in(ctx, chip, "a", column_beats(a, TILE))
            put_in(ctx, chip, "b", row_beats(b, TILE))
            ctx.set(chip.start, 1)
            await ctx.tick()
            cycles = 0
            while not ctx.get(chip.done):
                ctx.set(chip.start, rng.random() < density)
                await ctx.tick()
                cycles += 1
            ctx.set(chip.start, 0)
            assert cycles == ctx.get(chip.activity.cycles) == program.schedule.cycles
            assert taken_out(ctx, chip, "c") == row_beats(a @ b, TILE)

    simulate(chip, testbench)


def test_asserts_that_a_result_finds_room():
    chip = Chip(program_for(16, 16, 16, chips=2), 1)
    chip.units["c1.matmul"].result_pages += 8  # more than its buffer has

    async def testbench(ctx):
        ctx.set(chip.start, 1)
        await ctx.tick()
        ctx.set(chip.start, 0)
        await idle(ctx, 500)  # no credit comes back

    with pytest.raises(AssertionError, match="a result left without room for it"):
        simulate(chip, testbench)
