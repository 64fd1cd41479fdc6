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
    body = '{"type": "Max", "right": {"type": "Literal", "value": 0}, "left": '
    nested = body * depth + '{"type": "Operand", "index": 0}' + "}" * depth
    saved.write_text(saved.read_text().replace('"map": null', f'"map": {nested}'))
    result = invoke("check", saved)
    assert result.exit_code == 1
    assert "is nested too deeply" in result.output or "BodySize" in result.output


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
LARGE = {
    "loop count of a load, 10^7": ((*LOAD, "count"), 10**7),
    "loop count of a load, 2^31": ((*LOAD, "count"), 2**31),
    "stride of a load, 2^63 - 1": ((*LOAD, "stride"), 2**63 - 1),
    "stride of a load, 10^7": ((*LOAD, "stride"), 10**7),
    "loop count of a store, 2^31": ((*STORE, "count"), 2**31),
    "loop count of a store, 10^6": ((*STORE, "count"), 10**6),
    "tiles along n, 10^18": (("work", "n_tiles"), 10**18),
    "tiles along m, 10^7": (("work", "m_tiles"), 10**7),
    "k of 10^18": (("claim", "k"), 10**18),
    "k of 10^7": (("claim", "k"), 10**7),
    "m of 10^9": (("claim", "m"), 10**9),
    "padding of 10^12": (("claim", "k_pad"), 10**12),
    "blocks, 10^7": (("stages", 2, "kind", "block_count"), 10**7),
    "index of a slice, 10^12": (("tensors", 0, "slice_of", "index"), 10**12),
    "count of slices, 10^18": (("buffers", 0, "distribution", "count"), 10**18),
    "contributions, 10^18": (("buffers", 2, "distribution", "count"), 10**18),
    "bits of a type, 10^7": (("tensors", 0, "dtype", "bits"), 10**7),
    "latency of 10^7": (("links", 0, "latency_cycles"), 10**7),
    "width of 10^11": (("links", 0, "width_bits"), 10**11),
    "depth of 10^7": (("buffers", 0, "depth_pages"), 10**7),
    "depth of 60,000": (("buffers", 0, "depth_pages"), 60_000),
    "chips, 10^12": (("chip_count",), 10**12),
    "chips, 4096": (("chip_count",), 4096),
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
