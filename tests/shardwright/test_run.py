import json
import os
import pty
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from vcd.reader import TokenKind, tokenize

from hw import system
from hw.link_channel import LinkChannel
from sim import simulate
from tests.programs import program_for
from tests.shardwright.command import command_line, invoke, last_line, spawn
from tests.sim.broken import CutChannel
from tests.tiers import chosen

RNG = np.random.default_rng(0)
A, B = RNG.integers(-128, 128, (8, 32)), RNG.integers(-128, 128, (32, 8))
ONE_CHIP = "8x8x32 on 1 chip: 48 cycles, utilisation 66.7%, exact\n"


def run_json(arguments: str) -> dict:
    result = invoke(f"run {arguments} --json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def product_of(folder: Path, a: np.ndarray, b: np.ndarray, *options: str) -> np.ndarray:
    """What the hardware makes of two arrays that are saved as they are."""
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    result = invoke("run", folder / "a.npy", folder / "b.npy", "-o", folder / "c.npy", *options)
    assert result.exit_code == 0, result.output
    return np.load(folder / "c.npy")


# --- Cycles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chips", "cycles"),
    [
        pytest.param(1, 8208, marks=pytest.mark.slow),
        (2, 4124),
        pytest.param(4, 2088, marks=pytest.mark.slow),
        pytest.param(8, 1076, marks=pytest.mark.slow),
        pytest.param(16, 576, marks=pytest.mark.slow),
    ],
)
def test_cycles_of_the_reference_product(chips, cycles):
    data = run_json(
        f"--m 32 --n 32 --k 512 --chips {chips} --tile 8 --link-width 256 --link-latency 8 "
        "--reduce tree"
    )
    assert data["cycles"] == data["predicted_cycles"] == cycles
    assert data["exact"] is True
    assert data["ideal_cycles"] == 32 * 32 * 512 // (chips * 8 * 8)


@pytest.mark.slow
def test_sixteen_chips_are_used_to_98_5_percent_where_the_product_is_large():
    data = run_json(
        "--m 64 --n 64 --k 2048 --chips 16 --tile 8 --link-width 256 --link-latency 8 --reduce tree"
    )
    assert data["exact"] is True
    assert data["utilization"] >= 0.985


def test_a_link_that_is_the_bottleneck_is_full():
    data = run_json("--m 16 --n 16 --k 128 --chips 2 --tile 4 --link-width 4")
    page_count, words, bits = 16, 16, 32
    bound = page_count * words * bits // 4
    assert bound <= data["cycles"] <= 1.05 * bound
    assert data["bound"] == "link c1->c0"
    (link,) = data["links"]
    assert link["busy_cycles"] == bound


# --- Operands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (A.astype(np.int8), B.astype(np.int8)),
        (np.asfortranarray(A), B.T.copy().T),
        (A.astype(">i2"), B.astype(">i8")),
        ((A % 128).astype(np.uint8), B.astype(np.int64)),
        (np.repeat(A, 2, axis=0)[::2], B[::-1][::-1]),
        (A[:1], B),
        (A, B[:, :1]),
        (A[:, :1], B[:1]),
        (A[:3, 4:21], B[4:21, ::3]),
    ],
    ids=[
        "int8",
        "Fortran",
        "big-endian",
        "uint8",
        "strided",
        "m is 1",
        "n is 1",
        "k is 1",
        "edges",
    ],
)
def test_any_integer_matrices_give_the_right_product(tmp_path, a, b):
    c = product_of(tmp_path, a, b)
    assert c.dtype == np.int32
    assert np.array_equal(c, a.astype(int) @ b.astype(int))


@pytest.mark.parametrize("k", chosen([20, 1], [20]))
def test_pad_k_gives_the_right_product_and_says_so(tmp_path, k):
    c = product_of(tmp_path, A[:, :k], B[:k], "--chips", "4", "--pad-k")
    assert np.array_equal(c, A[:, :k] @ B[:k])
    result = invoke("run", *f"--m 8 --n 8 --k {k} --chips 4 --pad-k".split())
    assert f"note: k padded from {k} to 32 with zeros\n" in result.output


@pytest.mark.parametrize("arguments", ["--k 32 --chips 4", "--k 33 --chips 1"])
def test_pad_k_says_nothing_where_nothing_is_padded(arguments):
    assert "note" not in invoke(f"run --m 8 --n 8 {arguments} --pad-k").output


def test_random_operands_are_the_seeds(tmp_path):
    for name, seed in (("first", 5), ("again", 5), ("other", 6)):
        result = invoke(f"run --m 8 --n 8 --k 8 --seed {seed} -o", tmp_path / f"{name}.npy")
        assert result.exit_code == 0
    first, again, other = (np.load(tmp_path / f"{n}.npy") for n in ("first", "again", "other"))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# --- Output ---------------------------------------------------------------------------------------


