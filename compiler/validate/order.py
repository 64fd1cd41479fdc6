"""Order: the walks bring together the tiles that belong together, and leave none of them out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Stage, Store
from compiler.ir.tensor import Tensor
from compiler.ir.walk import Loop, Walk
from compiler.validate.flow import in_flow_order, sources_of

Tiles = NDArray[np.int64]
"""Tile indices in the order in which their pages come."""


@dataclass(frozen=True)
class Operand:
    """Tiles of an operand, in the order of a walk."""

    tensor: Tensor
    walk: Walk | None

    @property
    def whole(self) -> str:
        """The operand as the claim names it."""
        return self.tensor.slice_of.whole if self.tensor.slice_of else self.tensor.name


@dataclass(frozen=True)
class Result:
    """Tiles of the output, whole or partial. ``tiles`` is ``None`` until the walks are chosen."""

    tiles: Tiles | None


def check_order(program: Program) -> None:
    """Follow which tile each page stands for, from the loads to the one store."""
    stored = [s.kind.tensor for s in program.stages if isinstance(s.kind, Store)]
    if stored != [program.claim.output]:
        raise ValidationError(
            "OutputStored",
            program.claim.output,
            f"the program claims to compute {program.claim.output!r} and must store it once; it "
            f"stores {', '.join(map(repr, stored)) or 'nothing'}",
        )
    held: dict[str, Operand | Result] = {}
    for stage in in_flow_order(program):
        value = _followed(program, stage, [held[name] for name in sources_of(program, stage)])
        held |= dict.fromkeys(stage.outs, value)


def _followed(program: Program, stage: Stage, sources: list[Operand | Result]) -> Operand | Result:
    match stage.kind:
        case Load(tensor, walk):
            return Operand(program.tensor_by_name[tensor], walk)
        case MatmulTiles(block_count):
            return _product(program, stage, sources, block_count)
        case Store(_, walk):
            results = [_result(stage, sources[0]), Result(walk and _offsets(walk.loops))]
        case _:
            results = [_result(stage, source) for source in sources]
    for result in results[1:]:
        _same_order(stage, results[0], result)
    return results[0]


def _product(
    program: Program, stage: Stage, sources: list[Operand | Result], block_count: int | None
) -> Result:
    """Output tiles of a product that adds each block of the contraction once to each of them."""
    claim = program.claim
    factors = [source.whole if isinstance(source, Operand) else None for source in sources]
    if factors != [claim.left, claim.right]:
        multiplied = " by ".join("a result" if name is None else repr(name) for name in factors)
        raise ValidationError(
            "ProductOperand",
            stage.name,
            f"product {stage.name!r} multiplies {multiplied}; the program claims to multiply "
            f"{claim.left!r} by {claim.right!r}",
        )
    left, right = (source for source in sources if isinstance(source, Operand))
    if block_count is None or left.walk is None or right.walk is None:
        return Result(None)
    k_tiles, n_tiles = left.tensor.col_tiles, right.tensor.col_tiles
    a, b = _split(left.walk, block_count), _split(right.walk, block_count)
    if not (
        a
        and b
        and np.array_equal(np.sort(a.inner), np.arange(k_tiles))
        and np.array_equal(b.inner, a.inner * n_tiles)
        and not (a.outer % k_tiles).any()
        and (b.outer < n_tiles).all()
    ):
        raise ValidationError(
            "ContractionOrder",
            stage.name,
            f"product {stage.name!r} walks {left.walk} over {left.tensor.name!r} and {right.walk} "
            f"over {right.tensor.name!r}; that does not add each of the {k_tiles} blocks of the "
            f"contraction once to each result tile",
        )
    return Result(a.outer // k_tiles * n_tiles + b.outer)


def _result(stage: Stage, source: Operand | Result) -> Result:
    if isinstance(source, Operand):
        raise ValidationError(
            "OperandPassedOn",
            stage.name,
            f"{type(stage.kind).__name__} stage {stage.name!r} takes tiles of {source.whole!r}, "
            f"but only tiles of a product can be received and stored",
        )
    return source


def _same_order(stage: Stage, one: Result, other: Result) -> None:
    if one.tiles is None or other.tiles is None or np.array_equal(one.tiles, other.tiles):
        return
    page = next(
        i for i, pair in enumerate(zip(one.tiles, other.tiles, strict=True)) if len({*pair}) > 1
    )
    raise ValidationError(
        "ResultOrder",
        stage.name,
        f"{type(stage.kind).__name__} stage {stage.name!r} takes page {page} for tile "
        f"{one.tiles[page]} of the output and for tile {other.tiles[page]}",
    )


@dataclass(frozen=True)
class _Nest:
    """Offsets of the outer and of the inner loops of a walk."""

    outer: Tiles
    inner: Tiles


def _split(walk: Walk, steps: int) -> _Nest | None:
    """The walk as loops around the innermost ``steps`` steps, if it has such loops."""
    outer: list[Loop] = list(walk.loops)
    inner: list[Loop] = []
    while steps > 1:
        loop = outer.pop()
        if loop.count % steps == 0:
            inner.insert(0, Loop(steps, loop.stride))
            outer.append(Loop(loop.count // steps, loop.stride * steps))
            steps = 1
        elif steps % loop.count == 0:
            inner.insert(0, loop)
            steps //= loop.count
        else:
            return None
    return _Nest(_offsets(tuple(outer)), _offsets(tuple(inner)))


def _offsets(loops: tuple[Loop, ...]) -> Tiles:
    offsets = np.zeros(1, dtype=np.int64)
    for loop in loops:
        offsets = (offsets[:, None] + loop.stride * np.arange(loop.count)).ravel()
    return offsets
