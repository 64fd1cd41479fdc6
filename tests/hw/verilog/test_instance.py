from hw.verilog.convert import Port
from hw.verilog.instance import Instance, module_text

PORTS = (Port("clk", "input", 1), Port("i", "input", 8), Port("o", "output", 8))

TEXT = """\
module pair (
  input wire clk,
  input wire [7:0] x,
  output wire [7:0] y,
  output wire done
);
  wire [7:0] between;
  assign done = y == 8'd0;
  half first (
    .clk(clk),
    .i(x),
    .o(between)
  );
  half second (
    .clk(clk),
    .i(between),
    .o(y)
  );
endmodule
"""


def test_instances_are_joined_by_ports_and_wires():
    outer = [
        Port("clk", "input", 1),
        Port("x", "input", 8),
        Port("y", "output", 8),
        Port("done", "output", 1),
    ]
    instances = [
        Instance("half", "first", PORTS, {"clk": "clk", "i": "x", "o": "between"}),
        Instance("half", "second", PORTS, {"clk": "clk", "i": "between", "o": "y"}),
    ]
    assert module_text("pair", outer, instances, {"done": "y == 8'd0"}) == TEXT


def test_what_is_no_name_becomes_no_wire():
    instance = Instance("half", "only", PORTS, {"clk": "clk", "i": "8'd3", "o": "{high, low}"})
    text = module_text("top", [Port("clk", "input", 1)], [instance], {})
    assert "wire [" not in text
    assert ".i(8'd3)" in text
    assert ".o({high, low})" in text
