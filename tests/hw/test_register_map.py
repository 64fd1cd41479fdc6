# amaranth: UnusedElaboratable=no
import pytest
from amaranth.hdl import Fragment

from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw.chip import Chip
from hw.register_map import Access, Register, RegisterMap, Window, register_map
from tests.hw.hand_built import relay
from tests.programs import finished, program_for

PROGRAMS = {
    "one chip": program_for(8, 8, 8, chips=1),
    "tree": program_for(8, 12, 64, chips=8),
    "star": program_for(8, 8, 32, chips=4, reduce="star"),
    "semaphores": program_for(8, 8, 32, chips=4, target="semaphore-mesh"),
    "tiles of 1": program_for(3, 2, 4, chips=2, tile=1),
    "tiles of 3": program_for(6, 4, 12, chips=2, tile=3),
    "tiles of 8": program_for(8, 24, 16, chips=2, tile=8),
    "narrow sums": finished(MatmulSpec(4, 4, 8, sum_bits=20), chips=2),
}
COUNTERS = ("matmul_active_count", "partial_link_busy_count", "matmul_active_last")
MAPS = {
    f"{name}, chip {chip}": register_map(program, chip, COUNTERS)
    for name, program in PROGRAMS.items()
    for chip in range(program.chip_count)
}
each_map = pytest.mark.parametrize("registers", MAPS.values(), ids=MAPS)


def span(window: Window) -> range:
    return range(window.offset, window.offset + window.span_bytes)


@each_map
def test_registers_stand_one_behind_the_other_from_zero(registers):
    offsets = [register.offset for register in registers.registers]
    assert offsets == [4 * index for index in range(len(offsets))]


@each_map
def test_nothing_overlaps(registers):
    taken = [register.offset for register in registers.registers]
    taken += [offset for window in registers.windows for offset in span(window)]
    assert len(taken) == len(set(taken))


@each_map
def test_a_window_begins_at_a_multiple_of_the_power_of_two_that_covers_it(registers):
    for window in registers.windows:
        covering = 1 << (window.span_bytes - 1).bit_length()
        assert window.offset % covering == 0
        assert window.beat_bytes.bit_count() == 1
        assert window.beat_bytes >= max(4, window.lanes * window.element_bits // 8)


@each_map
def test_the_address_is_just_wide_enough(registers):
    last = max(span(window)[-1] for window in registers.windows)
    assert 1 << registers.address_bits - 1 <= last < 1 << registers.address_bits


@each_map
def test_everything_has_a_name_of_its_own_and_a_meaning(registers):
    names = [register.name for register in registers.registers]
    assert len(names) == len(set(names))
    assert all(register.meaning for register in registers.registers)
    assert all(window.layout for window in registers.windows)


@each_map
def test_a_register_is_constant_or_says_what_it_shows_or_is_written(registers):
    for register in registers.registers:
        shown = (register.value is not None) + bool(register.source)
        assert shown == (register.access is not Access.WRITE)


@pytest.mark.parametrize("name", PROGRAMS)
def test_constants_are_those_of_the_program(name):
    program = PROGRAMS[name]
    claim = program.claim
    registers = MAPS[f"{name}, chip 0"]
    expected = {
        "identity": int.from_bytes(b"SHRD", "big"),
        "version": 1,
        "chips": program.chip_count,
        "tile": program.tile,
        "m": claim.m,
        "n": claim.n,
        "k": claim.k + claim.k_pad,
    }
    assert {r: registers.register(r).value for r in expected} == expected
    whole_tiles = registers.register("k_slice").value
    share = -(-expected["k"] // program.chip_count)
    assert share <= whole_tiles < share + program.tile
    assert whole_tiles % program.tile == 0


def test_each_chip_shows_the_blocks_of_its_own_slice():
    """Five blocks over four chips are 2, 1, 1, 1."""
    plan = ShardPlan(4, "star", uneven=True)
    program = program_for(8, 8, 20, plan=plan)
    slices = [register_map(program, chip, ()).register("k_slice").value for chip in range(4)]
    assert slices == [8, 4, 4, 4]


def test_a_chip_that_does_not_multiply_has_no_slice():
    maps = [register_map(relay(), chip, ()) for chip in range(3)]
    assert [registers.register("k_slice").value for registers in maps] == [0, 0, 8]
    assert [registers.register("m").value for registers in maps] == [8, 8, 8]
    assert [len(registers.windows) for registers in maps] == [1, 0, 2]


def test_every_chip_shows_the_shape_of_the_whole_product():
    plan = ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "n": "col"})
    program = program_for(16, 8, 12, plan=plan)
    for chip in range(4):
        registers = register_map(program, chip, ())
        shown = {name: registers.register(name).value for name in ("chips", "m", "n", "k")}
        assert shown == {"chips": 4, "m": 16, "n": 8, "k": 12}
        assert registers.register("k_slice").value == 12
        assert [w.beats for w in registers.windows] == [2 * 3 * 4, 3 * 1 * 4, 2 * 1 * 4]


