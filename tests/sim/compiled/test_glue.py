"""The C++ that depends on the chip."""

import pytest
from amaranth.hdl import Fragment

from hw.chip import Chip
from hw.verilog.convert import component_ports
from sim.compiled.glue import glue, lane_words, member_name
from sim.compiled.ports import chip_ports
from tests.programs import program_for

TARGETS = ("token-mesh", "semaphore-mesh", "barrier-mesh")


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("clk", "p_clk"),
        ("partial_link__flit__valid", "p_partial__link____flit____valid"),
        ("chip.memory_a.memory", "p_chip_2e_memory__a_2e_memory"),
        ("a b", "p_a_20_b"),
    ],
)
def test_members_are_called_as_cxxrtl_calls_them(name, member):
    assert member_name(name) == member


@pytest.mark.parametrize(("bits", "words"), [(1, 1), (32, 1), (33, 2), (256, 8)])
def test_a_signal_takes_whole_words(bits, words):
    assert lane_words([("payload", bits), ("valid", 1)]) == words + 1


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("chip", range(4))
def test_ports_are_those_of_the_chip(chip, target):
    program = program_for(4, 4, 16, chips=4, target=target)
    hardware, ports = Chip(program, chip), chip_ports(program, chip)
    Fragment.get(hardware, None)
    met = {
        (f"{end.port}__{name}", bits, "output" if leaves else "input")
        for end in ports.ends
        for signals, leaves in ((end.forward, end.sends), (end.backward, not end.sends))
        for name, bits in signals
    }
    start_and_done = {("start", 1, "input"), ("done", 1, "output")}
    assert met | start_and_done == {
        (port.name, port.width, port.direction) for port, _ in component_ports(hardware)
    }
    assert [tensor.name for tensor in ports.tensors] == [*hardware.memories]
    assert {*ports.counters} <= {*hardware.activity.signature.members}


def test_every_port_memory_and_counter_has_its_place():
    program = program_for(4, 4, 16, chips=4)
    text = glue(chip_ports(program, 0))
    assert "from_0 = take(model.p_recv__0__link____flit____payload, from_0);" in text
    assert "to_1 = give(model.p_recv__1__link____credit, to_1);" in text
    assert "case 2: return model.memory_p_chip_2e_memory__c_2e_memory.data[0].data;" in text
    assert "case 1: return now(model.p_matmul__active__last).data[0];" in text
