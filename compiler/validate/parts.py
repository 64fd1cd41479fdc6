"""Parts: what the chips hold of each value is what its layout says.

Every chip has the part that it must have, and no other has any. Slices cover their axis exactly
once, in the order of the chips and in whole tiles, alike in all values that run along it.
"""

from collections.abc import Iterator

from compiler.errors import ValidationError
from compiler.ir.graph import Value
from compiler.ir.layout import At, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor

CALLED = {"m": "rows", "k": "contraction", "n": "columns"}
"""What the axes of the problem are called."""

Span = tuple[int, int]
"""The first element and the one behind the last."""
Slices = dict[int, tuple[Span, str]]
"""By place along an axis of the mesh, what is held there, and the tensor that was found first."""


def check_parts(program: Program) -> None:
    """Refuse the first value whose parts are not those that its layout says."""
    for value, why in wrong_parts(program):
        raise ValidationError("Parts", value, why)


def wrong_parts(program: Program) -> Iterator[tuple[str, str]]:
    """Everything that is wrong with the parts of values: the value's name, and why."""
    agreed: dict[tuple[str, str], tuple[str, dict[int, Span]]] = {}
    for value in program.graph.values:
        tensors = program.tensors_of.get(value.name, ())
        found = list(_placed(program.mesh, value, tensors))
        for position, dim in enumerate(value.dims):
            axis = _axis_of(program.mesh, value, dim)
            if axis is None:
                found += _wholes(value, position, tensors)
                continue
            held, unlike = _slices(program.mesh, value, position, axis, tensors)
            found += unlike
            found += _covers(value, position, axis, program.tile, held)
            spans = {place: span for place, (span, _) in held.items()}
            other, first = agreed.setdefault((axis, dim), (value.name, spans))
            found += _agree(dim, other, first, value.name, spans)
        yield from ((value.name, why) for why in found)


def slice_counts(program: Program) -> dict[str, int]:
    """By axis of the problem along which any value is cut, the most slices of one value."""
    counts: dict[str, int] = {}
    for value in program.graph.values:
        for position, dim in enumerate(value.dims):
            axis = _axis_of(program.mesh, value, dim)
            if axis is not None:
                tensors = program.tensors_of.get(value.name, ())
                held, _ = _slices(program.mesh, value, position, axis, tensors)
                counts[dim] = max(counts.get(dim, 0), len(held))
    return counts


def _axis_of(mesh: Mesh, value: Value, dim: str) -> str | None:
    """The axis of the mesh along which a value is cut along ``dim``."""
    placed = zip(mesh.names, value.layout, strict=True)
    return next((name for name, placement in placed if placement == Shard(dim)), None)


def _placed(mesh: Mesh, value: Value, tensors: tuple[Tensor, ...]) -> Iterator[str]:
    """Whether each chip that is to hold a part holds one, and no other chip any."""
    if not tensors:
        yield f"no tensor holds {value.name} or a slice of it"
        return
    held: dict[int, list[str]] = {}
    for tensor in tensors:
        held.setdefault(tensor.chip, []).append(tensor.name)
    homes = {axis: p.index for axis, p in enumerate(value.layout) if isinstance(p, At)}
    for chip in range(mesh.chip_count):
        here, coordinates = held.pop(chip, []), mesh.coordinates(chip)
        wanted = int(all(coordinates[axis] == index for axis, index in homes.items()))
        if len(here) > 1:
            yield f"chip {chip} holds {len(here)} tensors of {value.name}: {', '.join(here)}"
        elif len(here) < wanted:
            yield f"chip {chip} holds no part of {value.name}, which it must"
        elif len(here) > wanted:
            yield f"{here[0]} is on chip {chip}, which is to hold no part of {value.name}"
    for chip, names in held.items():
        yield f"{names[0]} is on chip {chip} of {mesh.chip_count}"


def _span(tensor: Tensor, position: int) -> Span:
    begin = (tensor.part.row, tensor.part.col)[position]
    return begin, begin + (tensor.rows, tensor.cols)[position]


def _extent(value: Value, position: int) -> int:
    return (value.padded_rows, value.padded_cols)[position]


def _wholes(value: Value, position: int, tensors: tuple[Tensor, ...]) -> Iterator[str]:
    """Along what is not cut, every tensor has all elements."""
    extent, what = _extent(value, position), ("rows", "columns")[position]
    for tensor in tensors:
        begin, end = _span(tensor, position)
        if (begin, end) != (0, extent):
            yield f"{tensor.name} has {end - begin} {what} of {extent}" + (
                f", from {begin} on" if begin else ""
            )


def _slices(
    mesh: Mesh, value: Value, position: int, axis: str, tensors: tuple[Tensor, ...]
) -> tuple[Slices, list[str]]:
    """By place along ``axis``, the slice that the chips there hold; and those that hold another."""
    held: Slices = {}
    unlike: list[str] = []
    index, size = mesh.index(axis), mesh.size(axis)
    for tensor in tensors:
        if not 0 <= tensor.chip < mesh.chip_count:
            continue
        place, span = mesh.coordinates(tensor.chip)[index], _span(tensor, position)
        first, name = held.setdefault(place, (span, tensor.name))
        if first != span:
            unlike.append(
                f"{tensor.name} holds {_said(span)} of {value.name} along {value.dims[position]}, "
                f"but {name}, which is at {place} of {size} along {axis} too, {_said(first)}"
            )
    return held, unlike


def _covers(value: Value, position: int, axis: str, tile: int, held: Slices) -> Iterator[str]:
    """What keeps slices from covering a value in the order of an axis, in whole tiles."""
    extent, dim = _extent(value, position), value.dims[position]
    reached, fits = 0, True
    for (begin, end), name in sorted(held.values()):
        if begin > reached:
            yield (
                f"elements {reached} to {begin - 1} of {value.name}'s {CALLED[dim]} are in no slice"
            )
        if begin < reached:
            yield (
                f"{name} holds elements from {begin} on, which another slice of {value.name} holds "
                f"too"
            )
        if begin % tile:
            yield f"{name} begins at element {begin} of {value.name}, within a tile of {tile}"
        fits = fits and begin == reached
        reached = max(reached, end)
    if held and reached != extent:
        yield f"the slices of {value.name} end at {reached} of {extent}"
    begins = [span[0] for _, (span, _) in sorted(held.items())]
    if fits and begins != sorted(begins):
        yield f"the slices of {value.name} are not in the order of their chips along {axis}"


def _agree(
    dim: str, other: str, first: dict[int, Span], name: str, spans: dict[int, Span]
) -> Iterator[str]:
    """Values that are cut along one axis of the problem are cut at the same places."""
    if len(first) != len(spans):
        yield f"{other} has {len(first)} slices and {name} has {len(spans)} slices"
    for place in sorted(first.keys() & spans.keys()):
        if first[place] != spans[place]:
            yield (
                f"slice {place} of {dim} is {_said(first[place])} in {other}, but "
                f"{_said(spans[place])} in {name}"
            )


def _said(span: Span) -> str:
    return f"elements {span[0]} to {span[1] - 1}"
