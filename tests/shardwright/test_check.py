"""``shardwright check``: of a file, and against a target that is trusted."""

import json
from pathlib import Path
from time import process_time

import pytest

from compiler.serialize import to_json
from shardwright.programs import read_program
from tests.programs import program_for
from tests.shardwright.command import invoke, last_line

OF_ITS_OWN = {"tile": 4, "link_width_bits": 96}


@pytest.fixture
def saved(tmp_path) -> Path:
    """A certified program for a changed target, in a file."""
    path = tmp_path / "program.json"
    path.write_text(to_json(program_for(8, 8, 32, chips=2, **OF_ITS_OWN)))
    return path


def edited(saved: Path, **changes: object) -> Path:
    document = json.loads(saved.read_text())
    document["program"].update(changes)
    saved.write_text(json.dumps(document))
    return saved


def test_a_program_for_the_trusted_target_holds(saved, tmp_path):
    target = read_program(saved).target
    trusted = tmp_path / "mine.toml"
    lines = {f: getattr(target, f) for f in target.__dataclass_fields__ if f != "link_kinds"}
    lines |= {"handoffs": list(target.handoffs), "description": "in other words"}
    trusted.write_text("".join(f"{k} = {json.dumps(v)}\n" for k, v in lines.items()))
    result = invoke("check", saved, "--target", trusted)
    assert result.exit_code == 0
    assert last_line(result).startswith("holds     target        trusted token-mesh")


def test_every_field_of_the_target_that_differs_is_named(saved):
    result = invoke("check", saved, "--target", "token-mesh")
    assert result.exit_code == 1
    assert "\nVIOLATED  target        trusted token-mesh" in result.output
    assert [line.strip() for line in result.output.splitlines()[-2:]] == [
        "tile is 4, and 8 in token-mesh",
        "link_width_bits is 96, and 256 in token-mesh",
    ]
    said = json.loads(invoke("check", saved, "--target", "token-mesh", "--json").stdout)
    assert said["holds"] is False
    assert said["obligations"][-1]["name"] == "target"
    assert invoke("check", saved).exit_code == 0


def test_a_trusted_target_that_is_not_there_is_refused(saved):
    result = invoke("check", saved, "--target", "nowhere")
    assert result.exit_code == 1
    assert last_line(result).startswith("error: no target is named 'nowhere'")
    assert "holds" not in result.stdout


@pytest.mark.parametrize("command", ["check {}", "show --program {}", "run --program {}"])
@pytest.mark.parametrize("name", ["x\nholds     well formed", "\u2028", "\ud800", "n" * 10**5])
def test_a_name_prints_no_verdict_of_its_own(saved, command, name):
    result = invoke(command.format(edited(saved, name=name)))
    assert result.exit_code == 1
    assert result.output.startswith("error: program file: program.name: it must be one line of")
    assert len(result.output.splitlines()) == 1


def test_a_name_that_is_a_line_and_no_name_is_quoted_and_refused(saved):
    result = invoke("check", edited(saved, name="x, target y: holds"))
    assert result.exit_code == 1
    head, verdict, why, *_ = result.output.splitlines()
    assert head == "program 'x, target y: holds', target token-mesh"
    assert verdict.startswith("VIOLATED  well formed")
    assert why.strip().startswith("NameForm: the program 'x, target y: holds' is no name")


def test_a_file_without_an_end_is_refused():
    result = invoke("check /dev/zero")
    assert result.exit_code == 1
    assert last_line(result) == ("error: program file: /dev/zero: it has more than 67108864 bytes")


@pytest.mark.parametrize("depth", [200, 3000, 100_000])
def test_nesting_without_an_end_is_refused(saved, depth):
    for nested in ("[" * depth + "]" * depth, f'"{"max(" * depth}op0{", 0)" * depth}"'):
        path = saved.with_name("nested.json")
        path.write_text(saved.read_text().replace('"map": null', f'"map": {nested}'))
        result = invoke("check", path)
        assert result.exit_code == 1
        assert len(result.output) < 10_000
        refused = last_line(result).startswith("error: program file: ")
        assert refused or "VIOLATED" in result.output


