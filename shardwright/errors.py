"""Every error that only the command line raises on purpose."""

from compiler.errors import ShardwrightError


class StandardOutputError(ShardwrightError):
    """What a command has to say cannot be written."""

    def __init__(self, *, why: str):
        self.why = why
        super().__init__(f"standard output cannot be written: {why}")


class SamePathError(ShardwrightError):
    """Two arguments name one file, and at least one of them is to be written."""

    def __init__(self, *, first: str, second: str, path: str):
        self.first, self.second, self.path = first, second, path
        super().__init__(
            f"{first} and {second} are the same file, {path!r}; give the output another name"
        )
