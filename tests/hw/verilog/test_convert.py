# amaranth: UnusedElaboratable=no
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth.hdl import Assert, ClockDomain, Instance, Module, Print, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hw.chip import Chip
from hw.page_fifo import PageFifo
from hw.verilog.convert import Port, component_ports, to_rtlil, to_verilog
from hw.verilog.definitions import identifier
from hw.verilog.keywords import KEYWORDS
from tests.hw.verilog.tools import icarus_messages, written_to
from tests.programs import program_for

ROOT = Path(__file__).parents[3]
BEAT = data.ArrayLayout(signed(8), 2)
PROGRAM = program_for(2, 2, 4, chips=2, tile=2)


class Counter(wiring.Component):
    """Counts up to a limit, and says when it is there."""

    enable: In(1)
    limit: In(4)
    count: Out(4, init=3)
    full: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.full.eq(self.count == self.limit)
        with m.If(self.enable & ~self.full):
            m.d.sync += self.count.eq(self.count + 1)
        return m


COUNTER = """\
module top (
  input wire clk,
  input wire rst,
  input wire enable,
  input wire [3:0] limit,
  output reg [3:0] count,
  output wire full
);
  assign full = count == limit;
  initial count = 4'd3;
  always @(posedge clk)
    if (rst) count <= 4'd3;
    else if (enable & !full) count <= count + 4'd1;
endmodule
"""


class Outside(wiring.Component):
    """Elaborates whatever a test wants."""

    i: In(4)
    o: Out(4)

    def __init__(self, build):
        self.build = build
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        self.build(m, self)
        return m


def test_reads_as_one_would_write_it():
    assert to_verilog(Counter(), "top") == COUNTER


def test_ports_are_those_of_the_signature_but_for_constants():
    ports = [port for port, _ in component_ports(PageFifo(BEAT, page_beats=2, depth_pages=2))]
    assert ports == [
        Port("i__payload", "input", 16, ("i", "payload")),
        Port("i__valid", "input", 1, ("i", "valid")),
        Port("i__ready", "output", 1, ("i", "ready")),
        Port("o__payload", "output", 16, ("o", "payload")),
        Port("o__valid", "output", 1, ("o", "valid")),
        Port("o__ready", "input", 1, ("o", "ready")),
        Port("page_release", "output", 1, ("page_release",)),
    ]
    chip = Chip(PROGRAM, 1, host=True)
    assert "partial_link__flit__ready" not in {port.name for port, _ in component_ports(chip)}
    to_rtlil(chip, "chip")


@pytest.mark.parametrize("chip", [0, 1])
def test_a_module_has_the_ports_that_are_stated(chip):
    component = Chip(PROGRAM, chip, host=True)
    stated = {(port.direction, port.width, port.name) for port, _ in component_ports(component)} | {
        ("input", 1, "clk"),
        ("input", 1, "rst"),
    }
    head = to_verilog(component, "chip").partition(");")[0]
    found = re.findall(r"(input|output) (?:wire|reg) (?:\[(\d+):0\] )?(\w+)", head)
    assert {(d, int(high or 0) + 1, name) for d, high, name in found} == stated


def test_inner_modules_and_wires_are_named_after_their_instances():
    text = to_verilog(Chip(PROGRAM, 1, host=True), "chip_1")
    modules = re.findall(r"^module (\S+) \($", text, re.MULTILINE)
    assert modules[0] == "chip_1"
    assert {"chip_1_matmul", "chip_1_load_a_walk", "chip_1_host_port"} <= {*modules}
    assert len(modules) == len({*modules})
    assert ".o__payload(a_pages__o__payload)" in text
    assert ".a__payload(a_pages__o__payload)" in text
    assert "port$" not in text


