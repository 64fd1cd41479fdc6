import pytest

from hw.verilog.rtlil import Assign, Case, Switch, read
from hw.verilog.signals import Bits, Slice

TEXT = r"""
attribute \generator "Amaranth"
module \top
  attribute \init 4'0110
  wire width 4 \count
  wire width 1 input 0  \clk
  wire width 2 output 1  \o
  wire width 4 signed $1
  memory width 8 size 16 \words
  cell $add $2
    parameter \A_SIGNED 0
    parameter \A_WIDTH 4
    connect \A \count
    connect \B { $1 [2:1] 2'01 }
    connect \Y $1
  end
  cell $memrd_v2 $3
    parameter \MEMID "\\words"
    connect \ADDR { }
  end
  process $4
    assign $1 [3:0] 4'0000
    switch { \count [3] \clk }
      case 2'-1, 2'10
        assign $1 [1:0] \count [3:2]
      case
    end
  end
  cell \top.inner \inner
    connect \a[0] \clk [0]
  end
connect \o { \count [0] $1 [3] }
end
"""


def test_reads_what_a_module_is_made_of():
    (module,) = read(TEXT)
    assert module.name == "top"
    assert module.memories == {"words": (8, 16)}
    wires = {name: (w.width, w.direction, w.init) for name, w in module.wires.items()}
    assert wires == {
        "count": (4, "", 6),
        "clk": (1, "input", 0),
        "o": (2, "output", 0),
        "$1": (4, "", 0),
    }
    assert module.aliases == {"o": (Slice("$1", 3, 1), Slice("count", 0, 1))}
    add, read_port, inner = module.cells
    assert (add.kind, add.name, add.parameters) == ("$add", "$2", {"A_SIGNED": 0, "A_WIDTH": 4})
    assert add.ports == {
        "A": (Slice("count", 0, 4),),
        "B": (Bits(1, 2), Slice("$1", 1, 2)),
        "Y": (Slice("$1", 0, 4),),
    }
    assert (read_port.parameters, read_port.ports) == ({"MEMID": "words"}, {"ADDR": ()})
    assert (inner.kind, inner.name) == ("top.inner", "inner")
    assert inner.ports == {"a[0]": (Slice("clk", 0, 1),)}


def test_reads_a_process_as_nested_statements():
    (module,) = read(TEXT)
    default, switch = module.processes["$1"]
    assert default == Assign(Slice("$1", 0, 4), (Bits(0, 4),))
    assert switch == Switch(
        (Slice("clk", 0, 1), Slice("count", 3, 1)),
        (
            Case(("-1", "10"), (Assign(Slice("$1", 0, 2), (Slice("count", 2, 2),)),)),
            Case((), ()),
        ),
    )


@pytest.mark.parametrize(
    ("right", "wrong", "text"),
    [
        ("module \\top", "modul \\top", "must begin a module, not be \\['modul', "),
        ("memory width", "memori width", "must stand in a module, not be \\['memori', "),
        ("parameter \\A_SIGNED 0", "parametr \\A_SIGNED 0", "must stand in a cell, not be "),
        ("case 2'-1", "cas 2'-1", "must stand in a switch, not be \\['cas', "),
    ],
)
def test_refuses_a_line_that_it_does_not_know(right, wrong, text):
    with pytest.raises(ValueError, match=text):
        read(TEXT.replace(right, wrong))
