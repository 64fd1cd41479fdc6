import doctest
import re

import numpy as np
import pytest

import shardwright as sw
from tests.shardwright.command import invoke, spawn

SHARDING = [name for name in sw.targets.names() if sw.targets.get(name).crossing_handoff]


def test_the_example_of_the_module_is_true():
    results = doctest.testmod(sw)
    assert results.attempted >= 5
    assert results.failed == 0


def test_every_public_name_is_there():
    assert len(set(sw.__all__)) == len(sw.__all__)
    for name in sw.__all__:
        assert getattr(sw, name) is not None


@pytest.mark.parametrize("target", SHARDING)
@pytest.mark.parametrize("plan", [sw.ShardPlan.row_parallel(3), sw.ShardPlan(4, "star")])
def test_a_product_runs_on_every_target_that_shards(target, plan):
    machine = sw.targets.get(target, tile=2, link_width_bits=32)
    program = sw.compile(sw.MatmulSpec(m=3, n=5, k=24), machine)
    program = sw.shard(program, plan, machine)
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (3, 24)), rng.integers(-128, 128, (24, 5))
    result = sw.simulate(program, a, b)
    assert np.array_equal(result.c, a @ b)
    assert result.program is program


def test_one_chip_runs_on_every_target():
    for name in sw.targets.names():
        machine = sw.targets.get(name, tile=4)
        program = sw.compile(sw.MatmulSpec(4, 4, 8), machine)
        assert sw.shard(program, sw.ShardPlan.row_parallel(1), machine) is program
        assert sw.simulate(program, np.eye(4, 8, dtype=int), np.ones((8, 4), int)).exact


def test_refusals_are_shardwright_errors():
    machine = sw.targets.get("token-mesh")
    program = sw.compile(sw.MatmulSpec(8, 8, 30), machine)
    with pytest.raises(sw.ShardwrightError, match="axis k of 30 does not divide over 4 chips"):
        sw.shard(program, sw.ShardPlan.row_parallel(4), machine)
    with pytest.raises(sw.ShardwrightError, match="operand b is missing"):
        sw.simulate(program, np.ones((8, 30), int))


def test_help_names_the_commands_and_their_options():
    text = invoke("--help").output
    assert "run " in text
    assert "show " in text
    for command, options in (("run", ("--waves", "--json", "--output")), ("show", ())):
        text = invoke(command, "-h").output
        for option in (
            "--m",
            "--n",
            "--k",
            "--seed",
            "--chips",
            "--tile",
            "--reduce",
            "--target",
            "--link-width",
            "--link-latency",
            "--pad-k",
            *options,
        ):
            assert f"{option} " in text


def test_version():
    assert re.fullmatch(r"shardwright \d+\.\d+\.\d+\n", invoke("--version").output)


def test_an_unknown_command_is_misuse():
    ran = spawn("walk")
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.endswith("Error: No such command 'walk'.\n")
