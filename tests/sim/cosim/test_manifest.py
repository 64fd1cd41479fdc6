# amaranth: UnusedElaboratable=no
import re
from dataclasses import replace

from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw.names import module_name
from hw.register_map import Access
from hw.topology import topology_of
from hw.verilog.convert import Port
from hw.verilog.design import design
from sim.cosim.manifest import manifest, registers, registers_page, window_of
from tests.hw.verilog.designs import PROGRAMS, design_of, each_program
from tests.programs import finished

PARTS_OF_C = ((0, 0, 4), (1, 0, 4), (2, 4, 1), (3, 4, 1))


def whole(name: str) -> dict:
    """The manifest of a whole system."""
    return manifest(design_of(name), chips=tuple(range(PROGRAMS[name].chip_count)), with_top=True)


def declared(text: str, module: str) -> dict[str, tuple[str, int]]:
    """Direction and width of the ports of a module, from its text."""
    head = text.partition(f"module {module} (\n")[2].partition("\n);")[0]
    found = re.findall(r"(input|output) (?:wire|reg) (?:\[(\d+):0\] )?(\w+)", head)
    return {port: (direction, int(high or 0) + 1) for direction, high, port in found}


@each_program
def test_modules_and_ports_are_those_of_the_verilog_and_mean_something(name):
    verilog, stated = design_of(name), whole(name)
    texts = {module.name: module.text for module in (*verilog.modules, verilog.top)}
    modules = [stated["top"], *stated["modules"]]
    assert {module["name"] for module in modules} == texts.keys()
    for module in modules:
        ports = {port["name"]: (port["direction"], port["width"]) for port in module["ports"]}
        assert ports == declared(texts[module["name"]], module["name"])
        assert all(port["meaning"] for port in module["ports"])
        assert module["parameters"]
        assert module["file"] == f"{module['name']}.v"


@each_program
def test_chips_are_told_apart_by_coordinate_and_know_their_module_and_constants(name):
    program, verilog, stated = PROGRAMS[name], design_of(name), whole(name)
    assert [chip["coordinate"] for chip in stated["chips"]] == list(range(program.chip_count))
    for chip in stated["chips"]:
        coordinate = chip["coordinate"]
        module = verilog.chip_module(coordinate)
        assert chip["module"] == module.name
        assert chip["instance"] == f"c{coordinate}"
        assert chip["constants"] == topology_of(program).constants[coordinate]
        assert f"{chip['host_prefix']}_awaddr" in {port.name for port in verilog.top.ports}
        assert chip["constants"].keys() <= {port.name for port in module.ports}


@each_program
def test_links_are_those_of_the_program(name):
    links = [
        {
            "name": link.name,
            "instance": module_name(link.name),
            "from_chip": link.source_chip,
            "to_chip": link.destination_chip,
            "width_bits": link.width_bits,
            "latency_cycles": link.latency_cycles,
            "flit_cycles": link.flit_cycles,
        }
        for link in PROGRAMS[name].canonical.links
    ]
    assert whole(name)["links"] == links
    assert all(f" {link['instance']} (" in design_of(name).top.text for link in links)


@each_program
def test_tensors_stand_where_their_windows_are(name):
    program, verilog, stated = PROGRAMS[name].canonical, design_of(name), whole(name)
    assert [tensor["name"] for tensor in stated["tensors"]] == [t.name for t in program.tensors]
    for entry, tensor in zip(stated["tensors"], program.tensors, strict=True):
        window = window_of(verilog, tensor)
        assert (entry["chip"], entry["rows"], entry["cols"]) == (
            tensor.chip,
            tensor.rows,
            tensor.cols,
        )
        assert (entry["dtype"], entry["tile"]) == (tensor.dtype.name, program.tile)
        for key in ("offset", "beats", "beat_bytes", "lanes", "element_bits", "layout"):
            assert entry[key] == getattr(window, key)
        assert (window.access is Access.READ) == (entry["role"] == "output")
        assert entry["file"] == f"{tensor.name}.hex"


@each_program
def test_cycles_are_those_of_the_schedule(name):
    stated = whole(name)
    assert stated["expected_cycles"] == PROGRAMS[name].schedule.cycles
    assert stated["settling_cycles"] >= 0


def test_one_chip_comes_without_a_system():
    stated = manifest(design_of("tree over 4, narrow links"), chips=(2,), with_top=False)
    assert stated["top"] is None
    assert [module["name"] for module in stated["modules"]] == ["chip_2"]
    (chip,) = stated["chips"]
    assert chip["host_prefix"] == "host_"
    assert {link["name"] for link in stated["links"]} == {"c2->c0", "c3->c2"}
    assert {tensor["chip"] for tensor in stated["tensors"]} == {2}


def test_a_port_that_nobody_knows_means_nothing_and_would_be_noticed():
    verilog = design_of("one chip")
    top = verilog.top
    odd = type(top)(top.name, (Port("mystery", "input", 1),), top.text, top.parameters)
    changed = replace(verilog, top=odd)
    stated = manifest(changed, chips=(0,), with_top=True)
    assert [port["meaning"] for port in stated["top"]["ports"]] == [""]


def test_tensors_say_which_part_of_which_value_they_are():
    """Five rows in tiles of 2 over two chips are 4 and 1; the contraction is over two others."""
    plan = ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}, uneven=True, result="all")
    program = finished(MatmulSpec(5, 2, 6), plan=plan, tile=2)
    stated = manifest(design(program), chips=(0, 1, 2, 3), with_top=True)
    assert (stated["format"], stated["version"]) == ("shardwright verilog", 2)
    places = {
        tensor["name"]: tuple(tensor[key] for key in ("value", "row", "col", "rows", "cols"))
        for tensor in stated["tensors"]
    }
    assert places == {
        "c0.a": ("a", 0, 0, 4, 4),
        "c1.a": ("a", 0, 4, 4, 2),
        "c2.a": ("a", 4, 0, 1, 4),
        "c3.a": ("a", 4, 4, 1, 2),
        "c0.b": ("b", 0, 0, 4, 2),
        "c1.b": ("b", 4, 0, 2, 2),
        "c2.b": ("b", 0, 0, 4, 2),
        "c3.b": ("b", 4, 0, 2, 2),
        **{f"c{chip}.c": ("c", row, 0, rows, 2) for chip, row, rows in PARTS_OF_C},
    }


@each_program
def test_registers_as_data_and_as_a_page_say_the_same(name):
    register_map = design_of(name).chip_module(0).register_map
    data, page = registers(register_map), registers_page("chip_0", register_map)
    rows = re.findall(r"^\| (0x[0-9a-f]{4}) \| (\w+) \| ([a-z ]+) \|", page, re.MULTILINE)
    entries = [(e["offset"], e["name"], e["access"]) for e in data["registers"]]
    entries += [(w["offset"], w["tensor"], w["access"]) for w in data["windows"]]
    assert [(int(offset, 16), entry, access) for offset, entry, access in rows] == entries
    assert data["address_bits"] == register_map.address_bits
    assert all(entry["meaning"] for entry in data["registers"])
    status = next(entry for entry in data["registers"] if entry["name"] == "status")
    assert status["bits"] == {"idle": 0, "running": 1, "done": 2, "fault": 3}
