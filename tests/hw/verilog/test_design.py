# amaranth: UnusedElaboratable=no
import re
import time
from dataclasses import dataclass, field

import pytest

from compiler.ir.edge import Barrier
from hw.names import module_name
from hw.topology import topology_of
from hw.verilog.design import design
from tests.hw.verilog.designs import PROGRAMS, design_of, each_program
from tests.programs import program_for

RANGE = r"(?:\[(\d+):0\] )?"


@dataclass
class Parsed:
    """What a module of instances is made of, read back from its text."""

    ports: dict[str, tuple[str, int]] = field(default_factory=dict)
    wires: dict[str, int] = field(default_factory=dict)
    assigns: dict[str, str] = field(default_factory=dict)
    instances: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)


def parsed(text: str) -> Parsed:
    """A module whose statements are wires, assigns and instances, and nothing else."""
    head, _, body = text.partition("\n);\n")
    module = Parsed()
    for direction, high, name in re.findall(rf"(input|output) wire {RANGE}(\w+)", head):
        module.ports[name] = (direction, int(high or 0) + 1)
    body, _, rest = body.rpartition("endmodule\n")
    assert rest == ""
    for statement in filter(None, (part.strip() for part in body.split(";\n"))):
        if wire := re.fullmatch(rf"wire {RANGE}(\w+)", statement):
            module.wires[wire[2]] = int(wire[1] or 0) + 1
        elif assign := re.fullmatch(r"assign (\w+) = (.+)", statement):
            module.assigns[assign[1]] = assign[2]
        else:
            instance = re.fullmatch(r"(\w+) (\w+) \(\n(.+)\n  \)", statement, re.DOTALL)
            assert instance, statement
            joined = dict(re.findall(r"\.(\w+)\(([^()]+)\)", instance[3]))
            assert len(joined) == len(instance[3].split(",\n"))
            assert instance[2] not in module.instances
            module.instances[instance[2]] = (instance[1], joined)
    return module


def width_of(system: Parsed, joined: str) -> int:
    """Bits of what a port is joined to."""
    if constant := re.fullmatch(r"(\d+)'d(\d+)", joined):
        assert int(constant[2]) < 1 << int(constant[1])
        return int(constant[1])
    names = joined.strip("{}").split(", ")
    return sum(system.wires.get(n) or system.ports[n][1] for n in names)


@each_program
def test_the_system_joins_every_port_of_every_instance_at_its_width(name):
    verilog = design_of(name)
    system = parsed(verilog.top.text)
    modules = {module.name: module for module in verilog.modules}
    for kind, joined in system.instances.values():
        ports = {port.name: port.width for port in modules[kind].ports}
        assert joined.keys() == ports.keys()
        assert {port: width_of(system, signal) for port, signal in joined.items()} == ports


@each_program
def test_everything_in_the_system_has_one_driver_and_a_reader(name):
    verilog = design_of(name)
    system = parsed(verilog.top.text)
    modules = {module.name: module for module in verilog.modules}
    driven = [name for name, (direction, _) in system.ports.items() if direction == "input"]
    read = [name for name, (direction, _) in system.ports.items() if direction == "output"]
    driven += system.assigns
    read += re.findall(r"\w+", " ".join(system.assigns.values()))
    for kind, joined in system.instances.values():
        for port in modules[kind].ports:
            names = re.findall(r"[a-z]\w*", joined[port.name].partition("'")[0])
            (driven if port.direction == "output" else read).extend(names)
    assert len(driven) == len(set(driven))
    assert set(driven) == {*system.ports, *system.wires} == {*driven, *read}
    assert set(read) <= set(driven)


@each_program
def test_the_ports_of_the_system_are_the_buses_of_the_chips_and_start_and_done(name):
    verilog, program = design_of(name), PROGRAMS[name]
    stated = {port.name: (port.direction, port.width) for port in verilog.top.ports}
    assert parsed(verilog.top.text).ports == stated
    bus = {port.name for port in verilog.chip_module(0).ports if port.name.startswith("host__")}
    assert len(bus) == 19
    assert stated.keys() == {"clk", "rst", "start", "done"} | {
        f"c{chip}_{port}" for chip in range(program.chip_count) for port in bus
    }


@each_program
def test_instances_are_the_chips_and_the_links_of_the_program_by_name(name):
    verilog, program = design_of(name), PROGRAMS[name]
    system = parsed(verilog.top.text)
    expected = {f"c{chip}": verilog.chip_module(chip).name for chip in range(program.chip_count)}
    for chip, module in expected.items():
        assert system.instances[chip][0] == module
    links = {module_name(link.name) for link in program.links}
    barriers = {key for key in system.instances if key.startswith("barrier_")}
    assert system.instances.keys() == expected.keys() | links | barriers | {"run_guard"}
    meets = any(isinstance(edge.handoff, Barrier) for edge in program.edges)
    assert bool(barriers) == meets


