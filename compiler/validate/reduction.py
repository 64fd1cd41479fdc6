"""The reduction: every stored element is a sum of every contribution, exactly once."""

from collections import Counter

from compiler.errors import ValidationError
from compiler.ir.body import Add, Body, Literal, Max, Operand
from compiler.ir.distribution import Distribution, Partial, Replicated, Sharded
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Stage, Store
from compiler.validate.flow import in_flow_order, sources_of


def check_reduction(program: Program) -> None:
    """Follow what each buffer holds from the loads to the stores, and compare with its claim."""
    held: dict[str, Distribution] = {}
    for stage in in_flow_order(program):
        _follow(program, stage, held)


def _follow(program: Program, stage: Stage, held: dict[str, Distribution]) -> None:
    sources = [held[name] for name in sources_of(program, stage)]
    match stage.kind:
        case Load(tensor):
            value = _loaded(program, tensor)
        case MatmulTiles():
            value = _product(stage, *sources)
        case Recv():
            (value,) = sources
        case Fold(body):
            value = _folded(stage, body, sources)
        case Map(body):
            value = _mapped(stage, body, sources[0])
        case Store():
            _stored(stage, sources[0])
            return
    (out,) = stage.outs
    claimed = program.buffer_by_name[out].distribution
    if value != claimed:
        raise ValidationError(
            "DistributionMismatch",
            out,
            f"buffer {out!r} is declared as {claimed}, but {stage.name!r} makes it a {value}",
        )
    held[out] = value


def _loaded(program: Program, name: str) -> Distribution:
    tensor = program.tensor_by_name[name]
    piece = tensor.slice_of
    if piece is None:
        return Replicated()
    contraction = {program.claim.left: "cols", program.claim.right: "rows"}.get(piece.whole)
    if piece.axis != contraction:
        raise ValidationError(
            "SliceAxis",
            name,
            f"tensor {name!r} is a slice of {piece.whole!r} along its {piece.axis}, which is not "
            f"the contraction axis",
        )
    if not 0 <= piece.index < piece.count:
        raise ValidationError(
            "SliceIndex",
            name,
            f"tensor {name!r} is slice {piece.index} of {piece.count} of {piece.whole!r}, which "
            f"does not exist",
        )
    return Sharded("k", piece.index, piece.count)


def _product(stage: Stage, left: Distribution, right: Distribution) -> Distribution:
    if left != right:
        raise ValidationError(
            "SliceMismatch",
            stage.name,
            f"product {stage.name!r} multiplies {left} of A with {right} of B; both operands must "
            f"hold the same slice of the contraction axis",
        )
    if isinstance(left, Sharded) and left.count > 1:
        return Partial((left.index,), left.count)
    return Replicated()


def _folded(stage: Stage, body: Body, sources: list[Distribution]) -> Distribution:
    for source in sources:
        if not isinstance(source, Partial):
            raise ValidationError(
                "FoldOfWhole", stage.name, f"fold {stage.name!r} adds a {source}, not a partial sum"
            )
    partials = [source for source in sources if isinstance(source, Partial)]
    counts = {partial.count for partial in partials}
    if len(counts) != 1:
        raise ValidationError(
            "FoldOfStrangers",
            stage.name,
            f"fold {stage.name!r} adds partial sums of {sorted(counts)} contributions",
        )
    contributions = _sum(stage, body, partials)
    for index, times in sorted(contributions.items()):
        if times > 1:
            raise ValidationError(
                "ContributionRepeated",
                stage.name,
                f"fold {stage.name!r} adds the partial sum of slice {index} {times} times",
            )
    (count,) = counts
    if len(contributions) == count:
        return Replicated()
    return Partial(tuple(sorted(contributions)), count)


def _sum(stage: Stage, body: Body, partials: list[Partial]) -> Counter[int]:
    match body:
        case Operand(index):
            return Counter(partials[index].contributions)
        case Add(left, right):
            return _sum(stage, left, partials) + _sum(stage, right, partials)
        case Max():
            raise ValidationError(
                "MaxOfPartials",
                stage.name,
                f"fold {stage.name!r} takes the maximum of partial sums, which is no sum",
            )
        case Literal():
            raise ValidationError(
                "LiteralInFold",
                stage.name,
                f"fold {stage.name!r} adds the literal {body}, which is part of no product",
            )


def _mapped(stage: Stage, body: Body, source: Distribution) -> Distribution:
    if isinstance(source, Replicated):
        return source
    raise ValidationError(
        "MapOfPartial",
        stage.name,
        f"map {stage.name!r} applies {body} to a {source}; it must come after the reduction",
    )


def _stored(stage: Stage, value: Distribution) -> None:
    if isinstance(value, Partial):
        missing = sorted(set(range(value.count)) - set(value.contributions))
        raise ValidationError(
            "PartialStored",
            stage.name,
            f"store {stage.name!r} would store a {value}: the contributions of slices "
            f"{', '.join(map(str, missing))} are missing",
        )
    if isinstance(value, Sharded):
        raise ValidationError(
            "PartialStored", stage.name, f"store {stage.name!r} would store a {value}"
        )
