"""The driver against boards in Python, which do what no board should."""

from contextlib import ExitStack

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from host import drive as module
from host.drive import drive
from host.errors import (
    AccessCountFullError,
    AccessRefusedError,
    BoardMismatchError,
    ChipFaultError,
    ChipHungError,
    LinksDownError,
    PortCountError,
    PortSilentError,
    ProgramMismatchError,
)
from hw.chip_registers import chip_register_map
from hw.program_digest import program_digest
from tests.host import fake_board
from tests.host.fake_board import DONE, FAULT, IDLE, RUNNING, FakeBoard, board, words_of
from tests.programs import finished, program_for

PAIR = program_for(4, 4, 8, chips=2, tile=2)
OTHER = program_for(4, 4, 8, chips=2, tile=2, link_width_bits=32)
A, B = np.zeros((4, 8), int), np.zeros((8, 4), int)
REBUILD = "build the board's bitstream from this program"


def address(name: str, chip: int = 0) -> int:
    return chip_register_map(PAIR, chip).register(name).offset


@pytest.fixture(autouse=True)
def boards_forget_soon(monkeypatch):
    """A command that is not carried on: real boards, and lines, are waited for longer."""
    monkeypatch.setattr(fake_board, "DROPS_AFTER_SECONDS", 0.01)
    monkeypatch.setattr("host.uart_bone.UartBoneClient.quiet_seconds", 0.03)


class Pair:
    """Two boards; a change of the words of one of them, or of how it behaves."""

    def __init__(self, chip: int = 0, changes: dict[int, int] | None = None, **options):
        words = [words_of(PAIR, index, link_count=1) for index in (0, 1)]
        words[chip] |= changes or {}
        self.log: list[tuple[int, int, int]] = []
        self.boards = []
        for index in (0, 1):
            more = options if index == chip else {}
            self.boards.append(
                FakeBoard(words[index], **({"on_write": self._logged(index)} | more))
            )

    def _logged(self, chip: int):
        return lambda address, word: self.log.append((chip, address, word))

    def drive(self, a=A, b=B, **options):
        with ExitStack() as stack:
            self.ports = tuple(stack.enter_context(each).port for each in self.boards)
            return drive(PAIR, a, b, ports=self.ports, **({"timeout_seconds": 0.1} | options))


def refused(pair: Pair, error: type, **options) -> str:
    """The text of the error that a drive ends in."""
    with pytest.raises(error) as caught:
        pair.drive(**options)
    return str(caught.value)


def test_boards_that_do_as_they_should_are_held_released_loaded_and_started_at_the_home():
    pair = Pair()
    run = pair.drive()
    assert run.result.exact
    assert (run.homes, run.started) == ((0,), (0,))
    assert (run.chip_cycles, run.clock_hz) == ((1, 1), (1_000_000, 1_000_000))
    hold, start = board("hold"), board("start")
    orders = [entry for entry in pair.log if entry[1] in (hold, start)]
    assert orders == [
        (0, hold, 1),
        (1, hold, 1),
        (0, hold, 0),
        (1, hold, 0),
        (0, start, 1),
    ]
    windows = [entry for entry in pair.log if entry not in orders]
    assert all(pair.log.index(orders[3]) < pair.log.index(each) for each in windows)
    assert all(pair.log.index(orders[4]) > pair.log.index(each) for each in windows)


def boards_of(program: Program, log: list[int]) -> list[FakeBoard]:
    """Boards that are done with a product of zeros; ``log`` takes the chips that are started."""

    def logged(chip: int):
        return lambda address, word: log.append(chip) if address == board("start") else None

    return [
        FakeBoard(
            words_of(program, view.chip, link_count=len(view.outgoing) + len(view.incoming)),
            on_write=logged(view.chip),
        )
        for view in program.chips
    ]


def driven(program: Program, boards: list[FakeBoard], **options):
    with ExitStack() as stack:
        ports = [stack.enter_context(each).port for each in boards]
        zeros = [
            np.zeros((value.rows, value.cols), int)
            for value in program.graph.values
            if value.name in program.graph.inputs
        ]
        return drive(program, *zeros, ports=ports, timeout_seconds=0.1, **options)


GRID = Mesh(row=2, col=2)


@pytest.mark.parametrize(
    ("plan", "started", "homes"),
    [
        (ShardPlan(4), (0,), (0,)),
        (ShardPlan(4, result="all"), (0,), (0, 1, 2, 3)),
        (ShardPlan(4, shard={"m": "tp"}), (0, 1, 2, 3), (0, 1, 2, 3)),
        (ShardPlan(GRID, shard={"m": "row", "k": "col"}), (0, 2), (0, 2)),
        (ShardPlan(GRID, shard={"k": "row", "n": "col"}), (0, 1), (0, 1)),
        (ShardPlan(GRID, shard={"k": "row", "n": "col"}, result="all"), (0, 1), (0, 1, 2, 3)),
    ],
    ids=[
        "tree",
        "tree to all",
        "rows",
        "rows and contraction",
        "contraction and columns",
        "contraction and columns to all",
    ],
)
def test_chips_that_no_other_starts_are_started_and_all_with_results_are_read(plan, started, homes):
    program = finished(MatmulSpec(8, 8, 16), plan=plan, tile=2)
    log: list[int] = []
    run = driven(program, boards_of(program, log))
    assert tuple(log) == run.started == started
    assert run.homes == homes
    assert run.result.exact
    assert run.result.c.shape == (8, 8)


