import io
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from rich.console import Console

from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from report.run import ASCII_LEVELS, LEVELS, pictures, record, summary
from sim.amaranth_engine import TIMELINE_SPANS
from sim.result import ChipActivity
from sim.simulate import simulate
from tests.programs import finished, program_for, random_operands


@cache
def result_for(*shape: int, **options):
    program = program_for(*shape, **options)
    return simulate(program, *random_operands(program, 0))


def wrong(result, *places: tuple[int, int]):
    """The same run, had the hardware added one at these places."""
    product = result.c.copy()
    for place in places:
        product[place] += 1
    return replace(result, stored={"c": product})


def drawn(result, width: int = 100) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(pictures(result))
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("chips", [1, 2, 12])
def test_picture_tells_shape_chips_cycles_and_verdict(chips):
    result = result_for(8, 4, 96, chips=chips)
    text = "\n".join(drawn(result))
    for part in (
        "8 x 4 x 96",
        f"{chips}, tree reduction" if chips > 1 else " 1 ",
        "4, token-mesh",
        f"{result.cycles:,}",
        f"{8 * 4 * 96 // (16 * chips):,}",
        f"{100 * result.ideal_cycles / result.cycles:.1f}%",
        f"{result.exposed_reduction_cycles} cycles",
        "exact",
    ):
        assert part in text
    assert "NOT" not in text


def test_picture_groups_thousands_and_tells_padding():
    result = result_for(8, 8, 17, k_pad=7, chips=3)
    assert any("8 x 8 x 17 (k padded to 24)" in line for line in drawn(result))
    slow = replace(result, cycles=1_234_567)
    assert any("1,234,567" in line for line in drawn(slow))


@pytest.mark.parametrize("chips", [1, 2, 12])
def test_one_bar_for_each_chip_with_a_character_for_each_span(chips):
    result = result_for(8, 4, 96, chips=chips)
    bars = [line for line in drawn(result) if line.startswith("chip ")]
    span = -(-result.cycles // TIMELINE_SPANS)
    spans = -(-result.cycles // span)
    width = len(str(chips - 1))
    for chip, bar in enumerate(bars):
        prefix = f"chip {chip:>{width}} "
        assert bar.startswith(prefix)
        body, _, share = bar.removeprefix(prefix).rpartition(" ")
        assert len(body) == spans
        assert set(body) <= set(LEVELS)
        assert share == f"{result.chips[chip].active_cycles / result.cycles:.0%}"
    assert len(bars) == chips


def test_bars_rise_with_activity():
    timeline = (0.0, 0.06, 0.07, 0.5, 0.93, 0.94, 1.0)
    result = replace(result_for(4, 4, 4), chips=(ChipActivity(0, 8, 9, timeline),))
    (bar,) = (line for line in drawn(result) if line.startswith("chip "))
    assert bar.startswith("chip 0 " + "".join(LEVELS[level] for level in (0, 0, 1, 4, 7, 8, 8)))


def test_bars_are_of_other_characters_where_blocks_cannot_be_shown():
    timeline = (0.0, 0.06, 0.07, 0.5, 0.93, 0.94, 1.0)
    result = replace(result_for(4, 4, 4), chips=(ChipActivity(0, 8, 9, timeline),))
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding="latin-1"), width=100)
    console.print(pictures(result))
    (bar,) = (line for line in raw.getvalue().splitlines() if line.startswith(b"chip "))
    assert len(ASCII_LEVELS) == len(LEVELS)
    assert bar.startswith(
        f"chip 0 {''.join(ASCII_LEVELS[i] for i in (0, 0, 1, 4, 7, 8, 8))}".encode()
    )


def test_verdict_on_a_wrong_product_shows_the_first_elements_that_differ():
    right = result_for(8, 4, 96)
    result = wrong(right, (7, 3), (0, 2), (5, 1))
    want = [int(right.reference[place]) for place in ((0, 2), (5, 1), (7, 3))]
    verdict = (
        f"NOT EXACT: c[0,2] is {want[0] + 1}, not {want[0]}; "
        f"c[5,1] is {want[1] + 1}, not {want[1]}; c[7,3] is {want[2] + 1}, not {want[2]}"
    )
    assert summary(result).endswith(verdict)
    assert any(verdict in line for line in drawn(result, width=200))


def test_verdict_shows_five_elements_and_no_more():
    result = wrong(result_for(8, 4, 96), *((row, 0) for row in range(8)))
    assert summary(result).count("c[") == 5
    assert len(record(result)["differences"]) == 5


