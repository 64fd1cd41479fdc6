"""The way from a product to a program: which passes run, in which order."""

from collections.abc import Callable
from dataclasses import replace

from compiler.check import certified
from compiler.errors import ValidationError
from compiler.ir import limits
from compiler.ir.program import Program
from compiler.passes.buffer import choose_depths
from compiler.passes.handshake import handshake
from compiler.passes.lower import lower
from compiler.passes.memory import allocate
from compiler.passes.place import place
from compiler.passes.route import route
from compiler.passes.schedule import schedule
from compiler.passes.shard import ShardPlan, operands_of, replicate
from compiler.passes.tile import tile
from compiler.targets import PlanningTarget, Target, executable
from compiler.validate import check_meaning, check_structure, validate
from compiler.workload import MatmulSpec

PASSES: tuple[tuple[str, Callable[[Program, Target], Program]], ...] = (
    ("tile", lambda program, target: tile(program)),
    ("place", place),
    ("buffer", choose_depths),
    ("handshake", handshake),
    ("route", route),
    ("memory", lambda program, target: allocate(program)),
    ("schedule", schedule),
)


def compile(spec: MatmulSpec, target: Target | PlanningTarget) -> Program:
    """Compile a product into a placed program for one chip of ``target``.

    Raises
    ------
    ShardwrightError
        One of :mod:`compiler.errors`, if the product or the target does not allow it.
    """
    target = executable(target)
    return run_passes(_checked(lower(spec, target), target, "lower"), target)


def compile_sharded(spec: MatmulSpec, plan: ShardPlan, target: Target | PlanningTarget) -> Program:
    """Compile a product for the chips of ``plan``.

    The whole product on one chip is only a step on the way to several. It may need the memory of
    all of them together.

    Raises
    ------
    ShardwrightError
        As :func:`compile` and :func:`shard`.
    """
    target = executable(target)
    if plan.chips == 1:
        return compile(spec, target)
    roomy = replace(target, memory_bytes=min(target.memory_bytes * plan.chips, limits.MEMORY_BYTES))
    try:
        whole = compile(spec, roomy)
    except ValidationError:
        whole = compile(spec, target)  # if it is refused, then in terms of one chip
    return shard(whole, plan, target)


def shard(program: Program, plan: ShardPlan, target: Target) -> Program:
    """Spread a placed one-chip program over ``plan.chips`` chips and reduce their partial sums.

    Raises
    ------
    ShardError
        If the program cannot be split as asked; see :mod:`compiler.errors` for each case.
    ValidationError
        If the program breaks a rule.
    """
    if plan.chips == 1:
        return program
    check_structure(program)
    operands_of(program)
    check_meaning(program)
    return run_passes(_checked(replicate(program, plan, target), target, "shard"), target)


def run_passes(program: Program, target: Target) -> Program:
    """Fill in all that is missing, validate after each pass, and certify the result.

    Raises
    ------
    ValidationError
        If the program breaks a rule, before the passes or after one of them.
    UncertifiedProgramError
        If the finished program does not meet an obligation.
    """
    program = replace(program, target=target, certificate=None).canonical
    validate(program, target)
    for name, step in PASSES:
        program = _checked(step(program, target), target, name)
    return certified(program.canonical)


def _checked(program: Program, target: Target, name: str) -> Program:
    try:
        validate(program, target)
    except ValidationError as error:
        error.after_pass = name
        raise
    return program
