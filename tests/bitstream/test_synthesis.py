"""Chips of 2 x 2 tiles through the real synthesis, and their pins on every board."""

import json
import os
import subprocess

import pytest

from bitstream.builder import BuildOptions, build_program, plan_chip
from bitstream.tool_errors import FpgaToolMissingError
from bitstream.toolchain import check_tools, find_tool
from constraints.cabling import cables_of_program, cabling_of
from constraints.description import board_names, load_board
from tests.bitstream.tools import blink, small_program
from tests.hw.board.designs import location

TILE = 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chip"), [("icebreaker", 0), ("ulx3s-85f", 1)])
def test_a_chip_is_synthesised_and_fits(name, chip, tmp_path):
    board = load_board(name)
    try:
        check_tools(board.family, until="synthesis")
    except FpgaToolMissingError as missing:
        pytest.skip(str(missing))
    program = small_program(board)
    (build,) = build_program(
        tmp_path / "out", program, board, chips=(chip,), options=BuildOptions(until="synthesis")
    )
    assert build.total is not None
    assert build.total.multipliers == TILE**2
    assert build.components[f"c{chip}.matmul"].multipliers == TILE**2
    assert 0 < build.total.luts < board.luts
    stages = {stage.name for stage in program.stages if stage.name.startswith(f"c{chip}.")}
    assert stages - set(build.components) <= {f"c{chip}.recv_0"}, "a stage has no cells"
    netlist = json.loads((tmp_path / "out" / f"chip_{chip}" / "top.json").read_text())
    kinds = {cell["type"] for cell in netlist["modules"]["top"]["cells"].values()}
    assert not {kind for kind in kinds if kind.startswith("$")} - {"$scopeinfo"}


@pytest.mark.slow
def test_the_script_of_a_chip_makes_its_bitstream_again_bit_by_bit(tmp_path, monkeypatch):
    board = load_board("icebreaker")
    try:
        check_tools(board.family)
    except FpgaToolMissingError as missing:
        pytest.skip(str(missing))
    blink(monkeypatch)
    options = BuildOptions(seeds=3)
    program = small_program(board)
    (build,) = build_program(tmp_path / "out", program, board, chips=(0,), options=options)
    assert build.best is not None
    chip = tmp_path / "out" / "chip_0"
    made = (chip / build.bitstream).read_bytes()
    for name in ("top.json", "top.asc", build.bitstream):
        (chip / name).unlink()
    tools = {"YOSYS": "yosys", "NEXTPNR_ICE40": "nextpnr-ice40", "ICEPACK": "icepack"}
    variables = {variable: find_tool(tool) for variable, tool in tools.items()}
    script = ["sh", "build_top.sh"]
    subprocess.run(script, cwd=chip, env={**os.environ, **variables}, check=True, timeout=300)
    assert (chip / build.bitstream).read_bytes() == made


@pytest.mark.parametrize("name", board_names())
def test_every_cable_of_a_program_is_on_its_pins(name):
    """The pin file of each chip has each of its wires where the cabling says, and no other."""
    board = load_board(name)
    program = small_program(board, chips=2)
    cabling = cabling_of((board,) * program.chip_count, cables_of_program(program))
    plans = {chip: plan_chip(program, chip, cabling) for chip in range(program.chip_count)}
    wires = list(cabling.wires())
    assert wires
    for wire in wires:
        base, _, bit = wire.name.partition("[")
        for end in (wire.driver, wire.listener):
            port = f"link_{end.port}_0__{base}__io" + (f"[{bit}" if bit else "")
            assert location(plans[end.chip], port) == end.package_pin
    for chip, plan in plans.items():
        unused = set(board.links) - set(cabling.ports(chip))
        assert not [
            port for port in unused if f"link_{port.name}_" in dict(plan.files)[plan.pin_file]
        ]