@pytest.mark.parametrize(
    ("shape", "options", "share", "said"),
    [
        ((8, 4, 96), {"chips": 2}, 1, None),
        ((1, 4, 16), {}, 1 / 4, "25.0% of multiplications count"),
        ((4, 5, 16), {}, 5 / 8, "62.5% of multiplications count"),
        ((3, 3, 15), {"tile": 2}, 9 / 16 * 15 / 16, "52.7% of multiplications count"),
        ((4, 4, 17), {"chips": 3, "k_pad": 7}, 17 / 24, "70.8% of multiplications count"),
        ((1, 1, 1023), {"tile": 1, "chips": 2, "k_pad": 1}, 1023 / 1024, "99.9% of"),
        ((1, 1, 4095), {"tile": 1, "chips": 2, "k_pad": 1}, 4095 / 4096, "99.9% of"),
    ],
)
def test_multiplications_of_padding_are_told_apart(shape, options, share, said):
    result = result_for(*shape, **options)
    assert result.useful_multiplications == pytest.approx(share, rel=1e-12)
    assert record(result)["useful_multiplications"] == result.useful_multiplications
    assert record(result)["utilization"] == result.ideal_cycles / result.cycles
    text = "\n".join(drawn(result))
    if said is None:
        assert "multiplications" not in summary(result)
        assert "all multiplications count" in text
    else:
        assert f"%, {said}" in summary(result)
        assert said in text


@pytest.mark.parametrize(("chips", "noun"), [(1, "chip"), (2, "chips")])
def test_summary_is_one_line(chips, noun):
    result = result_for(8, 4, 96, chips=chips)
    share = 100 * result.ideal_cycles / result.cycles
    assert summary(result) == (
        f"8x4x96 on {chips} {noun}: {result.cycles} cycles, utilisation {share:.1f}%, exact"
    )


def test_record_is_plain_data_with_every_figure():
    result = result_for(8, 4, 34, k_pad=14, chips=3, reduce="star", tile=2)
    data = json.loads(json.dumps(record(result)))
    links, activity = data.pop("links"), data.pop("activity")
    assert data == {
        "m": 8,
        "n": 4,
        "k": 34,
        "k_pad": 14,
        "chips": 3,
        "mesh": {"tp": 3},
        "layouts": {
            "a": {"tp": "slices of k"},
            "b": {"tp": "slices of k"},
            "c": {"tp": "at 0"},
        },
        "tile": 2,
        "target": "token-mesh",
        "reduce": "star",
        "link_width": 256,
        "link_latency": 8,
        "link_flit_cycles": 1,
        "cycles": result.cycles,
        "predicted_cycles": result.cycles,
        "ideal_cycles": 8 * 4 * 48 // (3 * 2 * 2),
        "utilization": 8 * 4 * 48 // (3 * 2 * 2) / result.cycles,
        "useful_multiplications": 34 / 48,
        "exposed_reduction_cycles": result.exposed_reduction_cycles,
        "bound": "compute",
        "exact": True,
        "outputs": [{"output": "c", "chip": 0, "row": 0, "col": 0, "rows": 8, "cols": 4}],
        "differences": [],
    }
    assert links == [
        {"name": f"c{chip}->c0", "beats": 16, "busy_cycles": 16, "stall_cycles": 0}
        for chip in (1, 2)
    ]
    assert activity == [{"chip": chip, "active_cycles": 128} for chip in range(3)]


def test_record_of_a_wrong_product_lists_what_differs():
    right = result_for(8, 4, 96)
    data = record(wrong(right, (3, 1)))
    assert data["exact"] is False
    want = int(right.reference[3, 1])
    assert data["differences"] == [
        {"output": "c", "chip": 0, "row": 3, "col": 1, "got": want + 1, "want": want}
    ]


def run_of(plan: ShardPlan):
    """The run of a product of 4 x 8 x 32 over chips."""
    program = finished(MatmulSpec(4, 8, 32), plan=plan, tile=2)
    return simulate(program, *random_operands(program, 0))


@pytest.mark.parametrize(
    ("plan", "chips", "result"),
    [
        (ShardPlan(2), "2, tree reduction", None),
        (ShardPlan(2, "star", result="all"), "2, star reduction", "whole on every chip"),
        (ShardPlan(2, shard={"n": "tp"}), "2 ", "in 2 parts on 2 chips"),
        (
            ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}),
            "4 (row=2,col=2), tree reduction",
            "in 2 parts on 2 chips",
        ),
        (
            ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}, result="all"),
            "4 (row=2,col=2), tree reduction",
            "in 2 parts on 4 chips",
        ),
        (
            ShardPlan(Mesh(row=2, col=2), shard={"k": "col"}),
            "4 (row=2,col=2), tree reduction",
            "whole on 2 chips",
        ),
    ],
)
def test_picture_tells_the_mesh_and_where_the_result_is(plan, chips, result):
    text = "\n".join(drawn(run_of(plan)))
    assert chips in text
    assert (result in text) if result else "result" not in text


def test_a_wrong_copy_is_told_with_its_chip():
    right = run_of(ShardPlan(2, result="all"))
    held = {name: array.copy() for name, array in right.stored.items()}
    held["c1.c"][3, 2] += 1
    result = replace(right, stored=held)
    want = int(right.reference[3, 2])
    assert summary(result).endswith(f"NOT EXACT: c[3,2] of chip 1 is {want + 1}, not {want}")
    assert record(result)["exact"] is False
    assert [each["chip"] for each in record(result)["outputs"]] == [0, 1]


def test_record_of_one_chip_has_no_reduction():
    data = record(result_for(4, 4, 4))
    assert data["reduce"] is None
    assert data["links"] == []
    assert data["exposed_reduction_cycles"] == 0
    assert np.isclose(data["utilization"], data["ideal_cycles"] / data["cycles"])