def test_the_text_is_the_same_in_every_run():
    script = (
        "from hw.chip import Chip\n"
        "from hw.verilog.convert import to_verilog\n"
        "from tests.programs import program_for\n"
        "program = program_for(2, 2, 4, chips=2, tile=2)\n"
        "for chip in (0, 1):\n"
        "    print(to_verilog(Chip(program, chip, host=True), f'chip_{chip}'))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(texts) == 1
    assert "module chip_1 (" in texts.pop()


def test_memories_start_undefined_and_assertions_are_left_out():
    def build(m, ports):
        m.submodules.words = words = Memory(shape=4, depth=4, init=[1, 2, 3, 4])
        read = words.read_port()
        m.d.comb += [read.addr.eq(ports.i[:2]), ports.o.eq(read.data)]
        m.d.sync += [Assert(ports.i != 3, "not three"), Print(ports.i)]

    netlist, text = to_rtlil(Outside(build), "top"), to_verilog(Outside(build), "top")
    assert "$meminit" not in netlist
    assert "$check" not in netlist
    assert "$memrd_v2" in netlist
    assert "three" not in text
    assert "$write" not in text
    assert re.findall(r"initial|4'd[1234]", text) == []
    assert "o <= words[i[1:0]];" in text


def test_what_nobody_reads_is_left_out():
    def build(m, ports):
        unread = Signal(8)
        m.d.sync += unread.eq(unread + ports.i)
        m.submodules.inner = inner = Counter()
        m.d.comb += [inner.enable.eq(1), inner.limit.eq(ports.i), ports.o.eq(inner.count)]

    text = to_verilog(Outside(build), "top")
    assert "unread" not in text
    outer, inner = text.split("endmodule")[:2]
    assert "full" not in outer
    assert "output wire full" not in inner


def test_the_high_bits_of_a_sum_that_are_cut_are_not_made():
    def build(m, ports):
        m.d.comb += ports.o.eq(ports.i + ports.i + ports.i)

    assert "assign o = i + i + i;" in to_verilog(Outside(build), "top")


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda m, p: m.d.comb.__iadd__(p.o.eq(p.i // 3)),
            r"Cell must be of a known kind, not '\$divfloor'",
        ),
        (
            lambda m, p: m.submodules.__setitem__("box", Instance("box", i_i=p.i, o_o=p.o)),
            "Cell must be of a known kind, not 'box'",
        ),
    ],
    ids=["division", "foreign module"],
)
def test_refuses_what_it_cannot_write(build, text):
    with pytest.raises(ValueError, match=text):
        to_verilog(Outside(build), "top")


def test_refuses_a_falling_edge():
    def build(m, ports):
        m.domains.down = ClockDomain(clk_edge="neg", local=True)
        m.d.down += ports.o.eq(ports.i)

    with pytest.raises(ValueError, match="must be clocked by a rising edge"):
        to_verilog(Outside(build), "top")


def test_refuses_a_transparent_read_port():
    def build(m, ports):
        m.submodules.words = words = Memory(shape=4, depth=4, init=[])
        write = words.write_port()
        read = words.read_port(transparent_for=[write])
        m.d.comb += [read.addr.eq(ports.i[:2]), write.addr.eq(ports.i[2:]), write.en.eq(1)]
        m.d.comb += [write.data.eq(ports.i), ports.o.eq(read.data)]

    with pytest.raises(ValueError, match="must show a word as it was before a write"):
        to_verilog(Outside(build), "top")


def test_a_memory_of_one_word_is_a_register(tmp_path):
    fifo = PageFifo(BEAT, page_beats=1, depth_pages=1)
    text = to_verilog(fifo, "top")
    assert "  reg [15:0] \\storage[0] ;\n" in text
    assert icarus_messages(written_to(tmp_path, [("top.v", text)])) == ""


def test_names_are_escaped_where_verilog_asks_for_it():
    def build(m, ports):
        odd = Signal(4, name="an-odd-name")
        m.d.sync += odd.eq(odd + ports.i)
        m.d.comb += ports.o.eq(~odd)

    text = to_verilog(Outside(build), "top")
    assert "reg [3:0] \\an-odd-name ;" in text
    assert "\\an-odd-name  <= \\an-odd-name  + i;" in text


class Keywords(wiring.Component):
    """Ports, registers, submodules and memories whose names are keywords of Verilog."""

    table: In(4)
    output: Out(4)
    always: Out(4)

    def elaborate(self, platform):
        m = Module()
        m.submodules.module = counter = Counter()
        m.submodules.wand = memory = Memory(shape=4, depth=4, init=[])
        reads, writes = memory.read_port(domain="comb"), memory.write_port()
        wait = Signal(4)
        wire = Signal(4)
        m.d.sync += wait.eq(self.table + wait)
        m.d.comb += wire.eq(self.table ^ wait)
        m.d.comb += [writes.en.eq(wire[0]), writes.addr.eq(wire), writes.data.eq(wire)]
        m.d.comb += [reads.addr.eq(wait), self.output.eq(reads.data ^ wire)]
        m.d.comb += [counter.enable.eq(1), counter.limit.eq(wait), self.always.eq(counter.count)]
        return m


def test_names_that_are_keywords_are_escaped(tmp_path):
    text = to_verilog(Keywords(), "endmodule")
    written_to(tmp_path, [("keywords.v", text)])
    assert icarus_messages(tmp_path) == ""
    assert all(f"\\{word} " in text for word in ("endmodule", "table", "output", "wait"))


def test_no_keyword_is_left_as_it_is():
    assert [identifier(word) for word in KEYWORDS] == [f"\\{word} " for word in KEYWORDS]
