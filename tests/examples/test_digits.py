"""The operands of the digits example: what is shipped, and that it can be made again."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "digits"
SCRIPT = FOLDER / "make_operands.py"
NAMES = ("activations", "weights", "labels")
NEEDS_SKLEARN = "scikit-learn is not installed (pip install '.[examples]')"


def load(name: str) -> np.ndarray:
    return np.load(FOLDER / f"{name}.npy")


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "low", "high"),
    [
        ("activations", np.int8, (64, 512), 0, 127),
        ("weights", np.int8, (512, 10), -127, 127),
        ("labels", np.uint8, (64,), 0, 9),
    ],
    ids=NAMES,
)
def test_file_has_stated_type_shape_and_range(name, dtype, shape, low, high):
    values = load(name)
    assert values.dtype == dtype
    assert values.shape == shape
    assert low <= values.min()
    assert values.max() <= high


def test_every_digit_occurs():
    assert set(load("labels").tolist()) == set(range(10))


def test_files_are_small():
    assert sum((FOLDER / f"{name}.npy").stat().st_size for name in NAMES) < 50_000


def test_int8_product_reads_at_least_60_of_64_digits():
    logits = load("activations").astype(np.int64) @ load("weights").astype(np.int64)
    assert np.count_nonzero(logits.argmax(axis=1) == load("labels")) >= 60


def test_partial_sum_of_one_chip_of_16_is_no_answer():
    partial = load("activations")[:, :32].astype(np.int64) @ load("weights")[:32].astype(np.int64)
    assert np.count_nonzero(partial.argmax(axis=1) == load("labels")) < 48


def test_script_reproduces_files_bit_for_bit(tmp_path):
    pytest.importorskip("sklearn", reason=NEEDS_SKLEARN)
    subprocess.run([sys.executable, SCRIPT, tmp_path / "new"], check=True, capture_output=True)
    assert {path.stem for path in (tmp_path / "new").iterdir()} == set(NAMES)
    for name in NAMES:
        remade = (tmp_path / "new" / f"{name}.npy").read_bytes()
        assert remade == (FOLDER / f"{name}.npy").read_bytes(), name


def test_script_refuses_sums_that_depend_on_order():
    pytest.importorskip("sklearn", reason=NEEDS_SKLEARN)
    product = runpy.run_path(str(SCRIPT))["product"]
    with pytest.raises(OverflowError, match=r"Sums must stay below 8192, not reach 8192\.0"):
        product(np.full((1, 2), 64.0), np.full((2, 1), 64.0))
