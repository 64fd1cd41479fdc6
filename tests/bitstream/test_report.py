"""What a build looks like, from figures that a reader can check."""

import json
from dataclasses import replace

import pytest
from rich.console import Console

from bitstream.chip_build import ChipBuild, RoutedSeed
from bitstream.link_timing import LinkTiming
from bitstream.report import pictures, record, summary
from bitstream.stages import Attempt
from bitstream.timing import ClockTiming, Crossing, Fill, Path
from bitstream.usage import Usage
from constraints.description import load_board
from tests.bitstream.tools import small_program

BOARD = load_board("ulx3s-85f")
PROGRAM = small_program(BOARD)
PATH = Path("c1.load_a.walking", "c1.matmul.sums_0", 3.25, 5.5, ("c1.load_a", "c1.matmul"))


def routed(seed: int, mhz: float, link_mhz: float = 100.0) -> RoutedSeed:
    clocks = (
        ClockTiming("sync", mhz * 1e6, 80e6, PATH),
        ClockTiming("in0", link_mhz * 1e6, 40e6),
    )
    crossing = Crossing("in0", "sync", Path("c1.in0.data", "c1.recv_0.word", 0.5, 2.5, ("c1",)))
    attempt = Attempt(seed, "router1")
    return RoutedSeed(attempt, clocks, (Fill("TRELLIS_COMB", 1234, 83640),), (crossing,))


BUILD = ChipBuild(
    PROGRAM,
    BOARD,
    1,
    total=Usage(luts=1200, flip_flops=900, multipliers=4),
    components={
        "c1.matmul": Usage(luts=1000, flip_flops=900, multipliers=4),
        "c1.load_a": Usage(luts=200),
        "pins": Usage(),
    },
    seeds=(routed(1, 82.0), routed(2, 95.0), routed(3, 85.0)),
    bitstream="top.bit",
)
MISSED = replace(BUILD, seeds=(routed(1, 70.0), routed(2, 79.5)), bitstream="")


def printed(build: ChipBuild) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(pictures(build))
    return capture.get()


def test_the_fastest_seed_is_the_best_and_the_slowest_clock_decides():
    assert BUILD.best == routed(2, 95.0)
    held_back = replace(BUILD, seeds=(routed(1, 95.0, 41.0), routed(2, 85.0)))
    assert held_back.best is not None
    assert held_back.best.seed == 2


def test_time_and_rate_follow_from_cycles_and_clock():
    assert PROGRAM.schedule is not None
    assert BUILD.cycles == PROGRAM.schedule.cycles
    assert BUILD.seconds == pytest.approx(BUILD.cycles / 80e6)
    assert BUILD.multiply_accumulates == 4 * 4 * 16 // 2
    assert BUILD.rate == pytest.approx(128 / BUILD.seconds)
    assert BUILD.peak_rate == 4 * 80e6


def test_a_record_is_plain_data():
    told = json.loads(json.dumps(record(BUILD)))
    assert (told["chip"], told["board"], told["tile"], told["seed"]) == (1, "ulx3s-85f", 2, 2)
    assert told["cells"]["luts"] == 1200
    assert told["components"]["c1.load_a"]["luts"] == 200
    assert told["device"] == [{"kind": "TRELLIS_COMB", "used": 1234, "available": 83640}]
    sync, link = told["clocks"]
    assert (sync["name"], sync["achieved_hz"], sync["wanted_hz"], sync["met"]) == (
        *("sync", 95e6, 80e6, True),
    )
    assert sync["path"]["through"] == ["c1.load_a", "c1.matmul"]
    assert (link["name"], link["path"]) == ("in0", None)
    assert [entry["clocks"]["sync"] for entry in told["seeds"]] == [82e6, 95e6, 85e6]
    assert told["crossings"][0]["path"]["destination"] == "c1.recv_0.word"
    assert told["timing_met"] is True


def test_a_summary_is_one_line():
    assert summary(BUILD).startswith(
        "chip 1 on ulx3s-85f: 1,200 LUT4, 900 flip-flops, 4 multipliers, "
        "sync 95.00 of 80.00 MHz, in0 100.00 of 40.00 MHz, "
    )
    assert summary(BUILD).endswith(", chip_1/top.bit")
    assert "\n" not in summary(BUILD)
    assert "as chip 0" in summary(replace(BUILD, same_as=0))


def test_tables_leave_out_what_is_not_used():
    text = printed(BUILD)
    assert "c1.matmul" in text
    assert "block RAM" not in text
    assert "pins" not in text


def test_tables_tell_the_slowest_path_and_the_spread_of_the_seeds():
    text = printed(BUILD)
    assert "c1.load_a.walking to c1.matmul.sums_0: 3.2 ns of logic, 5.5 ns of routing" in text
    assert "82.00, 85.00, 95.00 MHz" in text
    assert "in0 to sync" in text
    assert "c1.in0.data to c1.recv_0.word: 0.5 ns of logic, 2.5 ns of routing" in text
    assert "reached, seed 2" in text


def test_timing_that_is_missed_is_said_plainly():
    assert "sync 79.50 of 80.00 MHz MISSED" in summary(MISSED)
    assert "MAC/s" not in summary(MISSED)
    assert "MISSED: it will not work at this clock" in printed(MISSED)
    assert record(MISSED)["timing_met"] is False


@pytest.mark.parametrize("stage", ["synthesis", "prepared"])
def test_a_build_that_went_less_far_tells_less(stage):
    build = replace(BUILD, seeds=(), bitstream="")
    if stage == "prepared":
        build = replace(build, total=None, components={})
        assert "no bitstream made" in summary(build)
        assert "no bitstream is made" in printed(build)
    else:
        assert "c1.matmul" in printed(build)
    assert record(build)["timing_met"] is None
    assert record(build)["clocks"] == []


SLOW_LINK = LinkTiming("out0", "out", 7.5, 6.25)
IN_CELL = LinkTiming("in0", "in", 0.0, 6.25)


def test_a_link_that_does_not_keep_its_window_is_missed_timing():
    slow = replace(routed(1, 95.0), links=(SLOW_LINK, IN_CELL))
    build = replace(BUILD, seeds=(slow,), bitstream="")
    assert not build.met
    assert slow.margin == pytest.approx(6.25 / 7.5)
    assert "link out0 MISSED" in summary(build)
    told = record(build)
    assert told["timing_met"] is False
    assert [(link["port"], link["way_ns"], link["met"]) for link in told["links"]] == [
        ("out0", 7.5, False),
        ("in0", 0.0, True),
    ]
    rows = [" ".join(line.split()) for line in printed(build).splitlines()]
    assert "│ out0 │ 7.5 ns │ 6.2 ns │ MISSED │" in rows
    assert "│ in0 │ nothing: it is in the cell of the pin │ 6.2 ns │ met │" in rows


def test_a_seed_whose_links_keep_their_window_is_better_than_a_faster_one():
    slow = replace(routed(1, 95.0), links=(SLOW_LINK,))
    assert replace(BUILD, seeds=(slow, routed(2, 81.0))).best == routed(2, 81.0)
