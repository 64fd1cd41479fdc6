"""What the commands have in common: which product, on which machine, split how."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from compiler import targets
from compiler.check import require
from compiler.ir import limits
from compiler.ir.dtype import SUM_BITS
from compiler.ir.init import External
from compiler.ir.program import Program
from compiler.ir.tensor import ValueRange
from compiler.pipeline import compile
from compiler.workload import INT8_RANGE, MatmulSpec
from shardwright.plan import plan_of, plan_options
from shardwright.printing import complain
from shardwright.programs import read_program
from shardwright.value_range import ValueRangeType
from sim.operand_files import read_matrix
from sim.operands import check_inner, matrix, random_operands

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
    natural = click.IntRange(min=0)
    options = [
        click.argument("operands", nargs=-1, metavar="[A.npy B.npy]", type=click.Path()),
        click.option("--m", type=natural, help="Rows of A and C."),
        click.option("--n", type=natural, help="Columns of B and C."),
        click.option("--k", type=natural, help="Contraction axis."),
        click.option(
            "--seed", type=natural, default=0, help="Seed of random operands.  [default: 0]"
        ),
        *plan_options(),
        click.option(
            "--tile",
            type=click.IntRange(1, limits.TILE),
            help="Edge of a tile.  [default: the target's]",
        ),
        click.option(
            "--pad-k", is_flag=True, help="Pad k with zeros where it does not divide over chips."
        ),
        click.option(
            "--sum-bits",
            type=click.IntRange(SUM_BITS[0], SUM_BITS[-1]),
            default=SUM_BITS[-1],
            help="Bits of accumulators, partial sums and results; fewer than 16 need operands of "
            f"narrower ranges.  [default: {SUM_BITS[-1]}]",
        ),
        *(
            click.option(
                f"--{operand}-range",
                type=ValueRangeType(),
                default=f"{INT8_RANGE.low},{INT8_RANGE.high}",
                help=f"Range of the elements of {operand.upper()}.  [default: that of int8]",
            )
            for operand in ("a", "b")
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
    paths = options["operands"]
    if paths:
        files = _read_given(program, paths)
        return Problem(program, lambda: files)
    return Problem(program, lambda: _drawn(program, options["seed"]))


def _read_given(program: Program, paths: tuple[str, ...]) -> Operands:
    """Operands from files: of both sides, or of the one that a program does not hold itself."""
    wants_a, wants_b = _external(program)
    if len(paths) == 1 and wants_a != wants_b:
        given = matrix(read_matrix(paths[0]), Path(paths[0]).name)
        return given if wants_a else None, given if wants_b else None
    return _read_operands(paths, (None, None, None))


def _drawn(program: Program, seed: int) -> Operands:
    """Random operands for those that a program from a file does not hold itself.

    They are as large as it claims, so the claim must stand first.
    """
    require(program)
    claim = program.claim
    a, b = random_operands(
        claim.m,
        claim.n,
        claim.k,
        seed,
        a_range=_range_of(program, claim.left),
        b_range=_range_of(program, claim.right),
    )
    wants_a, wants_b = _external(program)
    return a if wants_a else None, b if wants_b else None


def _external(program: Program) -> tuple[bool, bool]:
    """Whether the host supplies A, and whether it supplies B."""
    left, right = (
        any(isinstance(tensor.init, External) for tensor in program.tensors_of.get(whole, ()))
        for whole in (program.claim.left, program.claim.right)
    )
    return left, right


def _range_of(program: Program, whole: str) -> ValueRange:
    """The values that an operand may have, as far as they are int8's.

    The file is not checked yet: a program without such values is refused later.
    """
    ranges = [INT8_RANGE, *(t.value_range for t in program.tensors_of.get(whole, ()))]
    low, high = max(each.low for each in ranges), min(each.high for each in ranges)
    return ValueRange(low, high) if low <= high else INT8_RANGE


def state_problem(
    *,
    operands: tuple[str, ...],
    m: int | None,
    n: int | None,
    k: int | None,
    seed: int,
    tile: int | None,
    pad_k: bool,
    sum_bits: int,
    a_range: ValueRange,
    b_range: ValueRange,
    target: str | targets.Target,
    link_width: int | None = None,
    link_latency: int | None = None,
    flit_cycles: int | None = None,
    **spread: Any,
) -> Problem:
    """Read or make the operands, and compile the product for a target, by its name or itself.

    ``spread`` are the options that state a plan.

    Raises
    ------
    ShardwrightError
        If the operands or the product do not allow it.
    click.UsageError
        If the options contradict each other.
    """
    plan = plan_of(**spread)
    files = _read_operands(operands, (m, n, k)) if operands else None
    if files:
        (rows, inner), (_, cols) = files[0].shape, files[1].shape
    elif m is None or n is None or k is None:
        raise click.UsageError("give A.npy and B.npy, or --m, --n and --k for random operands")
    else:
        rows, cols, inner = m, n, k
    spec = MatmulSpec(rows, cols, inner, sum_bits=sum_bits, a_range=a_range, b_range=b_range)
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
    axis = plan.axis_of("k")
    if pad_k and axis is not None:
        spec = spec.padded_k(plan.mesh.size(axis) * machine.tile)
        if spec.k_pad:
            complain(f"note: k padded from {spec.k} to {spec.k_total} with zeros")
    program = compile(spec, machine, plan)
    ranges = {"a_range": a_range, "b_range": b_range}
    return Problem(
        program, lambda: files or random_operands(spec.m, spec.n, spec.k, seed, **ranges)
    )


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
