"""A behavioural model of the ECP5's multiplier block, in the modes that the hardware uses.

The synthesis tools ship the block without a model. This one is written from Lattice FPGA-TN-02205,
"ECP5 and ECP5-5G sysDSP Usage Guide": operands and their signs pass the input registers together,
the product passes the output register, and every register has a clock enable and a synchronous
reset. An instance that asks for anything else does not elaborate.
"""

OPERAND_BITS = 18
PRODUCT_BITS = 36
FIXED = {
    "REG_INPUTA_CLK": "CLK0",
    "REG_INPUTB_CLK": "CLK0",
    "REG_OUTPUT_CLK": "CLK0",
    "REG_INPUTA_CE": "CE0",
    "REG_INPUTB_CE": "CE0",
    "REG_OUTPUT_CE": "CE0",
    "REG_INPUTA_RST": "RST0",
    "REG_INPUTB_RST": "RST0",
    "REG_OUTPUT_RST": "RST0",
    "REG_PIPELINE_CLK": "NONE",
    "SOURCEB_MODE": "B_SHIFT",
    "MULT_BYPASS": "DISABLED",
    "RESETMODE": "SYNC",
}
DEFAULTS = FIXED | {
    "REG_INPUTA_CLK": "NONE",
    "REG_INPUTB_CLK": "NONE",
    "REG_OUTPUT_CLK": "NONE",
}
BODY = """
  wire signed [17:0] a_in = {a};
  wire signed [17:0] b_in = {b};
  reg [17:0] a = 0, b = 0;
  reg a_signed = 0, b_signed = 0;
  reg [35:0] product = 0;
  wire signed [18:0] a_number = {{a_signed & a[17], a}};
  wire signed [18:0] b_number = {{b_signed & b[17], b}};
  wire signed [37:0] multiplied = a_number * b_number;
  always @(posedge CLK0)
    if (RST0) begin
      a <= 0; b <= 0; a_signed <= 0; b_signed <= 0; product <= 0;
    end else if (CE0) begin
      a <= a_in; b <= b_in; a_signed <= SIGNEDA; b_signed <= SIGNEDB;
      product <= multiplied[35:0];
    end
  assign {p} = product;
"""


def verilog() -> str:
    """The model as Verilog."""
    operands = [f"{name}{bit}" for name in "ABC" for bit in range(OPERAND_BITS)]
    controls = [f"{name}{index}" for name in ("CLK", "CE", "RST") for index in range(4)]
    inputs = [*operands, *controls, "SIGNEDA", "SIGNEDB", "SOURCEA", "SOURCEB"]
    outputs = [f"P{bit}" for bit in range(PRODUCT_BITS)]
    ports = [f"input {name}" for name in inputs] + [f"output {name}" for name in outputs]
    parameters = [f'  parameter {name} = "{value}";' for name, value in DEFAULTS.items()]
    checks = [
        f'  generate if ({name} != "{value}") unsupported {name}_unsupported(); endgenerate'
        for name, value in FIXED.items()
    ]
    body = BODY.format(
        a=_bus("A", OPERAND_BITS), b=_bus("B", OPERAND_BITS), p=_bus("P", PRODUCT_BITS)
    )
    return "\n".join(
        [f"module MULT18X18D({', '.join(ports)});", *parameters, *checks, body, "endmodule\n"]
    )


def _bus(name: str, width: int) -> str:
    return "{" + ", ".join(f"{name}{bit}" for bit in reversed(range(width))) + "}"
