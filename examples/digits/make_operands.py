"""Train a small classifier of handwritten digits and write its last product as int8 operands.

One hidden layer of 512 ReLU units, squared error, plain gradient descent. Neither layer has a
bias, so the operands are the whole last layer: logits = activations . weights.

The files are the same on every machine. All values are multiples of 2**-GRID_BITS and small, so
that double precision holds every product and every sum exactly, in whichever order and on however
many threads they are added. ``RandomState`` is the generator whose sequence NumPy has frozen.
"""

from pathlib import Path

import click
import numpy as np
from sklearn.datasets import load_digits

HIDDEN_UNITS = 512
HELD_OUT_COUNT = 64
SEED = 1998
EPOCHS = 30
BATCH_SIZE = 32
RATE = 2**-9  # per image; a power of two, so that scaling a gradient is exact
GRID_BITS = 20
EXACT_LIMIT = 2 ** (53 - 2 * GRID_BITS)
INT8_MAX = 127


def on_grid(values: np.ndarray) -> np.ndarray:
    """Round to multiples of ``2**-GRID_BITS``."""
    return np.rint(values * 2**GRID_BITS) / 2**GRID_BITS


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Matrix product of values on the grid, rounded to the grid.

    Raises
    ------
    OverflowError
        If a sum could leave the range in which double precision is exact.
    """
    bound = left.shape[1] * np.abs(left).max() * np.abs(right).max()
    if bound >= EXACT_LIMIT:
        raise OverflowError(f"Sums must stay below {EXACT_LIMIT}, not reach {bound}")
    return on_grid(left @ right)


def relu(values: np.ndarray) -> np.ndarray:
    """Negative values become 0."""
    return np.maximum(values, 0)


def train(
    images: np.ndarray, digits: np.ndarray, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the hidden and of the last layer."""
    hidden_weights = rng.randint(-(2**18), 2**18, size=(images.shape[1], HIDDEN_UNITS)) / 2**20
    weights = rng.randint(-(2**16), 2**16, size=(HIDDEN_UNITS, 10)) / 2**20
    wanted = np.eye(10)[digits]
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for start in range(0, len(images), BATCH_SIZE):
            batch = order[start : start + BATCH_SIZE]
            hidden = relu(product(images[batch], hidden_weights))
            error = product(hidden, weights) - wanted[batch]
            hidden_error = product(error, weights.T) * (hidden > 0)
            weights = on_grid(weights - RATE * product(hidden.T, error))
            hidden_weights = on_grid(hidden_weights - RATE * product(images[batch].T, hidden_error))
    return hidden_weights, weights


def quantise(values: np.ndarray, scale: float) -> np.ndarray:
    """Symmetric int8: ``values`` is about ``scale`` times the result."""
    return np.clip(np.rint(values / scale), -INT8_MAX, INT8_MAX).astype(np.int8)


@click.command()
@click.argument(
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(__file__).parent,
)
def main(folder: Path) -> None:
    """Write activations.npy, weights.npy and labels.npy to FOLDER (default: beside the script)."""
    bunch = load_digits()
    images, digits = bunch.data / 16, bunch.target
    rng = np.random.RandomState(SEED)
    order = rng.permutation(len(images))
    held_out, training = order[:HELD_OUT_COUNT], order[HELD_OUT_COUNT:]
    hidden_weights, weights = train(images[training], digits[training], rng)

    # The scale of the activations comes from the training images, as it would in use.
    activation_scale = relu(product(images[training], hidden_weights)).max() / INT8_MAX
    weight_scale = np.abs(weights).max() / INT8_MAX
    hidden = relu(product(images[held_out], hidden_weights))
    operands = {
        "activations": quantise(hidden, activation_scale),
        "weights": quantise(weights, weight_scale),
        "labels": digits[held_out].astype(np.uint8),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in operands.items():
        np.save(folder / f"{name}.npy", values)

    logits = operands["activations"].astype(np.int32) @ operands["weights"].astype(np.int32)
    for what, scores in (("float", product(hidden, weights)), ("int8", logits)):
        right = np.count_nonzero(scores.argmax(axis=1) == operands["labels"])
        click.echo(f"{what}: {right} of {HELD_OUT_COUNT} held-out digits right")
    click.echo(f"scales: activations {activation_scale:.6g}, weights {weight_scale:.6g}")


if __name__ == "__main__":
    main()
