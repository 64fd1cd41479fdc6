"""``shardwright collective``: what it takes, what it prints, what it refuses."""

import json

import pytest

from compiler.passes.page_ways import HOPS
from tests.shardwright.command import invoke


def told(command: str) -> dict:
    result = invoke(f"{command} --json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_it_says_what_was_taken_and_what_each_algorithm_would_take():
    run = told("collective all_reduce --bytes 256 --chips 4")
    cycles = {choice["algorithm"]: choice["cycles"] for choice in run["choices"]}
    assert cycles.keys() == HOPS.keys()
    assert run["cycles"] == cycles[run["algorithm"]] == min(cycles.values())
    assert run["exact"] is True
    assert (run["kind"], run["chips"], run["bytes"]) == ("all_reduce", 4, 256)
    assert run["cycles"] >= run["bound_cycles"] == max(li["busy_cycles"] for li in run["links"])


def test_an_algorithm_that_is_stated_is_taken_alone():
    run = told("collective all_gather --bytes 200 --chips 3 --algorithm chain --tile 2")
    assert run["algorithm"] == "chain"
    assert "choices" not in run
    assert {link["link"] for link in run["links"]} == {"c0->c1", "c1->c0", "c1->c2", "c2->c1"}


def test_what_the_ports_do_not_carry_is_refused_with_the_reason():
    run = told("collective broadcast --bytes 64 --chips 4 --link-ports 2 --home 1")
    refused = {each["algorithm"]: each["refused"] for each in run["choices"] if "refused" in each}
    assert "star" in refused
    assert all("which has 2 link ports" in why for why in refused.values())
    result = invoke("collective all_reduce --bytes 64 --chips 4 --algorithm star --link-ports 2")
    assert result.exit_code == 1
    assert result.output.startswith("error: a star needs 6 links at chip 0, which has 2 link ports")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("scan --bytes 64 --chips 4", "Invalid value for "),
        ("all_reduce --bytes 0 --chips 4", "Invalid value for '--bytes'"),
        ("all_reduce --bytes 64 --chips 1", "Invalid value for '--chips'"),
        ("all_reduce --bytes 64 --chips 4 --dtype fp8", "Invalid value for '--dtype'"),
        ("all_reduce --chips 4", "Missing option '--bytes'"),
        ("gather --bytes 64 --chips 4 --home 4", "error: collective: home must be from 0 to 3"),
    ],
)
def test_explains_misuse(options, text):
    result = invoke(f"collective {options}")
    assert result.exit_code != 0
    assert text in result.output


def test_the_program_is_written_whole_and_can_be_checked(tmp_path):
    path = tmp_path / "p.json"
    lines = invoke(f"collective reduce_scatter --bytes 256 --chips 3 -o {path}").output
    assert lines.startswith("kind ")
    checked = invoke(f"check {path}")
    assert checked.exit_code == 0, checked.output
    gone = invoke(f"collective all_reduce --bytes 64 --chips 2 -o {tmp_path}/no/p.json")
    assert gone.exit_code == 1
    assert gone.output.startswith("error: ")
