"""What the validator accepts computes the product: every single edit is refused or harmless."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum

import numpy as np
import pytest

from compiler.errors import ShardwrightError, ValidationError
from compiler.ir.body import Add, Body, Max, Operand
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, MatmulTiles, Recv, Stage, Store
from compiler.ir.tensor import Tensor
from compiler.passes.shard import ShardPlan
from compiler.pipeline import run_passes, shard
from compiler.targets import get
from compiler.validate import validate
from tests.compiler.programs import GROUPS, changed, compiled

TILE = 2
SMALL = get("token-mesh", tile=TILE)
SMALL_PAGED = get("semaphore-mesh", tile=TILE)
ONE = compiled(4, 6, 8, target=SMALL)
FOUR = shard(compiled(4, 6, 16, target=SMALL), ShardPlan(4), SMALL)
PAGED = shard(compiled(4, 6, 12, target=SMALL_PAGED), ShardPlan(3, "star"), SMALL_PAGED)


def edits(program: Program) -> Iterator[tuple[str, Program]]:
    """Each field of each record with other values: found elsewhere, close by, or none at all."""
    for name in ("tile", "chip_count", "claim", "numerics", "semaphores", "work", "requires"):
        for value in close_to(getattr(program, name)):
            yield f"{name} = {value}", replace(program, **{name: value})
    for group in GROUPS:
        records = getattr(program, group) or ()
        for record in records:
            for field in fields(record):
                here = getattr(record, field.name)
                others = {getattr(other, field.name) for other in records} | {*close_to(here)}
                if field.default is None:
                    others.add(None)
                for value in sorted(others - {here}, key=repr):
                    what = f"{record.name}.{field.name} = {value}"
                    yield what, changed(program, record.name, **{field.name: value})


def close_to(value: object) -> Iterator[object]:
    """What a slip of the hand may make of ``value``."""
    match value:
        case bool() | None:
            return
        case int():
            yield from (value + 1, value - 1, 0, -1)
        case StrEnum():
            yield from type(value)
        case str():
            yield "nowhere"
        case tuple():
            yield from ((), value[1:], value[:-1], value[::-1], (*value, *value[:1]))
            for index, item in enumerate(value):
                for other in close_to(item):
                    yield (*value[:index], other, *value[index + 1 :])
        case Add(left, right):
            yield from (left, Add(left, left), Add(right, left), Max(left, right))
            yield from (Add(other, right) for other in close_to(left))
        case _ if is_dataclass(value):
            for field in fields(value):
                for other in close_to(getattr(value, field.name)):
                    with suppress(ValueError):
                        yield replace(value, **{field.name: other})


def run(program: Program, whole: dict[str, np.ndarray]) -> np.ndarray:
    """The stored output, page by page, of operands that hold what ``whole`` holds."""
    pages: dict[str, list[np.ndarray]] = {}
    output = np.zeros((program.claim.m, program.claim.n), dtype=np.int64)
    waiting = list(program.stages)
    while waiting:
        stage = waiting.pop(0)
        sources = [edge.buffer for edge in program.edges if edge.destination == stage.name]
        if not pages.keys() >= {*sources}:
            waiting.append(stage)
            continue
        held = [pages[name] for name in (stage.ins or sources)]
        for name in stage.outs:
            pages[name] = made(program, stage, held, whole)
        if isinstance(stage.kind, Store):
            tensor = program.tensor_by_name[stage.kind.tensor]
            for page, values in zip(stage.kind.walk.pages(), held[0], strict=True):
                output[block(tensor, page)] = values
    return output


def made(program: Program, stage: Stage, held: list, whole: dict) -> list[np.ndarray]:
    match stage.kind:
        case Load(name, walk):
            tensor = program.tensor_by_name[name]
            matrix = sliced(tensor, whole)
            return [matrix[block(tensor, page)] for page in walk.pages()]
        case MatmulTiles(count):
            products = [a @ b for a, b in zip(*held, strict=True)]
            return [sum(products[i : i + count]) for i in range(0, len(products), count)]
        case Recv():
            return held[0]
        case Fold(body):
            return [folded(body, operands) for operands in zip(*held, strict=True)]
    raise AssertionError(stage)


def folded(body: Body, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    match body:
        case Operand(index):
            return operands[index]
        case Add(left, right):
            return folded(left, operands) + folded(right, operands)
    raise AssertionError(body)


def sliced(tensor: Tensor, whole: dict[str, np.ndarray]) -> np.ndarray:
    piece = tensor.slice_of
    if piece is None:
        return whole[tensor.name]
    axis = ("rows", "cols").index(piece.axis)
    return np.split(whole[piece.whole], piece.count, axis)[piece.index]


def block(tensor: Tensor, page: int) -> tuple[slice, slice]:
    row, col = divmod(page, tensor.col_tiles)
    return np.s_[row * TILE : (row + 1) * TILE, col * TILE : (col + 1) * TILE]


@pytest.mark.parametrize(
    ("program", "target"),
    [(ONE, SMALL), (FOUR, SMALL), (PAGED, SMALL_PAGED)],
    ids=["one chip", "tree of 4", "star of 3, semaphores"],
)
def test_every_single_edit_is_refused_or_computes_the_same(program, target):
    rng = np.random.default_rng(1)
    claim = program.claim
    a, b = (rng.integers(-9, 9, shape) for shape in ((claim.m, claim.k), (claim.k, claim.n)))
    whole = {"a": a, "b": b}
    assert np.array_equal(run(program, whole), a @ b)
    refused, accepted = [], []
    for what, edited in edits(program):
        try:
            validate(edited, target)
        except ValidationError:
            refused.append(what)
            continue
        accepted.append(what)
        assert np.array_equal(run(edited, whole), a @ b), what
        try:
            again = run_passes(edited, target)
        except ShardwrightError:
            continue
        assert np.array_equal(run(again, whole), a @ b), what
    assert len(refused) > len(accepted) > 0
