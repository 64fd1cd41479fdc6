"""Orientation: whether a beat is a row or a column of its tile, from where it is read on.

An outer product takes columns of its left operand and rows of its right one, and makes rows.
Nothing transposes: a load and a store leave a tile as its tensor has it, and all else passes it on.
"""

from collections.abc import Iterator

from compiler.errors import ValidationError
from compiler.flow.order import in_flow_order, sources_of
from compiler.ir.orientation import Orientation
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Stage, Store

FACTORS = (Orientation.COLUMNS, Orientation.ROWS)
"""What a product takes on its left and on its right."""


def check_orientation(program: Program) -> None:
    """Every stage is given, and makes, beats that are what it takes them for."""
    for stage in in_flow_order(program):
        for name, wanted, why in _wanted(program, stage):
            held = program.buffer_by_name[name].page.orientation
            if held is not wanted:
                raise ValidationError(
                    "Orientation",
                    name,
                    f"buffer {name!r} holds tiles by {held}, but {why} by {wanted}",
                )


def _wanted(program: Program, stage: Stage) -> Iterator[tuple[str, Orientation, str]]:
    """By buffer at a stage, what its beats must be, and who says so."""
    what = f"{type(stage.kind).__name__} stage {stage.name!r}"
    match stage.kind:
        case Load(tensor):
            for name in stage.outs:
                yield name, program.tensor_by_name[tensor].orientation, f"{what} reads them"
        case Store(tensor):
            for name in stage.ins:
                yield name, program.tensor_by_name[tensor].orientation, f"{what} writes them"
        case MatmulTiles():
            for name, wanted in zip(stage.ins, FACTORS, strict=True):
                yield name, wanted, f"{what} takes them"
            for name in stage.outs:
                yield name, Orientation.ROWS, f"{what} makes them"
        case _:
            first, *others = sources_of(program, stage)
            passed = program.buffer_by_name[first].page.orientation
            for name in (*others, *stage.outs):
                yield name, passed, f"{what} is given them"