def test_a_link_wider_than_any_is_refused_in_a_target_file_too(tmp_path):
    described = invoke("targets token-mesh --json")
    fields = json.loads(described.stdout)
    lines = {k: v for k, v in fields.items() if k not in ("planning_only",)}
    lines["link_width_bits"] = 10**11
    path = tmp_path / "wide.toml"
    path.write_text("".join(f"{k} = {json.dumps(v)}\n" for k, v in lines.items()))
    output = tmp_path / "p.json"
    result = invoke("compile --m 8 --n 8 --k 16 --chips 2", "-o", output, "--target", path)
    assert result.exit_code == 1
    assert last_line(result) == (
        "error: target 'token-mesh': link_width_bits must be at most 8192, not 100000000000"
    )
    assert not output.exists()


LOAD, STORE = ("stages", 0, "kind", "walk", "loops", 0), ("stages", 5, "kind", "walk", "loops", 0)
PARTIAL = 2
"""Where the sum of chip 0 stands among the buffers."""
LARGE = {
    "loop count of a load, 10^7": ((*LOAD, "count"), 10**7),
    "loop count of a load, 2^31": ((*LOAD, "count"), 2**31),
    "stride of a load, 2^63 - 1": ((*LOAD, "stride"), 2**63 - 1),
    "stride of a load, 10^7": ((*LOAD, "stride"), 10**7),
    "loop count of a store, 2^31": ((*STORE, "count"), 2**31),
    "loop count of a store, 10^6": ((*STORE, "count"), 10**6),
    "columns of A, 10^18": (("graph", "values", 0, "cols"), 10**18),
    "rows of B, 10^7": (("graph", "values", 1, "rows"), 10**7),
    "rows of A, 10^9": (("graph", "values", 0, "rows"), 10**9),
    "columns of C, 10^9": (("graph", "values", 2, "cols"), 10**9),
    "padding of 10^12": (("graph", "values", 0, "pad", 1), 10**12),
    "an axis of the mesh, 4096": (("mesh", "axes", 0, "size"), 4096),
    "a home of 10^12": (("collectives", 0, "home"), 10**12),
    "a chip of a collective, 10^12": (("collectives", 0, "chips", 1), 10**12),
    "an index of contributions, 10^18": (("buffers", PARTIAL, "holds", 0, 0, "of", 0), 10**18),
    "a place at 10^12": (("graph", "values", 2, "layout", 0, "index"), 10**12),
    "blocks, 10^7": (("stages", 2, "kind", "block_count"), 10**7),
    "a place in the value, 10^12": (("tensors", 0, "part", "row"), 10**12),
    "a place in the value, 10^7": (("tensors", 1, "part", "col"), 10**7),
    "bits of a type, 10^7": (("tensors", 0, "dtype", "bits"), 10**7),
    "latency of 10^7": (("links", 0, "latency_cycles"), 10**7),
    "width of 10^11": (("links", 0, "width_bits"), 10**11),
    "depth of 10^7": (("buffers", 0, "depth", "pages"), 10**7),
    "depth of 60,000": (("buffers", 0, "depth", "pages"), 60_000),
    "address of 10^18": (("memory", 0, "address"), 10**18),
    "cycles, 10^18": (("schedule", "cycles"), 10**18),
    "coordinate of 10^18": (("stages", 0, "site", "x"), 10**18),
    "rows, 10^12": (("tensors", 0, "rows"), 10**12),
    "a large tile": (("tile",), 10**6),
}


@pytest.mark.parametrize(("path", "value"), LARGE.values(), ids=LARGE)
def test_one_large_number_is_refused_before_anything_is_as_large(saved, path, value):
    """In far less than its five seconds and its gigabyte, which the fuzzer holds."""
    document = json.loads(saved.read_text())
    *within, last = path
    record = document["program"]
    for key in within:
        record = record[key]
    assert isinstance(record[last], int)
    record[last] = value
    saved.write_text(json.dumps(document))
    begun = process_time()
    results = [invoke("check", saved), invoke("run --program", saved)]
    shown = invoke("show --program", saved)
    assert process_time() - begun < 5
    assert [result.exit_code for result in results] == [1, 1]
    assert "VIOLATED" in results[0].output
    assert last_line(results[1]).startswith("error: program ")
    assert shown.exit_code in (0, 1)
