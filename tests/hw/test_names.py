"""Names of the program become names of hardware: all different, and none a word of a tool."""
# amaranth: UnusedElaboratable=no

from dataclasses import replace

import pytest

from compiler.check import certified
from compiler.ir.program import Program
from hw.names import link_name, local_name, module_name, top_name
from hw.verilog.design import design
from hw.verilog.keywords import KEYWORDS
from sim.simulate import simulate
from tests.compiler.programs import renamed
from tests.hw.verilog.tools import icarus_messages, written_to
from tests.programs import program_for, random_operands


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("c3.load_a", "load_a"),
        ("c12.a.b", "a_b"),
        ("c", "c"),
        ("up.matmul", "up_matmul"),
        ("down.matmul", "down_matmul"),
        ("c.x", "c_x"),
        ("cx.y", "cx_y"),
        ("a->b", "a_to_b"),
    ],
)
def test_a_chip_is_all_that_is_taken_from_a_name(name, local):
    assert local_name(name) == local


def test_a_link_is_no_chip_no_port_and_no_keyword():
    assert link_name("c1->c0") == "c1_to_c0"
    for name in ("c0", "clk", "start", "barrier_x", *sorted(KEYWORDS)):
        assert link_name(name) == f"link_{name}"
    assert link_name("link_c0") != link_name("c0")


def test_the_system_is_no_other_module_and_no_keyword():
    assert top_name("matmul_4x4x16") == "matmul_4x4x16"
    assert top_name("a.b->c") == module_name("a.b->c") == "a_b_to_c"
    for name in ("chip_0", "Chip_0_matmul", "channel_x", "barrier_x", "system_x", *KEYWORDS):
        assert top_name(name) == f"system_{name}"


@pytest.mark.parametrize("target", ["token-mesh", "barrier-mesh"])
def test_a_program_may_be_called_as_any_module_is(target):
    emitted = design(program_for(4, 4, 8, chips=2, target=target))
    for module in emitted.modules:
        assert top_name(module.name) == f"system_{module.name}"


def strangely_named(reduce: str, target: str) -> Program:
    """A program whose names are names, and words of Verilog, parts of chips, or other chips'."""
    program = program_for(4, 4, 12, chips=3, reduce=reduce, target=target)
    names = {
        "c0.matmul": "up.matmul",
        "c0.fold": "down.matmul",
        "c0.load_a": "wire",
        "c0.load_b": "starts",
        "c0.recv_0": "module",
        "c0.a_pages": "begin",
        "c0.partial": "c1.x",
        "c1.matmul": "c0.matmul",
        "c1->c0": "clk",
        "c2->c0": "c0",
        "a": "A->x",
        "c0.a": "reg",
        "c": "C-c",
        f"{reduce}_reduce": "always",
        program.name: "chip_0",
    }
    return certified(replace(renamed(program, **names), certificate=None))


@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh", "barrier-mesh"])
def test_any_names_make_the_same_hardware(target, tmp_path):
    program = strangely_named("star", target)
    plain = program_for(4, 4, 12, chips=3, reduce="star", target=target)
    run = simulate(program, *random_operands(program, 1))
    assert run.exact
    assert run.cycles == program.schedule.cycles == plain.schedule.cycles
    verilog = design(program)
    modules = (*verilog.modules, verilog.top)
    assert len({module.name.lower() for module in modules}) == len(modules)
    folder = written_to(tmp_path / "v", [(f"{m.name}.v", m.text) for m in modules])
    assert icarus_messages(folder) == ""
