import json
import re
from pathlib import Path

import pytest

from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.shardwright.command import invoke, last_line, spawn

EXAMPLE = Path(__file__).parents[2] / "examples" / "models" / "tiny-transformer.toml"


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def predicted(m: int, n: int, k: int, chips: int) -> int:
    program = compile(MatmulSpec(m, n, k), get("token-mesh"), ShardPlan(chips))
    return program.schedule.cycles


def test_a_row_for_each_number_of_chips():
    heading, machine, blank, head, *rows = invoke(
        "fit --layer 64,64,512 --chips 1,4"
    ).output.splitlines()
    assert heading == "64x64x512: 1 matrix product"
    assert machine == "token-mesh, per chip: 16.8 MB memory; times in cycles"
    assert blank == ""
    names = "chips weights activations buffers total fits compute memory link"
    assert cells(head) == [*names.split(), "bound by", "certified"]
    # 8 x 8 result tiles of 256 bytes; buffers as the program has them.
    for row, chips in zip(rows, (1, 4), strict=True):
        slice_bytes = 64 * 512 // chips
        shown = cells(row)
        assert shown[0] == str(chips)
        assert shown[1] == f"{slice_bytes / 1000:.3g} kB"
        assert shown[2] == f"{(slice_bytes + 64 * 256) / 1000:.3g} kB"
        assert shown[5:] == [
            "yes",
            f"{64 * 512 // chips:,}",
            f"{64 * 512 // chips:,}",
            "512" if chips > 1 else "0",
            "compute",
            f"{predicted(64, 64, 512, chips):,} cycles",
        ]


def test_chips_default_to_powers_of_two():
    record = json.loads(invoke("fit --layer 8,8,128 --json").output)
    assert [fit["chips"] for fit in record["fits"]] == [1, 2, 4, 8, 16]
    assert all(fit["certified"] for fit in record["fits"])


def test_json_has_bytes_and_cycles_to_the_last():
    record = json.loads(invoke("fit --layer up=8,16,64 --batch 2 --chips 2 --json").output)
    (fit,) = record.pop("fits")
    assert record == {
        "model": "up",
        "source": "",
        "batch": 2,
        "target": "token-mesh",
        "planning_only": False,
        "time_unit": "cycles",
        "memory": [{"name": "memory", "capacity_bytes": 16_777_216}],
    }
    (layer,) = fit.pop("layers")
    cycles = predicted(16, 16, 64, 2)
    weights, activations = 4 * 2 * 64, 2 * 4 * 64 + 4 * 256
    buffers = fit["buffer_bytes"]
    times = {"compute": 4 * 4 * 8, "memory": 4 * 4 * 8, "link": 4 * 8}
    assert fit == {
        "chips": 2,
        "weight_bytes": weights,
        "activation_bytes": activations,
        "buffer_bytes": buffers,
        "buffers_estimated": False,
        "total_bytes": weights + activations + buffers,
        "fits": True,
        "memory": "memory",
        "times": times,
        "memory_at_most": None,
        "time": 128,
        "bound": "compute",
        "undecided": [],
        "certified": True,
        "predicted_cycles": cycles,
        "why_not_certified": None,
    }
    assert layer == {
        "name": "up",
        "m": 16,
        "n": 16,
        "k": 64,
        "count": 1,
        "dtype": "int8",
        "weight_bytes": weights,
        "activation_bytes": activations,
        "buffer_bytes": buffers,
        "buffers_estimated": False,
        "times": times,
        "memory_at_most": None,
        "bound": "compute",
        "undecided": [],
        "certified": True,
        "predicted_cycles": cycles,
        "why_not_certified": None,
    }


def test_the_example_is_the_published_shape():
    record = json.loads(invoke("fit --chips 2 --certify-up-to 0 --json", EXAMPLE).output)
    weights = {
        layer["name"]: layer["n"] * layer["k"] * layer["count"]
        for layer in record["fits"][0]["layers"]
    }
    # dim 288, hidden 768, vocabulary 32,000, 6 layers, in all the 15 million of its name.
    assert list(weights.values()) == [
        6 * 4 * 288 * 288,
        6 * 2 * 288 * 768,
        6 * 768 * 288,
        288 * 32_000,
    ]
    assert round(sum(weights.values()) / 10**6) == 15
    assert "github.com/karpathy/llama2.c" in record["source"]
    assert record["fits"][0]["weight_bytes"] == sum(weights.values()) // 2


@pytest.mark.slow
def test_the_example_outgrows_one_chip_and_is_certified_on_four():
    output = invoke("fit --chips 1,4", EXAMPLE).output
    one, four = (cells(line) for line in output.splitlines() if re.match(r" +\d+ {2}", line))
    shapes = [(24, 288, 288), (12, 768, 288), (6, 288, 768), (1, 32_000, 288)]
    cycles = sum(count * predicted(16, n, k, 4) for count, n, k in shapes)
    assert (one[5], one[-1]) == ("no", "no")
    assert (four[5], four[-1]) == ("yes", f"{cycles:,} cycles")
    assert "1 chip, not certified: a chip of 1 needs 17,241,344 bytes" in output


def test_layers_of_the_command_line_join_those_of_the_file():
    command = "fit --chips 1 --certify-up-to 0 --json --layer a=1,2,3 --layer 4,5,6"
    layers = json.loads(invoke(command, EXAMPLE).output)["fits"][0]["layers"]
    assert [layer["name"] for layer in layers[-2:]] == ["a", "4x5x6"]
    assert len(layers) == 6
    heading = invoke("fit --chips 1 --layer a=1,2,3 --layer 4,5,6").output.splitlines()[0]
    assert heading == "2 layers: 2 matrix products"