@pytest.mark.parametrize("chip", range(4))
def test_a_copy_that_differs_on_one_board_is_not_exact(chip):
    program = finished(MatmulSpec(4, 4, 8), plan=ShardPlan(4, result="all"), tile=2)
    boards = boards_of(program, [])
    window = chip_register_map(program, chip).window("c")
    boards[chip].words[window.offset + 4] = 3
    run = driven(program, boards)
    assert [(each.chip, each.row, each.col, each.got) for each in run.result.differences(9)] == [
        (chip, 0, 1, 3)
    ]


def test_the_cycles_are_the_most_of_the_boards_with_results():
    program = finished(MatmulSpec(4, 4, 8), plan=ShardPlan(2, shard={"n": "tp"}), tile=2)
    boards = boards_of(program, [])
    for each, cycles in zip(boards, (70, 90), strict=True):
        each.words[chip_register_map(program, 1).register("cycles").offset] = cycles
    run = driven(program, boards)
    assert (run.result.cycles, run.chip_cycles) == (90, (70, 90))


def test_a_board_that_another_host_left_held_is_released_first():
    pair = Pair(1, {board("hold"): 1})
    assert pair.drive().result.exact
    assert (pair.log[0], pair.log[1]) == ((1, board("hold"), 0), (0, board("hold"), 1))


def test_operands_are_where_the_register_map_says():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (4, 8)), rng.integers(-128, 128, (8, 4))
    pair = Pair()
    assert not pair.drive(a, b).result.exact  # whose product is zero
    for chip in (0, 1):
        registers = chip_register_map(PAIR, chip)
        for tensor, piece in (
            ("a", a[:, 4 * chip : 4 * chip + 4].reshape(2, 2, 2, 2).transpose(0, 2, 3, 1)),
            ("b", b[4 * chip : 4 * chip + 4].reshape(2, 2, 2, 2).transpose(0, 2, 1, 3)),
        ):
            window = registers.window(tensor)
            for index, beat in enumerate(piece.reshape(-1, 2)):
                word = pair.boards[chip].words[window.offset + 4 * index]
                assert word == (int(beat[0]) & 0xFF) | (int(beat[1]) & 0xFF) << 8


@pytest.mark.parametrize(("count", "said"), [(1, "1 serial port is"), (3, "3 serial ports are")])
def test_as_many_ports_as_chips_are_wanted(count, said):
    with pytest.raises(PortCountError) as caught:
        drive(PAIR, A, B, ports=["/dev/absent"] * count)
    assert str(caught.value) == (
        f"the program has 2 chips, but {said} given; give one --port for each chip, in the order "
        "of the chips"
    )


def test_a_board_that_waits_for_the_rest_of_another_command_is_asked_twice():
    assert Pair(1, deaf_bytes=6).drive().result.exact


def test_a_port_without_a_board_is_named():
    pair = Pair(1, answer_limit=0)
    text = refused(pair, PortSilentError)
    assert f"the board at {pair.ports[1]!r} does not answer: 0 of 4 bytes came" in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {board("identity"): 0x1234},
            "board identity 0x00001234, not 0x424f5244; check that the port leads to a board of "
            "this project, and the baud rate",
        ),
        ({board("version"): 3}, f"board version 3, not 2; {REBUILD}"),
        ({board("link_count"): 2}, f"link_count 2, not 1; {REBUILD}"),
        ({address("identity"): 0}, f"identity 0x00000000, not 0x53485244; {REBUILD}"),
        ({address("version"): 2}, f"version 2, not 1; {REBUILD}"),
        ({address("chips"): 1}, f"chips 1, not 2; {REBUILD}"),
        ({address("tile"): 8}, f"tile 8, not 2; {REBUILD}"),
        ({address("m"): 8}, f"m 8, not 4; {REBUILD}"),
        ({address("n"): 8}, f"n 8, not 4; {REBUILD}"),
        ({address("k"): 16}, f"k 16, not 8; {REBUILD}"),
        ({address("k_slice"): 8}, f"k_slice 8, not 4; {REBUILD}"),
        (
            {address("coordinate"): 0},
            "coordinate 0, not 1; give the ports in the order of the chips",
        ),
    ],
)
def test_a_board_of_another_program_is_named_before_anything_is_written(changes, said):
    pair = Pair(1, changes)
    text = refused(pair, BoardMismatchError)
    assert text == f"the board at {pair.ports[1]!r} has {said}"
    assert pair.log == []


