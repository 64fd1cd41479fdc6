"""The way from a product to a program: which passes run, in which order."""

from collections.abc import Callable
from dataclasses import replace

from compiler.check import certified
from compiler.collective_spec import CollectiveSpec
from compiler.errors import ValidationError
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.passes.buffer import choose_depths
from compiler.passes.handshake import handshake
from compiler.passes.lower import lower
from compiler.passes.lower_collective import lower_collective
from compiler.passes.memory import allocate
from compiler.passes.partition import check_product, partition
from compiler.passes.place import place
from compiler.passes.route import route
from compiler.passes.schedule import schedule
from compiler.passes.tile import tile
from compiler.shard_plan import ShardPlan
from compiler.targets import PlanningTarget, Target, executable
from compiler.validate import check_meaning, check_structure, validate
from compiler.workload import MatmulSpec

PASSES: tuple[tuple[str, Callable[[Program, Target], Program]], ...] = (
    ("tile", lambda program, target: tile(program)),
    ("route", route),
    ("place", place),
    ("handshake", handshake),
    ("buffer", lambda program, target: choose_depths(program)),
    ("memory", lambda program, target: allocate(program)),
    ("schedule", lambda program, target: schedule(program)),
)


def compile(
    spec: MatmulSpec,
    target: Target | PlanningTarget,
    plan: ShardPlan | Mesh | int | None = None,
) -> Program:
    """Compile a product into a placed program for the chips of ``plan``; for one, without it.

    A mesh of one axis, or a number of chips, is the plan that splits the contraction over them.

    Raises
    ------
    ShardwrightError
        One of :mod:`compiler.errors`, if the product, the plan or the target does not allow it.
    """
    target = executable(target)
    program, origin = lower(spec, target), "lower"
    if plan is not None and (plan := _plan(plan)).mesh != program.mesh:
        program, origin = partition(program, plan, target), "partition"
    return _finished(program, target, origin)


def compile_collective(spec: CollectiveSpec, target: Target | PlanningTarget) -> Program:
    """Compile a collective by itself into a placed program.

    Raises
    ------
    ShardwrightError
        One of :mod:`compiler.errors`, if the collective or the target does not allow it.
    """
    target = executable(target)
    return _finished(lower_collective(spec, target), target, "lower")


def shard(program: Program, plan: ShardPlan | Mesh | int, target: Target) -> Program:
    """Spread a placed one-chip program over the chips of ``plan``, as :func:`compile` takes it.

    What passes have decided is decided anew for the slices; what somebody chose stays. A program
    that has this mesh and this target already is returned as it is, if the mesh has one chip.

    Raises
    ------
    ShardError
        If the program cannot be split as asked; see :mod:`compiler.errors` for each case.
    ValidationError
        If the program breaks a rule.
    """
    plan = _plan(plan)
    if plan.chips == 1 and (plan.mesh, target) == (program.mesh, program.target):
        return program
    check_structure(program)
    check_product(program)
    check_meaning(program)
    return _finished(partition(program, plan, target), target, "partition")


def _plan(plan: ShardPlan | Mesh | int) -> ShardPlan:
    return plan if isinstance(plan, ShardPlan) else ShardPlan(plan)


def run_passes(program: Program, target: Target) -> Program:
    """Fill in all that is missing, validate after each pass, and certify the result.

    Raises
    ------
    ValidationError
        If the program breaks a rule, before the passes or after one of them.
    UncertifiedProgramError
        If the finished program does not meet an obligation.
    """
    return _finished(program, target)


def _finished(program: Program, target: Target, origin: str | None = None) -> Program:
    """Run the passes on what ``origin`` has made, if a pass has made it."""
    program = _checked(replace(program, target=target, certificate=None).canonical, target, origin)
    for name, step in PASSES:
        program = _checked(step(program, target), target, name)
    return certified(program.canonical)


def _checked(program: Program, target: Target, name: str | None) -> Program:
    try:
        validate(program, target)
    except ValidationError as error:
        error.after_pass = name
        raise
    return program
