"""Read 64 handwritten digits with the generated hardware, on 1 chip and on 16.

The last layer of a small classifier, ``logits = activations . weights``, is compiled once, sharded
along the contraction axis, and simulated. Exit status 1 if a product differs from NumPy's.
"""

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import shardwright as sw

HERE = Path(__file__).parent
CHIPS = (1, 16)


def count_right(logits: np.ndarray, labels: np.ndarray) -> int:
    """Images whose largest logit is the one of the true digit."""
    return np.count_nonzero(logits.argmax(axis=1) == labels)


def main() -> None:
    """Simulate, and print what came out."""
    activations = np.load(HERE / "activations.npy")
    weights = np.load(HERE / "weights.npy")
    labels = np.load(HERE / "labels.npy")
    m, k = activations.shape
    n = weights.shape[1]
    wide_activations, wide_weights = activations.astype(np.int32), weights.astype(np.int32)
    reference = wide_activations @ wide_weights

    target = sw.targets.get("token-mesh", tile=8)
    program = sw.compile(sw.MatmulSpec(m=m, n=n, k=k), target)
    console = Console()
    runs = {}
    for chips in CHIPS:
        with console.status(f"simulating {chips} chip{'s' * (chips > 1)}"):
            sharded = sw.shard(program, sw.ShardPlan.row_parallel(chips), target)
            runs[chips] = sw.simulate(sharded, activations, weights)

    table = Table(title=f"C ({m} x {n}) = A ({m} x {k}) . B ({k} x {n}), int8 to int32")
    for heading in ("chips", "cycles", "ideal", "utilisation", "speed-up", "exact"):
        table.add_column(heading, justify="right")
    exact = {chips: run.exact and np.array_equal(run.c, reference) for chips, run in runs.items()}
    for chips, run in runs.items():
        table.add_row(
            str(chips),
            f"{run.cycles:,}",
            f"{run.ideal_cycles:,}",
            f"{run.utilization:.1%}",
            f"{runs[CHIPS[0]].cycles / run.cycles:.2f}x",
            "yes" if exact[chips] else "NO",
        )
    console.print(table)

    if not all(exact.values()):
        wrong = ", ".join(str(chips) for chips in CHIPS if not exact[chips])
        sys.exit(f"error: the product differs from NumPy's with this number of chips: {wrong}")

    chips = CHIPS[-1]
    print(
        f"Of the multiplications, {runs[chips].useful_multiplications:.1%} count: {n} columns are "
        f"filled up with zeros to whole tiles of {target.tile}."
    )
    slice_width = k // chips
    partial = wide_activations[:, :slice_width] @ wide_weights[:slice_width]
    print(
        f"Digits read right, of {m}: {count_right(runs[chips].c, labels)} by the hardware on "
        f"{chips} chips, {count_right(reference, labels)} by NumPy."
    )
    print(
        f"Without the reduction, chip 0's partial sum alone (columns 0 to {slice_width - 1} of "
        f"{k}) would read {count_right(partial, labels)} right."
    )


if __name__ == "__main__":
    main()