def test_a_board_of_the_first_version_is_named():
    """It refuses what tells the version."""
    pair = Pair(1)
    for name in ("version", "checksum", "digest_high", "digest_low"):
        del pair.boards[1].words[board(name)]
    assert refused(pair, BoardMismatchError) == (
        f"the board at {pair.ports[1]!r} has board version 0xffffffff, not 0x00000002; {REBUILD}"
    )


def test_a_board_of_another_program_of_the_same_shape_is_named_with_both_digests():
    """Narrower links: each register of the chip is the same."""
    other = words_of(OTHER, 1, link_count=1)
    pair = Pair(1, other)
    wanted, digest = program_digest(PAIR), program_digest(OTHER)
    assert other.keys() == words_of(PAIR, 1, link_count=1).keys()
    assert refused(pair, ProgramMismatchError) == (
        f"the board at {pair.ports[1]!r} has a chip of the program with digest {digest:016x}, not "
        f"{wanted:016x}; give --program the file that its bitstream was built from, or build the "
        "bitstream from this program"
    )
    assert pair.log == []


def test_a_board_that_does_not_hold_is_named():
    pair = Pair(1)
    pair.boards[1].on_write = lambda *_: pair.boards[1].words.update({board("hold"): 0})
    assert refused(pair, BoardMismatchError) == (
        f"the board at {pair.ports[1]!r} has hold 0, not 1; use no other host meanwhile"
    )


def test_a_link_that_stays_down_is_named():
    pair = Pair(1, {board("links_up"): 0})
    assert refused(pair, LinksDownError) == (
        f"chip 1 at {pair.ports[1]!r}: link port 0 did not come up within 0.1 s; check the cables "
        "between the boards and their power"
    )


def test_several_links_that_stay_down_are_named():
    error = LinksDownError(port="x", chip=0, down=(0, 2), seconds=2.0)
    assert str(error).startswith("chip 0 at 'x': link ports 0, 2 did not come up within 2 s;")


def test_refused_writes_of_operands_are_named():
    pair = Pair(1)
    window = chip_register_map(PAIR, 1).window("b").offset
    del pair.boards[1].words[window]
    assert refused(pair, AccessRefusedError) == (
        f"chip 1 at {pair.ports[1]!r} refused 1 access while its operands were loaded; build its "
        "bitstream from this program, and use no other host meanwhile"
    )


def test_a_board_that_counts_no_more_refusals_is_named():
    """Its count stands at its end, where a word that it refuses changes nothing."""
    pair = Pair(1, {board("bus_errors"): 65535})
    assert refused(pair, AccessCountFullError) == (
        f"chip 1 at {pair.ports[1]!r} has refused 65535 accesses, which is as far as it counts, so "
        "whether it refused any while its operands were loaded cannot be told; load its bitstream "
        "anew, built from this program, and use no other host meanwhile"
    )


def test_refused_reads_of_the_product_are_named():
    pair = Pair(0)
    window = chip_register_map(PAIR, 0).window("c").offset
    del pair.boards[0].words[window], pair.boards[0].words[window + 4]
    assert refused(pair, AccessRefusedError) == (
        f"chip 0 at {pair.ports[0]!r} refused 2 accesses while it ran and its results were read; "
        "build its bitstream from this program, and use no other host meanwhile"
    )


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (IDLE, "idle"),
        (RUNNING, "running"),
        (RUNNING | DONE, "running and done"),
        (0, "in no known state"),
    ],
)
def test_a_chip_that_is_not_done_is_named_with_its_state(status, state):
    pair = Pair(1, {address("status", 1): status, address("cycles", 1): 4321})
    text = refused(pair, ChipHungError)
    begin, end = text.split(" s and ")
    assert begin.startswith(f"chip 1 at {pair.ports[1]!r} is {state}, not done, after 0.1")
    assert end == "4321 of its cycles; check the links, or allow more time"


@pytest.mark.parametrize(
    ("status", "state"),
    [(RUNNING | FAULT, "running and fault"), (IDLE | DONE | FAULT, "idle and done and fault")],
)
def test_a_fault_is_named(status, state):
    pair = Pair(1, {address("status", 1): status})
    assert refused(pair, ChipFaultError) == (
        f"chip 1 at {pair.ports[1]!r} is {state}: a beat came without room for it; build all "
        "bitstreams from this program, and run again"
    )


def test_a_run_may_take_twice_what_is_predicted_and_the_timeout(monkeypatch):
    limits = []
    monkeypatch.setattr(module, "_wait", lambda boards, seconds: limits.append(seconds))
    pair = Pair(1, {board("clock_hz"): 100})
    pair.drive()
    assert limits == [0.1 + 2 * PAIR.schedule.cycles / 100]
