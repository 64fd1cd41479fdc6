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
        Exit status; ``None`` if the tool was not started.
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
        ended = "cannot be started" if status is None else f"ended with status {status}"
        kept = f"; its log is {log_file}" if log_file else ""
        super().__init__(f"{stage}: {tool} {ended}: {self.why}{kept}")

    def kept_in(self, log_file: str) -> "FpgaToolFailedError":
        """The same error, with the log in a file."""
        return FpgaToolFailedError(
            tool=self.tool,
            stage=self.stage,
            status=self.status,
            log=self.log,
            log_file=log_file,
            why=self.why,
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
