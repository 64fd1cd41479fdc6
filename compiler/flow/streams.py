"""Streams: pages of several buffers that take turns on their way, and come apart again."""

from collections.abc import Sequence
from fractions import Fraction

from compiler.flow.errors import FlowError
from compiler.flow.pages import MergedPages, OperandPages, Pages, SumPages
from compiler.ir import limits
from compiler.ir.stage import Stage
from compiler.ir.turns import LongTurnsError, merged, split


def own_pages(stage: Stage, sources: Sequence[tuple[str, Pages]]) -> list[SumPages]:
    """Pages of sums, of one stream each."""
    sums = [pages for _, pages in sources if isinstance(pages, SumPages)]
    if len(sums) < len(sources):
        raise FlowError(
            "TurnsTogether",
            stage.name,
            f"{type(stage.kind).__name__.lower()} {stage.name!r} takes pages of several streams "
            f"by turns; a split must take them apart before",
        )
    return sums


def merged_pages(
    stage: Stage, turns: tuple[int, ...], sources: Sequence[tuple[str, Pages]]
) -> MergedPages:
    """One stream of several, in which each keeps the name of the buffer that it came from."""
    streams: dict[str, SumPages] = {}
    inputs: list[tuple[str, ...]] = []
    rounds: list[Fraction] = []
    lengths: list[int] = []
    for index, (name, pages) in enumerate(sources):
        assert not isinstance(pages, OperandPages)
        parts = pages.streams if isinstance(pages, MergedPages) else {name: pages}
        twice = next((stream for stream in parts if stream in streams), None)
        if twice is not None:
            raise FlowError(
                "TurnOrder",
                stage.name,
                f"merge {stage.name!r} takes the pages of {twice!r} twice, which no split can tell "
                f"apart",
            )
        streams |= parts
        inputs.append(pages.turns if isinstance(pages, MergedPages) else (name,))
        lengths.append(pages.length)
        rounds.append(Fraction(pages.length, turns.count(index)))
    if any(count != rounds[0] or count.denominator > 1 for count in rounds):
        raise FlowError(
            "CountingImbalance",
            stage.name,
            f"merge {stage.name!r} takes {', '.join(map(str, lengths))} "
            f"pages by turns, which do not end together",
        )
    try:
        return MergedPages(merged(turns, inputs), streams)
    except LongTurnsError:
        raise _too_long(stage) from None


def split_pages(stage: Stage, turns: tuple[int, ...], source: tuple[str, Pages]) -> list[Pages]:
    """The streams of a merge again, each of them whole in one output."""
    name, pages = source
    if not isinstance(pages, MergedPages):
        raise FlowError(
            "TurnOrder",
            stage.name,
            f"split {stage.name!r} takes apart the pages of {name!r}, which are of one stream",
        )
    try:
        parts = split(turns, pages.turns, len(stage.outs))
    except LongTurnsError:
        raise _too_long(stage) from None
    owner: dict[str, str] = {}
    made: list[Pages] = []
    for out, names in zip(stage.outs, parts, strict=True):
        for stream in names:
            if owner.setdefault(stream, out) != out:
                raise FlowError(
                    "TurnOrder",
                    stage.name,
                    f"split {stage.name!r} puts pages of {stream!r} into {owner[stream]!r} and "
                    f"into {out!r}; its turns must be those of the merge",
                )
        streams = {stream: pages.streams[stream] for stream in names}
        made.append(streams[names[0]] if len(streams) == 1 else MergedPages(names, streams))
    return made


def _too_long(stage: Stage) -> FlowError:
    return FlowError(
        "TurnOrder",
        stage.name,
        f"the turns of {stage.name!r} repeat only after more than {limits.TURNS} pages",
    )
