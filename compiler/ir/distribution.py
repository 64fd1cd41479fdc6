"""How a value is spread over chips: the fact that tells a partial sum from an answer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Replicated:
    """A whole value: wherever it stands, it is the value that it claims to be."""

    def __str__(self) -> str:
        return "whole"


@dataclass(frozen=True)
class Sharded:
    """Slice ``index`` of ``count`` equal slices along ``axis``."""

    axis: str
    index: int
    count: int

    def __str__(self) -> str:
        return f"slice {self.index} of {self.count} along {self.axis}"


@dataclass(frozen=True)
class Partial:
    """A sum that holds only the listed contributions out of ``count``, in no order."""

    contributions: tuple[int, ...]
    count: int

    def __str__(self) -> str:
        held = ",".join(map(str, self.contributions))
        return f"partial sum of {{{held}}} of {self.count}"


Distribution = Replicated | Sharded | Partial