@each_program
def test_chips_are_told_where_they_are_and_how_deep_the_buffers_are_that_they_send_to(name):
    program = PROGRAMS[name]
    system = parsed(design_of(name).top.text)
    for chip in range(program.chip_count):
        joined = system.instances[f"c{chip}"][1]
        told = {p: int(s.partition("'d")[2]) for p, s in joined.items() if "'d" in s}
        assert told == topology_of(program).constants[chip]
        assert told["coordinate"] == chip


@each_program
def test_every_chip_is_started_by_the_guard_of_the_run(name):
    program, system = PROGRAMS[name], parsed(design_of(name).top.text)
    kind, joined = system.instances["run_guard"]
    assert kind == "start_guard"
    assert joined == {port: port for port in ("clk", "rst", "start", "done", "starts")}
    for chip in range(program.chip_count):
        assert system.instances[f"c{chip}"][1]["start"] == "starts"


def test_a_link_joins_the_ports_of_its_two_chips():
    system = parsed(design_of("tree over 4, narrow links").top.text)
    kind, joined = system.instances["c3_to_c2"]
    assert kind == "channel_token_24_bits_8_cycles"
    assert joined == {
        "clk": "clk",
        "rst": "rst",
        "sender__flit__payload": "c3_partial_link__flit__payload",
        "sender__flit__valid": "c3_partial_link__flit__valid",
        "sender__credit": "c3_partial_link__credit",
        "receiver__flit__payload": "c2_recv_0_link__flit__payload",
        "receiver__flit__valid": "c2_recv_0_link__flit__valid",
        "receiver__credit": "c2_recv_0_link__credit",
    }


def test_barrier_networks_stand_between_the_receivers_and_the_channels():
    system = parsed(design_of("barrier over 4").top.text)
    networks = {name: joined for name, joined in system.instances.items() if "network" in name}
    assert networks
    for _, joined in networks.values():
        offers = joined["ready"].strip("{}").split(", ")
        assert all(re.fullmatch(r"c\d_recv_\d_link__ready", offer) for offer in offers)
        channels = [
            other
            for _, other in system.instances.values()
            if other.get("receiver__ready") == joined["go"]
        ]
        assert len(channels) == len(offers)


@each_program
def test_module_names_are_distinct_and_stand_in_their_texts(name):
    verilog = design_of(name)
    names = [
        found
        for module in (*verilog.modules, verilog.top)
        for found in re.findall(r"^module (\S+) \($", module.text, re.MULTILINE)
    ]
    assert len(names) == len(set(names))
    assert {module.name for module in (*verilog.modules, verilog.top)} <= set(names)


@each_program
def test_every_chip_has_one_module_and_its_register_map(name):
    verilog, program = design_of(name), PROGRAMS[name]
    chips = [chip for module in verilog.modules for chip in module.chips]
    assert sorted(chips) == list(range(program.chip_count))
    for module in verilog.modules:
        assert (module.register_map is not None) == bool(module.chips)
        if module.chips:
            assert module.parameters["tile"] == program.tile


def seconds_and_bytes(chips: int) -> tuple[float, int, int]:
    """Processor time, the best of two; bytes, and chip modules, of the Verilog of a tree."""
    program = program_for(4, 4, 4 * chips, chips=chips, tile=2)
    seconds = []
    for _ in range(2):
        begin = time.process_time()
        verilog = design(program)
        seconds.append(time.process_time() - begin)
    size = sum(len(module.text) for module in (*verilog.modules, verilog.top))
    return min(seconds), size, sum(bool(module.chips) for module in verilog.modules)


@pytest.mark.slow
def test_sixteen_chips_take_a_few_times_the_time_and_bytes_of_four():
    few_seconds, few_bytes, few_kinds = seconds_and_bytes(4)
    many_seconds, many_bytes, many_kinds = seconds_and_bytes(16)
    assert (few_kinds, many_kinds) == (3, 5)
    assert many_bytes <= 3 * few_bytes
    assert many_seconds <= 2.5 * few_seconds


@pytest.mark.parametrize("chips", [4, 9])
def test_a_star_is_two_chip_modules(chips):
    verilog = design(program_for(2, 2, 2 * chips, chips=chips, reduce="star", tile=2))
    assert [module.chips for module in verilog.modules if module.chips] == [
        (0,),
        tuple(range(1, chips)),
    ]


@pytest.mark.slow
def test_sixty_four_chips_are_seven_modules():
    verilog = design(program_for(2, 2, 2 * 64, chips=64, tile=2))
    assert sum(bool(module.chips) for module in verilog.modules) == 7
    system = parsed(verilog.top.text)
    assert len(system.instances) == 64 + 63 + 1
