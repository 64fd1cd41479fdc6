"""Every error of the bitstreams of a program that is raised on purpose."""

from compiler.errors import ShardwrightError


class ProgramBoardError(ShardwrightError):
    """A program was compiled for another machine than the boards make up.

    Parameters
    ----------
    has, wants : object
        What the program has of ``field``, and what the board wants or gives.
    contrast, way_out : str
        How ``wants`` is told, and what to do.
    """

    def __init__(
        self,
        *,
        program: str,
        board: str,
        field: str,
        has: object,
        wants: object,
        contrast: str = "",
        way_out: str = "compile it for the board (leave --program out)",
    ):
        self.program, self.board, self.field, self.has, self.wants = (
            program,
            board,
            field,
            has,
            wants,
        )
        super().__init__(
            f"program {program!r} is not for board {board!r}: its {field} is {has!r}, and "
            f"{contrast or f'that of the board {wants!r}'}; {way_out}"
        )


class TimingMissedError(ShardwrightError):
    """A clock cannot run as fast as the board's; the reports are written, and no bitstream."""

    def __init__(self, *, chips: tuple[int, ...], board: str, folder: str):
        self.chips, self.board, self.folder = chips, board, folder
        listed = ", ".join(map(str, chips))
        super().__init__(
            f"timing is missed on board {board!r} by chip {listed}, so it gets no bitstream; the "
            f"report is in {folder}; try more seeds (--seeds), a smaller tile, or a lower "
            f"clock.target_hz in a board file of yours; --allow-slow makes the bitstream anyhow"
        )
