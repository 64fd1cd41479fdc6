"""Bounds: every number of a program is one that it may be, before anything is done with it.

They cost a look at each record and nothing more. Whatever enumerates comes behind them.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, cast

from compiler.errors import ValidationError
from compiler.ir import limits
from compiler.ir.body import Add, Body, Literal, Max, Operand, in_postorder
from compiler.ir.graph import Matmul
from compiler.ir.names import quoted
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, Store

LIMITS: dict[str, int] = {
    "Allocation.address": limits.MEMORY_BYTES,
    "Allocation.chip": limits.CHIPS,
    "Allocation.size_bytes": limits.MEMORY_BYTES,
    "At.index": limits.CHIPS,
    "Collective.chips": limits.CHIPS,
    "Collective.home": limits.CHIPS,
    "Const.value": limits.NUMBER,
    "DType.bits": limits.LINK,
    "Depth.pages": limits.DEPTH_PAGES,
    "Edge.via": limits.CHIPS,
    "Engine.index": limits.ENGINES,
    "Link.destination_chip": limits.CHIPS,
    "Link.flit_cycles": limits.LINK,
    "Link.latency_cycles": limits.LINK,
    "Link.source_chip": limits.CHIPS,
    "Link.width_bits": limits.LINK,
    "Literal.value": limits.NUMBER,
    "Loop.count": limits.WALK_PAGES,
    "Loop.stride": limits.EXTENT,
    "MatmulTiles.block_count": limits.WALK_PAGES,
    "Merge.turns": limits.LINK_PORTS,
    "MeshAxis.size": limits.CHIPS,
    "Operand.index": limits.BODY_SIZE,
    "Page.beats": limits.TILE,
    "Page.lanes": limits.TILE,
    "Part.col": limits.EXTENT,
    "Part.row": limits.EXTENT,
    "Partial.of": limits.CHIPS,
    "Pattern.modulus": limits.NUMBER,
    "Pattern.shift": limits.NUMBER,
    "Program.tile": limits.TILE,
    "RandomBf16.seed": limits.NUMBER,
    "Schedule.cycles": limits.CYCLES,
    "Schedule.ideal_cycles": limits.CYCLES,
    "Site.chip": limits.CHIPS,
    "Site.x": limits.ENGINES,
    "Site.y": limits.ENGINES,
    "Split.turns": limits.LINK_PORTS,
    "StageTiming.first_beat": limits.CYCLES,
    "StageTiming.last_beat": limits.CYCLES,
    "Tensor.chip": limits.CHIPS,
    "Tensor.cols": limits.EXTENT,
    "Tensor.rows": limits.EXTENT,
    "Tensor.tile": limits.TILE,
    "Value.cols": limits.EXTENT,
    "Value.pad": limits.EXTENT,
    "Value.rows": limits.EXTENT,
    "ValueRange.high": limits.NUMBER,
    "ValueRange.low": limits.NUMBER,
    "Values.values": limits.NUMBER,
    "Walk.order": limits.EXTENT,
}
"""The greatest magnitude of each integer, by its record and field; of any other, ``NUMBER``."""

LENGTHS = {
    "Buffer.holds": limits.TURNS,
    "Edge.via": limits.CHIPS,
    "Merge.turns": limits.TURNS,
    "Partial.of": limits.CHIPS,
    "Split.turns": limits.TURNS,
    "Values.values": limits.VALUES,
    "Walk.loops": limits.LOOPS,
    "Walk.order": limits.TURNS,
}
"""The greatest length of each list; of any other, ``RECORDS``."""

ELSEWHERE = ("target", "certificate")
"""Fields of a program that are not looked at: a target holds its own bounds, and a certificate is
compared with another and never computed with."""


def check_bounds(program: Program) -> None:
    """No number is larger than what it counts can be, nor is all that is to be followed."""
    _bodies(program)
    try:
        _check_record(program)
    except _BeyondLimitError as beyond:
        raise ValidationError(
            "ListLength" if beyond.too_long else "NumberBound",
            beyond.subject,
            f"{beyond.place} of {beyond.subject!r} {beyond.why}",
        ) from None
    _chips(program)
    _work(program)


class _BeyondLimitError(Exception):
    """Something is too large; its place is put together on the way out, from within."""

    def __init__(self, why: str, *, too_long: bool = False):
        self.why, self.too_long = why, too_long
        self.place = self.subject = ""

    def stands_in(self, place: str) -> None:
        joint = "." if self.place and not self.place.startswith("[") else ""
        self.place = f"{place}{joint}{self.place}"


@cache
def _limited(record: type[Any]) -> tuple[tuple[str, int, int], ...]:
    """Fields of a record, with the greatest magnitude and the greatest length of each."""
    return tuple(
        (
            field.name,
            LIMITS.get(f"{record.__name__}.{field.name}", limits.NUMBER),
            LENGTHS.get(f"{record.__name__}.{field.name}", limits.RECORDS),
        )
        for field in fields(record)
        if record is not Program or field.name not in ELSEWHERE
    )


def _check_record(record: object) -> None:
    for name, most, length in _limited(type(record)):
        try:
            _check_value(getattr(record, name), most, length)
        except _BeyondLimitError as beyond:
            beyond.stands_in(name)
            beyond.subject = beyond.subject or str(getattr(record, "name", ""))
            raise


def _check_value(value: object, most: int, length: int) -> None:
    if isinstance(value, int):
        _check_number(value, most)
    elif isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        if len(items) > length:
            raise _BeyondLimitError(f"has {len(items)} items, over {length}", too_long=True)
        if items and isinstance(items[0], int):
            numbers = cast(tuple[int, ...], items)
            _check_number(min(numbers), most)
            _check_number(max(numbers), most)
            return
        for index, item in enumerate(items):
            try:
                _check_value(item, most, length)
            except _BeyondLimitError as beyond:
                beyond.stands_in(f"[{index}]")
                raise
    elif isinstance(value, Add | Max):
        for part in in_postorder(value):
            if isinstance(part, Operand | Literal):
                _check_record(part)
    elif is_dataclass(value):
        _check_record(value)


def _check_number(number: int, most: int) -> None:
    if not -most <= number <= most:
        what = quoted(number) if abs(number) <= limits.NUMBER else "a number of over 64 bits"
        raise _BeyondLimitError(f"is {what}; it may be at most {most}")


def _bodies(program: Program) -> None:
    """Expressions are small enough to be walked, and to be built."""
    bodies: list[tuple[str, Body | None]] = [
        (stage.name, stage.kind.body)
        for stage in program.stages
        if isinstance(stage.kind, Fold | Map)
    ]
    bodies += [(p.output, p.map) for p in program.graph.operations if isinstance(p, Matmul)]
    for subject, body in bodies:
        size, depth, level = 0, -1, [body] if body else []
        while level and size <= limits.BODY_SIZE and depth <= limits.BODY_DEPTH:
            size, depth = size + len(level), depth + 1
            level = [side for part in level for side in _sides(part)]
        if size > limits.BODY_SIZE or depth > limits.BODY_DEPTH:
            raise ValidationError(
                "BodySize",
                subject,
                f"the expression of {subject!r} is too large; it may have {limits.BODY_DEPTH} "
                f"operations one within the other, and {limits.BODY_SIZE} parts",
            )


def _sides(body: Body) -> tuple[Body, ...]:
    return (body.left, body.right) if isinstance(body, Add | Max) else ()


def _chips(program: Program) -> None:
    if program.chip_count > max(1, len(program.stages)):
        raise ValidationError(
            "ChipCount",
            program.name,
            f"{program.chip_count} chips have {len(program.stages)} stages; a chip has one at "
            f"least",
        )


def _work(program: Program) -> None:
    """No stage moves more pages than a run can last. Pages that no loops tell have a bound of their
    own, which holds where they are followed one by one."""
    for name, pages in _followed(program):
        if pages > limits.WALK_PAGES:
            raise ValidationError(
                "WorkBound",
                name,
                f"stage {name!r} moves {pages} pages; it may move at most {limits.WALK_PAGES}",
            )


def _followed(program: Program) -> Iterator[tuple[str, int]]:
    for stage in program.stages:
        if isinstance(stage.kind, Load | Store) and stage.kind.walk is not None:
            yield stage.name, stage.kind.walk.page_count
