"""What the multipliers of a chip are on a board's device."""

from compiler.ir.program import Program
from constraints.board import Board
from hw.multiplier.ecp5 import Ecp5Multiplier
from hw.multiplier.ice40 import Ice40Multiplier
from hw.multiplier.plan import MultiplierKind, MultiplierPlan, plan_multipliers

BLOCKS: dict[str, MultiplierKind] = {"ecp5": Ecp5Multiplier, "ice40": Ice40Multiplier}
"""The block of each style; ``plain`` has none, and leaves the choice to the tool."""


def board_multipliers(program: Program, chip: int, board: Board) -> MultiplierPlan | None:
    """The multipliers of each tile unit of a chip: blocks as far as the device has them.

    ``None`` where the style of the board leaves them to its tool.
    """
    if board.multiplier_style not in BLOCKS:
        return None
    products = len(program.chips[chip].products)
    available = board.multipliers // max(1, products)
    return plan_multipliers(program.tile, available, block=BLOCKS[board.multiplier_style])