def test_reasons_are_given_once_for_all_chips_that_have_them():
    output = invoke("fit --layer 8,8,64 --target local-only --chips 1,2,4").output
    assert output.splitlines()[-1] == (
        "2, 4 chips, not certified: target 'local-only' has no hand-off between chips (it provides "
        "ValidReady); a reduction needs Token, Semaphore or Barrier: choose another target, or one "
        "chip"
    )
    assert "~ buffers are estimated: two pages each where no program was compiled" in output


def test_padding_certifies_what_does_not_divide():
    command = "fit --layer 8,8,100 --chips 3"
    assert "pad it with zeros (--pad-k)" in last_line(invoke(command))
    assert cells(last_line(invoke(f"{command} --pad-k")))[-1].endswith(" cycles")


def test_a_planning_target_says_what_it_is_and_what_it_leaves_open():
    command = "fit --layer 16,28672,8192 --batch 16 --target sn50 --chips 1,2,16 --dtype"
    lines = invoke(f"{command} bf16").output.splitlines()
    assert lines[1:3] == [
        "sn50, for planning only, per chip: 432 MB SRAM, 64 GB HBM2E, 2 TB DDR5",
        "figures as published, unmeasured: shardwright targets names their sources",
    ]
    one, two, sixteen = (cells(line) for line in lines[5:8])
    assert one[5:] == ["HBM2E", "75.2 us", "280 us", "0", "memory"]
    assert two[5:] == ["SRAM", "37.6 us", "<148 us", "29.4 us", "compute or memory"]
    assert sixteen[8:] == ["117 us", "link"]
    assert lines[-2:] == [
        "~ buffers are estimated: whole partial sums",
        "< the memory's rate is unknown: at most as long as the next slower one takes",
    ]
    assert last_line(invoke(f"{command} int8")) == (
        "no peak is known for int8, only for fp8, bf16 (--dtype)"
    )


def test_what_no_memory_holds_is_said_to_the_byte():
    command = "fit --layer 1,100000000,1000000 --dtype fp8 --target sn50 --chips 1,2"
    record = json.loads(invoke(f"{command} --json").output)
    assert [fit["fits"] for fit in record["fits"]] == [False, False]
    assert record["time_unit"] == "seconds"
    assert record["fits"][0]["why_not_certified"].startswith("target 'sn50' is for planning only")
    total = 10**14 + 10**6 + 4 * 10**8
    assert f"1 chip: no memory of a chip holds {total:,} bytes" in invoke(command).output
    assert last_line(invoke(command)).startswith("2 chips: no memory of a chip holds ")


REFUSED = {
    "fit": "there is no layer to fit; give --layer M,N,K, or a model file with [[layer]] tables",
    "fit absent.toml": "model file 'absent.toml' cannot be read: [...]",
    "fit text.toml": "model file 'text.toml' is no TOML: [...]",
    "fit field.toml": "model file 'field.toml', layer 'layer 0': field 'q' is unknown; the [...]",
    "fit negative.toml": "layer 'layer 0': k must be a positive integer, not -8",
    "fit none.toml": (
        "there is no layer to fit; give --layer M,N,K, or a model file with [[layer]] tables"
    ),
    "fit --layer 8,8": (
        "layer: shape must be M,N,K or NAME=M,N,K in integers, as up=64,256,64, not '8,8'"
    ),
    "fit --layer a=8,-8,8": "layer 'a': n must be a positive integer, not -8",
    "fit --layer 8,8,8 --dtype fp4": (
        "layer '8x8x8': dtype must be one of int8, fp8, bf16, fp32, not 'fp4'"
    ),
    "fit --layer 8,8,8 --batch 0": "model '8x8x8': batch must be a positive integer, not 0",
    "fit --layer 8,8,8 --chips 1,x": "chips must be positive integers, as 1,2,4, not '1,x'",
    "fit --layer 8,8,8 --chips 2,0": "chips must be positive integers, as 1,2,4, not 0",
    "fit --layer 8,8,8 --chips 512 --target sn50": "chips must be at most 256 of 'sn50', not 512",
    "fit --layer 8,8,8 --target torus": "no target is named 'torus'; the targets are [...]",
    "fit --layer 8,8,8 --target absent.toml": "target file 'absent.toml' cannot be read: [...]",
    "fit --layer 8,8,8 --target none.toml": "target file 'none.toml': field [...] is missing[...]",
}


@pytest.mark.parametrize(("command", "error"), REFUSED.items(), ids=REFUSED)
def test_refuses_in_one_line(tmp_path, monkeypatch, command, error):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.toml").write_text("m: 8\n")
    (tmp_path / "field.toml").write_text("[[layer]]\nm = 8\nn = 8\nk = 8\nq = 8\n")
    (tmp_path / "negative.toml").write_text("[[layer]]\nm = 8\nn = 8\nk = -8\n")
    (tmp_path / "none.toml").write_text("")
    result = invoke(command)
    pattern = ".*".join(map(re.escape, f"error: {error}".split("[...]")))
    if "[[layer]]" in error:
        pattern = re.escape(f"error: {error}")
    assert re.fullmatch(pattern, last_line(result)), last_line(result)
    assert result.output.count("\n") == 1
    assert result.exit_code == 1


def test_a_refusal_is_on_standard_error_alone():
    ran = spawn("fit --layer 8,8,8 --chips 0 --json")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert re.fullmatch(r"error: .*\n", ran.stderr)