def test_counters_become_registers_behind_the_others_in_their_order():
    last = MAPS["tree, chip 1"].registers[-3:]
    assert tuple(register.name for register in last) == COUNTERS
    assert tuple(register.source for register in last) == COUNTERS
    assert {register.access for register in last} == {Access.READ}


def test_every_counter_of_a_chip_has_a_register():
    for program in PROGRAMS.values():
        for coordinate in range(program.chip_count):
            chip = Chip(program, coordinate, host=True)
            Fragment.get(chip, None)
            names = {register.name for register in chip.register_map.registers}
            assert {f"{event}_count" for event in chip.activity.events} <= names


def test_a_counter_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match=r"Counter must be one of .*, not 'matmul_mood'"):
        register_map(PROGRAMS["tree"], 1, ("matmul_mood",))


def test_windows_are_those_of_the_tensors_of_the_chip():
    registers = MAPS["tree, chip 0"]
    assert [(w.tensor, w.access) for w in registers.windows] == [
        ("a", Access.READ_WRITE),
        ("b", Access.READ_WRITE),
        ("c", Access.READ),
    ]
    a, b, c = registers.windows
    assert (a.beats, b.beats, c.beats) == (2 * 2 * 4, 2 * 3 * 4, 2 * 3 * 4)
    assert (a.element_bits, b.element_bits, c.element_bits) == (8, 8, 32)
    assert (a.layout, b.layout, c.layout) == (
        "2 x 2 tiles, row-major; a beat is a column of a tile",
        "2 x 3 tiles, row-major; a beat is a row of a tile",
        "2 x 3 tiles, row-major; a beat is a row of a tile",
    )
    assert [window.tensor for window in MAPS["tree, chip 1"].windows] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "operand", "result"),
    [
        ("tiles of 1", (1, 4), (1, 4)),
        ("tiles of 3", (3, 4), (3, 16)),
        ("tiles of 8", (8, 8), (8, 32)),
        ("narrow sums", (4, 4), (4, 16)),
    ],
)
def test_beats_take_a_power_of_two_of_bytes(name, operand, result):
    a, _, c = MAPS[f"{name}, chip 0"].windows
    assert (a.lanes, a.beat_bytes) == operand
    assert (c.lanes, c.beat_bytes) == result


def test_registers_and_windows_are_found_by_name():
    register = Register("one", 0, Access.READ, "", value=1)
    window = Window("x", 64, Access.READ_WRITE, 4, 4, 8, 4, "")
    registers = RegisterMap((register,), (window,))
    assert registers.register("one") is register
    assert registers.window("x") is window
    assert registers.address_bits == 7


@pytest.mark.parametrize("value", [-1, 2**32])
def test_a_register_cannot_show_more_than_its_bits(value):
    with pytest.raises(ValueError, match="Register") as error:
        Register("m", 0, Access.READ, "rows", value=value)
    assert str(error.value) == f"Register 'm' must show 32 bits, not {value}"
