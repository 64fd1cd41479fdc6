# amaranth: UnusedElaboratable=no
"""Icarus, Verilator and Yosys read the Verilog of every kind of program without a word."""

import re

import pytest

from hw.verilog.convert import to_verilog
from hw.verilog.lint import WAIVERS, waivers_file
from tests.hw.verilog.designs import design_of, each_program
from tests.hw.verilog.random_logic import RandomLogic
from tests.hw.verilog.tools import (
    icarus_messages,
    verilator_messages,
    written_to,
    yosys_messages,
)
from tests.tiers import chosen


@pytest.fixture
def folder(name, tmp_path):
    """A folder with the modules, the system and the waivers."""
    design = design_of(name)
    texts = [(f"{module.name}.v", module.text) for module in (*design.modules, design.top)]
    return written_to(tmp_path, [*texts, ("waivers.vlt", waivers_file())])


@each_program
def test_icarus(folder):
    assert icarus_messages(folder) == ""


@each_program
def test_verilator(folder):
    assert verilator_messages(folder) == ""


@pytest.mark.formal
@each_program
def test_yosys(name, folder):
    top = design_of(name).top.name
    script = f"read_verilog -sv *.v; hierarchy -check -top {top}; proc; check -assert"
    assert yosys_messages(folder, script) == ""


def test_waivers_are_few_and_have_reasons_and_none_is_about_widths():
    assert len(WAIVERS) <= 6
    assert all(len(waiver.reason) > 5 for waiver in WAIVERS)
    assert {waiver.rule for waiver in WAIVERS} == {"DECLFILENAME", "UNUSEDSIGNAL"}


@pytest.mark.parametrize("index", range(len(WAIVERS)), ids=lambda index: WAIVERS[index].match)
def test_every_waiver_is_needed_by_some_program(index, tmp_path):
    needed = waivers_file().split("\n")
    del needed[1 + 2 * index : 3 + 2 * index]
    complaints = []
    for name in ("tiles of 1", "links wider than a beat"):
        design = design_of(name)
        texts = [(f"{module.name}.v", module.text) for module in (*design.modules, design.top)]
        folder = written_to(tmp_path / name, [*texts, ("waivers.vlt", "\n".join(needed))])
        try:
            verilator_messages(folder)
        except AssertionError as error:
            complaints += re.findall(r"%Warning-([A-Z]+):", str(error))
    assert set(complaints) == {WAIVERS[index].rule}


@pytest.mark.parametrize("seeds", chosen([range(4), range(4, 12)], [range(4)]))
def test_widths_are_exact_in_random_logic_too(seeds, tmp_path):
    waived = "".join(
        f"lint_off -rule {rule}\n" for rule in ("UNUSEDSIGNAL", "UNSIGNED", "CMPCONST")
    )
    for seed in seeds:
        texts = [
            ("top.v", to_verilog(RandomLogic(seed), "top")),
            ("waivers.vlt", f"`verilator_config\n{waived}"),
        ]
        folder = written_to(tmp_path / str(seed), texts)
        assert icarus_messages(folder) == ""
        assert verilator_messages(folder) == ""
