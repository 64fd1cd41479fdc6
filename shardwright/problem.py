"""What the commands have in common: which product, on which machine, split how."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from compiler import targets
from compiler.ir.program import Program
from compiler.passes.shard import ALGORITHMS, ShardPlan
from compiler.pipeline import compile, shard
from compiler.workload import MatmulSpec
from sim.operands import check_inner, matrix, random_operands, read_matrix

LINK_LIMIT = 8192
"""Most bits and most cycles of a link: far above any that exists, and what a simulator takes."""


@dataclass(frozen=True)
class Problem:
    """A product as the command line states it: its operands, and its program."""

    a: np.ndarray
    b: np.ndarray
    program: Program


def problem_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that state a product and the machine that it runs on."""
    positive, natural = click.IntRange(min=1), click.IntRange(min=0)
    link_extent = click.IntRange(1, LINK_LIMIT)
    options = [
        click.argument("operands", nargs=-1, metavar="[A.npy B.npy]", type=click.Path()),
        click.option("--m", type=natural, help="Rows of A and C."),
        click.option("--n", type=natural, help="Columns of B and C."),
        click.option("--k", type=natural, help="Contraction axis."),
        click.option(
            "--seed", type=natural, default=0, help="Seed of random operands.  [default: 0]"
        ),
        click.option("--chips", type=positive, default=1, help="Chips to split k over."),
        click.option("--tile", type=positive, help="Edge of a tile.  [default: the target's]"),
        click.option(
            "--reduce",
            type=click.Choice(sorted(ALGORITHMS)),
            default="tree",
            help="How partial sums are added.  [default: tree]",
        ),
        click.option(
            "--target",
            default="token-mesh",
            help=f"Machine: {', '.join(targets.names())}.  [default: token-mesh]",
        ),
        click.option(
            "--link-width", type=link_extent, metavar="BITS", help="Bits per cycle of a link."
        ),
        click.option(
            "--link-latency",
            type=link_extent,
            metavar="CYCLES",
            help="Cycles on the way, each way.",
        ),
        click.option(
            "--pad-k", is_flag=True, help="Pad k with zeros where it does not divide over chips."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def state_problem(
    *,
    operands: tuple[str, ...],
    m: int | None,
    n: int | None,
    k: int | None,
    seed: int,
    chips: int,
    tile: int | None,
    reduce: str,
    target: str,
    link_width: int | None,
    link_latency: int | None,
    pad_k: bool,
) -> Problem:
    """Read or make the operands, and compile the product.

    Raises
    ------
    ShardwrightError
        If the operands or the product do not allow it.
    click.UsageError
        If the options contradict each other.
    """
    files = _read_operands(operands, (m, n, k)) if operands else None
    if files:
        spec = MatmulSpec(m=files[0].shape[0], n=files[1].shape[1], k=files[0].shape[1])
    elif m is None or n is None or k is None:
        raise click.UsageError("give A.npy and B.npy, or --m, --n and --k for random operands")
    else:
        spec = MatmulSpec(m, n, k)
    changes = {
        "tile": tile,
        "link_width_bits": link_width,
        "link_latency_cycles": link_latency,
    }
    machine = targets.get(target, **{k: v for k, v in changes.items() if v is not None})
    if pad_k and chips > 1:
        spec = spec.padded_k(chips * machine.tile)
        if spec.k_pad:
            click.echo(f"note: k padded from {spec.k} to {spec.k_total} with zeros", err=True)
    program = shard(compile(spec, machine), ShardPlan(chips, reduce), machine)
    a, b = files or random_operands(spec.m, spec.n, spec.k, seed)
    return Problem(a, b, program)


def _read_operands(
    paths: tuple[str, ...], extents: tuple[int | None, ...]
) -> tuple[np.ndarray, np.ndarray]:
    if len(paths) != 2:
        raise click.UsageError(f"give two operand files, A.npy and B.npy, not {len(paths)}")
    a, b = (matrix(read_matrix(path), Path(path).name) for path in paths)
    check_inner(a, b)
    for name, wanted, has in zip("mnk", extents, (a.shape[0], b.shape[1], a.shape[1]), strict=True):
        if wanted not in (None, has):
            raise click.UsageError(f"--{name} {wanted} contradicts the files, which give {has}")
    return a, b
