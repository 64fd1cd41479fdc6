"""Whether a program is for the machine that boards of a kind make up."""

from collections import Counter

from bitstream.errors import ProgramBoardError
from compiler.ir.program import Program
from compiler.validate.capacity import owners
from constraints.board import Board
from constraints.target import board_target
from hw.board.back_wire import CREDIT_PERIOD_CYCLES
from hw.interfaces import flit_count


def check_board(program: Program, board: Board) -> None:
    """Check that a program was compiled for the machine that boards of a kind make up.

    Raises
    ------
    ProgramBoardError
        If it was not, needs more memory than the boards have, or sends pages faster than the boards
        return credits for them.
    """
    wanted = board_target(board, tile=program.tile)
    target = program.target
    for field in ("link_width_bits", "link_latency_cycles", "link_flit_cycles"):
        for link in program.links:
            has = getattr(link, field.removeprefix("link_"))
            if has != getattr(wanted, field):
                raise ProgramBoardError(
                    program=program.name,
                    board=board.name,
                    field=field,
                    has=has,
                    wants=getattr(wanted, field),
                )
    if program.chip_count > 1 and target.crossing_handoff != wanted.crossing_handoff:
        raise ProgramBoardError(
            program=program.name,
            board=board.name,
            field="hand-off between chips",
            has=target.crossing_handoff,
            wants=wanted.crossing_handoff,
        )
    _check_memory(program, board)
    _check_credits(program, board)


def _check_memory(program: Program, board: Board) -> None:
    used = Counter[int]()
    for (_, chip), size in owners(program).items():
        used[chip] += size
    for chip, needed in sorted(used.items()):
        if needed > board.memory_bytes:
            raise ProgramBoardError(
                program=program.name,
                board=board.name,
                field=f"memory of chip {chip} in bytes",
                has=needed,
                wants=board.memory_bytes,
            )


def _check_credits(program: Program, board: Board) -> None:
    """Check that the back wire has time for the credit of each page."""
    for edge in program.edges:
        page = program.buffer_by_name[edge.buffer].page
        if edge.link is None:
            continue
        link = program.link_by_name[edge.link]
        flits = page.beats * flit_count(page.beat_bits, link.width_bits)
        cycles = flits * link.flit_cycles
        if cycles < CREDIT_PERIOD_CYCLES:
            raise ProgramBoardError(
                program=program.name,
                board=board.name,
                field=f"number of cycles for a page on edge {edge.name!r}",
                has=cycles,
                wants=CREDIT_PERIOD_CYCLES,
                contrast=f"a board returns a credit in {CREDIT_PERIOD_CYCLES}, so that credits "
                "would come slower than pages",
                way_out="compile it with a larger tile",
            )
