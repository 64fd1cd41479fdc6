import json
import re
from pathlib import Path

import pytest

from compiler import targets
from compiler.targets import planning
from tests.shardwright.command import invoke, last_line

FOLDER = Path(targets.__file__).parent


def test_it_lists_every_built_in_target():
    lines = invoke("targets").output.splitlines()
    first = [line.split("  ")[0] for line in lines]
    assert first == ["target", *targets.names(), "", "for planning only", *planning.names()]
    for name in targets.names():
        target = targets.get(name)
        (line,) = (line for line in lines if line.startswith(f"{name} "))
        cells = re.split(r" {2,}", line)
        assert cells == [
            name,
            str(target.tile),
            ", ".join(target.handoffs),
            f"{target.link_width_bits} bits, {target.link_latency_cycles} cycles",
            str(target.link_ports),
            f"{target.compute_engines} + {target.movement_engines}",
            "16.8 MB",
        ]


def test_barriers_and_no_crossing_are_among_them():
    assert targets.get("barrier-mesh").crossing_handoff == "Barrier"
    assert targets.get("local-only").crossing_handoff is None


def test_one_target_with_all_its_fields():
    text = invoke("targets token-mesh").output
    assert text.startswith("token-mesh: valid/ready streams inside a chip, credit tokens")
    assert re.search(r"^  memory_bytes +16,777,216$", text, re.MULTILINE)
    assert re.search(r"^  handoffs +ValidReady, Token$", text, re.MULTILINE)


def test_further_kinds_of_links_are_shown(tmp_path):
    path = tmp_path / "two-kinds.toml"
    cable = {"name": "cable", "width_bits": 8, "latency_cycles": 40, "flit_cycles": 2}
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in cable.items())
    text = (FOLDER / "token-mesh.toml").read_text()
    path.write_text(f"{text}[[links]]\n{table}")
    lines = invoke("targets", path).output.splitlines()
    assert lines[-1].split(maxsplit=2) == [
        "link",
        "cable",
        "8 bits every 2 cycles, 40 cycles each way",
    ]
    assert json.loads(invoke("targets --json", path).output)["links"] == [cable]
    path.write_text(f"{text}[[links]]\n{table.replace('40', '0')}")
    refused = invoke("targets", path)
    assert refused.exit_code != 0
    assert last_line(refused) == (
        "error: target 'token-mesh': links[0].latency_cycles must be an integer of at least 1, "
        "not 0"
    )


def test_one_planning_target_with_the_source_of_each_figure():
    lines = invoke("targets sn50").output.splitlines()
    assert lines[1] == (
        "for planning only: shardwright fit reads these figures, and no program is compiled"
    )
    target = planning.get("sn50")
    for name, source in target.sources:
        (place,) = (i for i, line in enumerate(lines) if line.startswith(f"  {name}: "))
        assert lines[place + 1].strip() == source
        assert ("unknown" in lines[place]) is (target.figures()[name] is None)
    assert "  memory.HBM2E.bytes_per_second: 1.80 TB/s" in lines
    assert "  memory.DDR5.capacity_bytes: 2 TB" in lines
    assert "  peak_operations_per_second.fp8: 3.20 Pop/s" in lines
    assert "  max_chips: 256" in lines


def test_json_has_every_field():
    records = json.loads(invoke("targets --json").output)
    assert [record["name"] for record in records] == [*targets.names(), *planning.names()]
    assert [record["planning_only"] for record in records] == [False] * len(targets.names()) + [
        True
    ]
    one = json.loads(invoke("targets token-mesh --json").output)
    assert one == {
        "name": "token-mesh",
        "description": "valid/ready streams inside a chip, credit tokens between chips",
        "tile": 8,
        "handoffs": ["ValidReady", "Token"],
        "link_ports": 8,
        "link_width_bits": 256,
        "link_latency_cycles": 8,
        "compute_engines": 3,
        "movement_engines": 3,
        "memory_bytes": 16_777_216,
        "link_flit_cycles": 1,
        "links": [],
        "planning_only": False,
    }
    assert one in records
    sn50 = json.loads(invoke("targets sn50 --json").output)
    assert sn50["memory"][0] == {
        "name": "SRAM",
        "capacity_bytes": 432_000_000,
        "bytes_per_second": None,
    }
    assert sn50["sources"] == dict(planning.get("sn50").sources)


@pytest.mark.parametrize("name", ["token-mesh.toml", "published/sn50.toml"])
def test_a_file_is_shown_as_a_built_in_target_is(name):
    built_in = Path(name).stem
    assert invoke("targets", FOLDER / name).output == invoke("targets", built_in).output


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (
            "torus",
            "no target is named 'torus'; the targets are barrier-mesh, .*, token-mesh, sn50; a "
            r"target of your own is a file whose name ends in \.toml",
        ),
        ("torus.toml", "target file 'torus.toml' cannot be read: .*No such file or directory.*"),
    ],
)
def test_an_unknown_target_is_refused_in_one_line(name, error):
    result = invoke("targets", name)
    assert result.exit_code == 1
    assert re.fullmatch(f"error: {error}", last_line(result))
    assert result.output.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "show", "compile"])
def test_a_planning_target_neither_runs_nor_compiles(command, tmp_path):
    output = ("-o", tmp_path / "program.json") if command == "compile" else ()
    result = invoke(f"{command} --m 8 --n 8 --k 8 --target sn50", *output)
    assert result.exit_code == 1
    assert last_line(result) == (
        "error: target 'sn50' is for planning only (shardwright fit): it states published figures, "
        f"not a machine that programs run on; those are {', '.join(targets.names())}"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("chips", [1, 2])
def test_a_file_of_the_users_runs_wherever_a_target_is_named(tmp_path, chips):
    path = tmp_path / "mine.toml"
    text = (FOLDER / "token-mesh.toml").read_text()
    path.write_text(text.replace("tile = 8", "tile = 4").replace("token-mesh", "mine"))
    product = f"--m 4 --n 4 --k 16 --chips {chips} --target"
    record = json.loads(invoke(f"run --json {product}", path).output)
    assert (record["target"], record["tile"], record["exact"]) == ("mine", 4, True)
    assert "target mine, tile 4" in invoke(f"show {product}", path).output
    assert "mine, per chip" in invoke("fit --layer 4,4,16 --chips 1 --target", path).output


def test_a_product_larger_than_one_chip_runs_on_several(tmp_path):
    path = tmp_path / "small.toml"
    text = (FOLDER / "token-mesh.toml").read_text()
    path.write_text(text.replace("16_777_216", "4096"))
    product = "run --m 8 --n 8 --k 512 --target"
    assert "MemoryExceeded" in last_line(invoke(product, path))
    assert last_line(invoke(product, path, "--chips", 4)).endswith("exact")
