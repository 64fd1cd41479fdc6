"""The machine that boards of one kind make up, as the compiler sees it."""

from compiler.ir.target import Target
from constraints.board import Board

HANDOFFS = ("ValidReady", "Token")
"""What the hardware of a board provides: streams inside the chip, credits on the pins."""

ENGINES = 3
"""Compute and movement engines of a chip: as many as the machines of this project have."""


def board_target(board: Board, *, tile: int | None = None) -> Target:
    """The target of chips on such boards, of the board's tile unless ``tile`` is given.

    A board without links is a target for one chip.
    """
    links = f"links of {board.link_pins} data pins" if board.links else "no links"
    return Target(
        name=board.name,
        description=f"{board.title}: a chip per board, {links}",
        tile=board.tile if tile is None else tile,
        handoffs=HANDOFFS,
        link_ports=len(board.links),
        link_width_bits=board.link_pins or 1,
        link_latency_cycles=board.link.latency_cycles,
        link_flit_cycles=board.link.flit_cycles,
        compute_engines=ENGINES,
        movement_engines=ENGINES,
        memory_bytes=board.memory_bytes,
    )
