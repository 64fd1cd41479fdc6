"""Order of tiles: the walks bring together the tiles that belong together, and leave none out."""

from compiler.errors import ValidationError
from compiler.flow.contributions import Contributions
from compiler.flow.operands import operand_buffers
from compiler.flow.page_flow import page_flow
from compiler.flow.pages import SumPages
from compiler.flow.tile_grid import first_tile, tile_number
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Stage, Store
from compiler.ir.walk import Loop, Walk


def check_order(program: Program) -> None:
    """Follow which tile each page stands for, from the loads to the stores.

    Of what is not chosen yet it says nothing: without all walks and block counts, it looks only
    at which operands a product takes, and at what is stored.

    Raises
    ------
    ValidationError
        If a part of the output is not stored, or in another order than it is made or than is
        stated, or a product does not add its slice of the contraction once.
    FlowError
        For the first stage that takes pages which do not belong together.
    """
    _outputs(program)
    operand_buffers(program)
    if not _is_chosen(program):
        return
    flow = page_flow(program)
    loads = {
        name: stage.kind
        for stage in program.stages
        if isinstance(stage.kind, Load)
        for name in stage.outs
    }
    for stage in program.stages:
        if isinstance(stage.kind, MatmulTiles):
            operands = [loads[name] for name in stage.ins]
            _adds_its_slice(program, stage, operands, flow.sums[stage.outs[0]])
    for stored in flow.stored.values():
        where = stored.misplaced
        if where is not None:
            held = tile_number(program, stored.tile_of(where))
            written = tile_number(program, stored.written.at(where))
            raise ValidationError(
                "ResultOrder",
                stored.stage,
                f"store {stored.stage!r} takes page {where} for tile {held} of the output and "
                f"writes it to the place of tile {written}",
            )
    _loops(program)


def _outputs(program: Program) -> None:
    """Each part of the output is stored by one stage, and nothing else is stored."""
    output = program.graph.output
    stored = [stage.kind.tensor for stage in program.stages if isinstance(stage.kind, Store)]
    parts = [tensor.name for tensor in program.tensors if tensor.value == output]
    if not stored or sorted(stored) != sorted(parts):
        raise ValidationError(
            "OutputStored",
            output,
            f"the program claims to compute {output!r} and must store each part of it once; the "
            f"parts are {_listed(parts)}, and it stores {_listed(stored)}",
        )


def _loops(program: Program) -> None:
    """Every store takes the tiles of its tensor in the order that the product states."""
    product = program.graph.product
    if product is None or product.order is None:
        return
    for stage in program.stages:
        if not isinstance(stage.kind, Store) or stage.kind.walk is None:
            continue
        tensor = program.tensor_by_name[stage.kind.tensor]
        rows, cols = Loop(tensor.row_tiles, tensor.col_tiles), Loop(tensor.col_tiles, 1)
        stated = Walk((rows, cols) if product.order.loops == "mn" else (cols, rows))
        if stage.kind.walk.normal() != stated.normal():
            raise ValidationError(
                "LoopOrder",
                stage.name,
                f"store {stage.name!r} walks {stage.kind.walk}, which is not the order "
                f"{product.order} of {tensor.row_tiles} x {tensor.col_tiles} tiles that is stated",
            )


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names)) or "nothing"


def _is_chosen(program: Program) -> bool:
    """Whether all walks and block counts are there."""
    for stage in program.stages:
        match stage.kind:
            case Load(_, None) | Store(_, None) | MatmulTiles(None):
                return False
            case _:
                pass
    return True


def _adds_its_slice(
    program: Program, stage: Stage, operands: list[Load], places: tuple[SumPages, ...]
) -> None:
    """A product adds each block that its operands have once to each result, and no other."""
    left, right = operands
    tensor = program.tensor_by_name[left.tensor]
    _, first = first_tile(program, left.tensor)
    whole = (Contributions(((first, first + tensor.col_tiles, 1),)),)
    if any(pages.length and pages.adds != whole for pages in places):
        raise ValidationError(
            "ContractionOrder",
            stage.name,
            f"product {stage.name!r} walks {left.walk} over {left.tensor!r} and {right.walk} over "
            f"{right.tensor!r}; that does not add each of the {tensor.col_tiles} blocks of the "
            f"contraction once to each result tile",
        )
