"""Which component a cell counts for, and what it counts as."""

import pytest

from bitstream.usage import Names, Usage, usage, usage_by_component
from tests.bitstream.netlists import CHIP, cell, netlist


def test_cells_count_for_the_component_that_they_come_from():
    assert usage_by_component(CHIP, Names(CHIP, 2)) == {
        "c2.matmul": Usage(luts=2, carries=1, flip_flops=1, multipliers=1),
        "c2.host_port": Usage(luts=1, flip_flops=1),
        "clock": Usage(luts=1),
        "board": Usage(flip_flops=1),
        "bridge": Usage(flip_flops=1),
        "c2.load_a": Usage(lut_memories=1),
    }


def test_no_cell_is_lost_or_counted_twice():
    parts = usage_by_component(CHIP, Names(CHIP, 0)).values()
    whole = usage(entry["type"] for entry in CHIP["cells"].values())
    assert sum(part.luts for part in parts) == whole.luts == 4
    assert sum(part.flip_flops for part in parts) == whole.flip_flops == 4


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("SB_LUT4", "luts"),
        ("SB_CARRY", "carries"),
        ("SB_DFFESR", "flip_flops"),
        ("SB_DFF", "flip_flops"),
        ("SB_MAC16", "multipliers"),
        ("SB_RAM40_4KNR", "block_memories"),
        ("SB_SPRAM256KA", "large_memories"),
        ("DP16KD", "block_memories"),
    ],
)
def test_what_a_cell_counts_as(kind, column):
    assert usage([kind, kind]) == Usage(**{column: 2})


@pytest.mark.parametrize("kind", ["TRELLIS_IO", "PFUMX", "L6MUX21", "EHXPLLL", "$scopeinfo"])
def test_what_does_not_count(kind):
    assert usage([kind]) == Usage()


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        (
            "board.chip.load_b.walk.loop_2_TRELLIS_FF_Q_CE_PFUMX_Z_BLUT_LUT4_Z",
            "c1.load_b.walk.loop_2",
        ),
        ("board.chip.bus__awaddr_SB_DFFSR_Q_1_DFFLC", "c1.bus__awaddr"),
        ("board.bridge.state_SB_LUT4_I1_LC", "bridge.state"),
        ("board.chip.host_port.fsm_state[1]", "c1.host_port.fsm_state"),
        ("clock.elapsed", "clock.elapsed"),
    ],
)
def test_a_cell_is_told_by_its_signal(name, signal):
    assert Names(CHIP, 1).signal(name) == signal


def test_what_the_tools_put_in_is_of_no_component():
    assert Names(CHIP, 1).component("$PACKER_VCC") == "design"
    top = netlist({"on_SB_DFF_Q": cell("SB_DFF", origin="", output=1)}, {})
    assert Names(top, 1).component("on_SB_DFF_Q") == "design"
    assert Names(CHIP, 1).component("pin_uart_tx.buf0") == "pins"
