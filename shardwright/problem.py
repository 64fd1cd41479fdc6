"""What the commands have in common: which product, on which machine, split how."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from compiler import limits, targets
from compiler.check import require
from compiler.ir.init import External
from compiler.ir.program import Program
from compiler.passes.shard import ALGORITHMS, ShardPlan
from compiler.pipeline import compile_sharded
from compiler.workload import MatmulSpec
from shardwright.programs import read_program
from sim.operands import check_inner, matrix, random_operands, read_matrix

Operands = tuple[np.ndarray | None, np.ndarray | None]


@dataclass(frozen=True)
class Problem:
    """A product as the command line states it: its program, and where its operands come from."""

    program: Program
    supply: Callable[[], Operands]

    @cached_property
    def operands(self) -> Operands:
        """A and B, each ``None`` where the program holds its values itself.

        They are made when they are asked for, so that a program is looked at without them.
        """
        return self.supply()

    @property
    def a(self) -> np.ndarray | None:
        """The left operand."""
        return self.operands[0]

    @property
    def b(self) -> np.ndarray | None:
        """The right operand."""
        return self.operands[1]


def problem_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that state a product and the machine that it runs on."""
    return product_options(machine_options(command))


def product_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that state a product and its split."""
    positive, natural = click.IntRange(min=1), click.IntRange(min=0)
    options = [
        click.argument("operands", nargs=-1, metavar="[A.npy B.npy]", type=click.Path()),
        click.option("--m", type=natural, help="Rows of A and C."),
        click.option("--n", type=natural, help="Columns of B and C."),
        click.option("--k", type=natural, help="Contraction axis."),
        click.option(
            "--seed", type=natural, default=0, help="Seed of random operands.  [default: 0]"
        ),
        click.option("--chips", type=positive, default=1, help="Chips to split k over."),
        click.option(
            "--tile",
            type=click.IntRange(1, limits.TILE),
            help="Edge of a tile.  [default: the target's]",
        ),
        click.option(
            "--reduce",
            type=click.Choice(sorted(ALGORITHMS)),
            default="tree",
            help="How partial sums are added.  [default: tree]",
        ),
        click.option(
            "--pad-k", is_flag=True, help="Pad k with zeros where it does not divide over chips."
        ),
        click.option(
            "--sum-bits",
            type=click.IntRange(2, 32),
            default=32,
            help="Bits of accumulators, partial sums and results.  [default: 32]",
        ),
    ]
    return _with_options(command, options)


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that state a machine."""
    link_extent = click.IntRange(1, limits.LINK)
    options = [
        click.option(
            "--target",
            default="token-mesh",
            help=f"Machine: {', '.join(targets.names())}, or a TOML file of yours.  "
            "[default: token-mesh]",
        ),
        click.option(
            "--link-width", type=link_extent, metavar="BITS", help="Bits of a flit on a link."
        ),
        click.option(
            "--link-latency",
            type=link_extent,
            metavar="CYCLES",
            help="Cycles on the way, each way.",
        ),
        click.option(
            "--flit-cycles",
            type=link_extent,
            metavar="CYCLES",
            help="Cycles for which a flit holds a link.  [default: the target's]",
        ),
    ]
    return _with_options(command, options)


def _with_options(
    command: Callable[..., Any], options: Sequence[Callable[..., Any]]
) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def program_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that takes a compiled program in place of a product to compile."""
    return click.option(
        "--program",
        "program_file",
        metavar="PROGRAM.json",
        type=click.Path(),
        help="Take this compiled program; only operands and --seed go with it.",
    )(command)


def load_or_state_problem(*, program_file: str | None, **options: Any) -> Problem:
    """The program in a file with its operands, or a product that is compiled now.

    Raises
    ------
    ShardwrightError
        If the file, the operands or the product do not allow it.
    click.UsageError
        If options contradict each other.
    """
    if program_file is None:
        return state_problem(**options)
    context = click.get_current_context()
    for name in options:
        source = context.get_parameter_source(name)
        if name not in ("operands", "seed") and source is ParameterSource.COMMANDLINE:
            flag = "--" + name.replace("_", "-")
            raise click.UsageError(f"{flag} does not go with --program, which is compiled already")
    program = read_program(program_file)
    if options["operands"]:
        files = _read_operands(options["operands"], (None, None, None))
        return Problem(program, lambda: files)
    return Problem(program, lambda: _drawn(program, options["seed"]))


def _drawn(program: Program, seed: int) -> Operands:
    """Random operands for those that a program from a file does not hold itself.

    They are as large as it claims, so the claim must stand first.
    """
    require(program)
    claim = program.claim
    whole = (claim.left, claim.right)
    external = {
        tensor.slice_of.whole if tensor.slice_of else tensor.name
        for tensor in program.tensors
        if isinstance(tensor.init, External)
    }
    drawn = random_operands(claim.m, claim.n, claim.k, seed)
    a, b = (array if name in external else None for name, array in zip(whole, drawn, strict=True))
    return a, b


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
    pad_k: bool,
    sum_bits: int,
    target: str | targets.Target,
    link_width: int | None = None,
    link_latency: int | None = None,
    flit_cycles: int | None = None,
) -> Problem:
    """Read or make the operands, and compile the product for a target, by its name or itself.

    Raises
    ------
    ShardwrightError
        If the operands or the product do not allow it.
    click.UsageError
        If the options contradict each other.
    """
    files = _read_operands(operands, (m, n, k)) if operands else None
    if files:
        (rows, inner), (_, cols) = files[0].shape, files[1].shape
        spec = MatmulSpec(m=rows, n=cols, k=inner, sum_bits=sum_bits)
    elif m is None or n is None or k is None:
        raise click.UsageError("give A.npy and B.npy, or --m, --n and --k for random operands")
    else:
        spec = MatmulSpec(m, n, k, sum_bits=sum_bits)
    changes = {
        "tile": tile,
        "link_width_bits": link_width,
        "link_latency_cycles": link_latency,
        "link_flit_cycles": flit_cycles,
    }
    changes = {k: v for k, v in changes.items() if v is not None}
    if isinstance(target, str):
        machine = targets.find(target, **changes)
    else:
        machine = replace(target, **changes)
    if pad_k and chips > 1:
        spec = spec.padded_k(chips * machine.tile)
        if spec.k_pad:
            click.echo(f"note: k padded from {spec.k} to {spec.k_total} with zeros", err=True)
    program = compile_sharded(spec, ShardPlan(chips, reduce), machine)
    return Problem(program, lambda: files or random_operands(spec.m, spec.n, spec.k, seed))


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
