import re
from dataclasses import replace

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.ir.stage import Site
from compiler.serialize import to_json
from compiler.text import to_text
from shardwright import problem
from sim import amaranth_engine
from tests.compiler.programs import changed, sharded
from tests.programs import program_for
from tests.shardwright.command import invoke, spawn


@pytest.mark.parametrize("options", [{}, {"chips": 4}, {"chips": 3, "reduce": "star"}])
def test_prints_the_program_that_run_would_simulate(options):
    arguments = [f"--{name}={value}" for name, value in options.items()]
    result = invoke("show --m 8 --n 8 --k 96 --tile 4", *arguments)
    assert result.exit_code == 0
    assert result.output == to_text(program_for(8, 8, 96, **options))


def test_lists_stages_buffers_hand_offs_and_links_of_every_chip():
    text = invoke("show --m 8 --n 8 --k 64 --chips 4 --target semaphore-mesh").output
    chips = re.split(r"^chip \d$", text, flags=re.MULTILINE)[1:]
    assert len(chips) == 4
    for chip, section in enumerate(chips):
        for title in ("tensors", "stages", "buffers", "hand-offs"):
            assert f"\n  {title}\n" in section
        for stage in ("load_a", "load_b", "matmul"):
            assert f"c{chip}.{stage} " in section
    assert "c3.matmul -> c2.recv_0  c3.partial  Semaphore" in chips[3]
    assert text.count("256 bits, 8 cycles each way") == 3


def test_files_and_shapes_give_the_same_program(tmp_path):
    for name, shape in (("a", (8, 32)), ("b", (32, 4))):
        np.save(tmp_path / f"{name}.npy", np.zeros(shape, np.int8))
    from_files = invoke("show", tmp_path / "a.npy", tmp_path / "b.npy", "--chips", 2)
    from_shape = invoke("show --m 8 --n 4 --k 32 --chips 2")
    assert from_files.output == from_shape.output


def test_simulates_nothing(monkeypatch):
    monkeypatch.setattr(amaranth_engine, "Simulator", None)
    assert invoke("show --m 8 --n 8 --k 64 --chips 16 --tile 4").exit_code == 0


def test_notes_padding_on_standard_error_alone():
    ran = spawn("show --m 8 --n 8 --k 20 --chips 2 --pad-k")
    assert ran.returncode == 0
    assert ran.stderr == "note: k padded from 20 to 32 with zeros\n"
    assert ran.stdout.startswith("program matmul_8x8x20_tree2\n")
    assert "(k padded with 12 zeros)" in ran.stdout


def test_tells_of_every_axis_that_is_padded():
    program = sharded(2)
    pads = {"a": (3, 16), "b": (16, 2), "c": (3, 2)}
    values = tuple(
        replace(value, rows=value.rows - rows, cols=value.cols - cols, pad=(rows, cols))
        for value in program.graph.values
        for rows, cols in [pads[value.name]]
    )
    program = replace(program, graph=replace(program.graph, values=values))
    told = "(m padded with 3 zeros, n padded with 2 zeros, k padded with 16 zeros)"
    assert f"c (13 x 14) = a (13 x 16) . b (16 x 14), int8 to int32 {told}\n" in to_text(program)


def test_ends_in_one_newline():
    text = spawn("show --m 8 --n 8 --k 32").stdout
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def shown(tmp_path, program):
    path = tmp_path / "program.json"
    path.write_text(to_json(program))
    return invoke("show --program", path)


def test_a_program_that_violates_an_obligation_is_shown(tmp_path):
    program = changed(sharded(4), "c1.a", part=sharded(4).tensor_by_name["c2.a"].part)
    result = shown(tmp_path, program)
    assert result.exit_code == 0
    assert result.output == to_text(program)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            changed(sharded(4), "c0.load_a", outs=("nowhere",)),
            "UnknownName: stage 'c0.load_a' names buffer 'nowhere', which does not exist",
        ),
        (
            changed(sharded(4), "c0.load_a", site=None),
            "NoSite: 'c0.load_a' has no site",
        ),
        (
            replace(sharded(4), mesh=Mesh(tp=3)),
            "UnknownChip: stage 'c3.load_a' is on chip 3 of 3",
        ),
        (
            changed(sharded(4), "c2.recv_0", site=Site(3)),
            "LandingElsewhere: receive 'c2.recv_0' at site (3,0,0) writes buffer 'c2.landing_0' "
            "of site (2,0,0); what arrives must land in a buffer of the receiving site",
        ),
    ],
)
def test_what_is_no_graph_on_chips_is_refused(tmp_path, program, why):
    result = shown(tmp_path, program)
    assert result.exit_code == 1
    assert result.output == f"error: {why}\n"


def test_a_circle_of_chips_is_drawn_once():
    text = to_text(changed(sharded(4), "c0.recv_1", site=Site(3)))
    picture = text.partition("reduce ")[2].partition("\n\n")[0]
    assert picture.count("-- chip 1:") == 1
    assert picture.count("-- chip 2:") <= 1
    circle = changed(sharded(4), "c3.matmul", site=Site(0))
    assert to_text(circle).partition("\n\n")[2].count("-- chip 0:") == 1


def test_makes_no_operands(monkeypatch, tmp_path):
    monkeypatch.setattr(problem, "random_operands", None)
    assert shown(tmp_path, sharded(2)).exit_code == 0
