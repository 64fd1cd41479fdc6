"""The validator: rules that every program keeps, after every pass. Shares no code with passes.

A rule looks at what is filled in already and says nothing about the rest, so one set of rules
serves a template and a finished program alike.
"""

from compiler.errors import ValidationError
from compiler.flow.errors import FlowError
from compiler.ir.program import Program
from compiler.targets import Target
from compiler.validate.capacity import check_capacity
from compiler.validate.counting import check_counting
from compiler.validate.layouts import check_layouts
from compiler.validate.link_kinds import check_kinds_of_links
from compiler.validate.locality import check_locality
from compiler.validate.machine import check_machine
from compiler.validate.orientation import check_orientation
from compiler.validate.parts import check_parts
from compiler.validate.shapes import check_shapes
from compiler.validate.structure import check_structure
from compiler.validate.tile_order import check_order
from compiler.validate.types import check_types

__all__ = ["check_meaning", "check_structure", "validate"]


def validate(program: Program, target: Target) -> None:
    """Check every rule.

    Raises
    ------
    ValidationError
        For the first rule that is broken, with the rule's name and the thing that breaks it.
    """
    program = program.canonical
    check_structure(program)
    check_locality(program, target)
    check_meaning(program)
    check_capacity(program, target)
    check_kinds_of_links(program, target)
    check_types(program)
    check_machine(program)
    check_parts(program)


def check_meaning(program: Program) -> None:
    """Check the rules that say what a well-formed program computes. They need no target.

    Raises
    ------
    ValidationError
        For the first rule that is broken.
    """
    try:
        check_layouts(program)
        check_shapes(program)
        check_orientation(program)
        check_counting(program)
        check_order(program)
    except FlowError as broken:
        raise ValidationError(broken.rule, broken.subject, str(broken)) from None