def test_json_has_every_figure_and_nothing_else_is_on_standard_output():
    arguments = (
        "--m 8 --n 8 --k 20 --chips 2 --pad-k --link-width 64 --link-latency 3 --reduce star"
    )
    ran = spawn(f"run {arguments} --json")
    data = json.loads(ran.stdout)
    assert ran.returncode == 0
    assert ran.stderr == "note: k padded from 20 to 32 with zeros\n"
    expected = {
        "m": 8,
        "n": 8,
        "k": 20,
        "k_pad": 12,
        "chips": 2,
        "mesh": {"tp": 2},
        "layouts": {
            "a": {"tp": "slices of k"},
            "b": {"tp": "slices of k"},
            "c": {"tp": "at 0"},
        },
        "tile": 8,
        "target": "token-mesh",
        "reduce": "star",
        "link_width": 64,
        "link_latency": 3,
        "ideal_cycles": 16,
        "exact": True,
    }
    assert expected.items() <= data.items()
    assert data["utilization"] == 16 / data["cycles"]
    assert data["links"] == [{"name": "c1->c0", "beats": 8, "busy_cycles": 32, "stall_cycles": 0}]


def test_one_line_when_piped():
    ran = spawn("run --m 8 --n 8 --k 32")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, ONE_CHIP, "")


def test_table_bars_and_progress_at_a_terminal():
    ours, theirs = pty.openpty()
    command = command_line("run --m 16 --n 8 --k 256 --chips 2")
    with subprocess.Popen(command, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert process.returncode == 0
    assert "simulating" in text
    for part in ("16 x 8 x 256", "2, tree reduction", "exact", "chip 0 ", "chip 1 ", 20 * "█"):
        assert part in text


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other end is closed
        return b""


def test_output_is_exactly_the_file_that_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke("run --m 4 --n 5 --k 8 -o product").exit_code == 0
    assert os.listdir() == ["product"]
    with open("product", "rb") as file:
        c = np.load(file)
    assert c.dtype == np.int32
    assert c.shape == (4, 5)


def test_waves_have_the_stages_of_every_chip(tmp_path):
    path = tmp_path / "run.vcd"
    result = invoke("run --m 4 --n 4 --k 8 --chips 2 --tile 4 --waves", path)
    assert result.exit_code == 0
    scopes = set()
    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.SCOPE:
                scopes.add(token.scope.ident)
    local = {"load_a", "load_b", "matmul", "recv_0", "fold", "store_c", "partial", "landing_0"}
    assert {"c0", "c1", "c1_to_c0", *local} <= scopes


# --- Failure --------------------------------------------------------------------------------------


def test_a_wrong_product_is_shown_fails_and_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "c.npy"
    path.write_bytes(b"before")
    monkeypatch.setattr(
        simulate.reference, "product", lambda a, b: (a.astype(int) @ b + np.eye(8)).astype("i4")
    )
    result = invoke("run --m 8 --n 8 --k 8 -o", path)
    assert result.exit_code == 1
    places = re.findall(r"c\[(\d),(\d)\] is (-?\d+), not (-?\d+)", last_line(result))
    assert [(row, col) for row, col, _, _ in places] == [(str(i), str(i)) for i in range(5)]
    assert all(int(want) == int(got) + 1 for _, _, got, want in places)
    assert path.read_bytes() == b"before"
    as_json = invoke("run --m 8 --n 8 --k 8 --json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["exact"] is False


@pytest.mark.parametrize("more", ["", "--json"])
def test_a_run_that_is_late_fails_and_its_product_is_not_written(more, tmp_path, monkeypatch):
    path = tmp_path / "c.npy"
    path.write_bytes(b"before")

    def slow_channel(link, *, latency_cycles):
        return LinkChannel(link, latency_cycles=latency_cycles + 3)

    monkeypatch.setattr(system, "LinkChannel", slow_channel)
    stated = program_for(4, 4, 8, chips=2).schedule.cycles
    result = invoke(f"run --m 4 --n 4 --k 8 --chips 2 --tile 4 {more} -o", path)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert last_line(result).startswith(
        f"error: the run of 'matmul_4x4x8_tree2' took {stated + 3} cycles, but its schedule states "
        f"{stated}; what ran is not what was certified"
    )
    assert path.read_bytes() == b"before"


def test_a_hang_is_an_error_that_names_who_waits_and_leaves_the_output_alone(tmp_path, monkeypatch):
    path = tmp_path / "c.npy"
    path.write_bytes(b"before")
    monkeypatch.setattr(system, "LinkChannel", CutChannel)
    result = invoke("run --m 4 --n 4 --k 8 --chips 2 --tile 4 -o", path)
    assert result.exit_code == 1
    assert re.fullmatch(
        r"error: the run did not end within \d+ cycles; waiting: "
        r"c0\.recv_0 waits for a page from c1\.matmul over c1->c0; "
        r"c0\.fold waits for a page from c0\.recv_0 in c0\.landing_0; "
        r"c0\.store_c waits for a page from c0\.fold in c0\.reduced",
        last_line(result),
    )
    assert path.read_bytes() == b"before"
