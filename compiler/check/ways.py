"""Ways of pages: whether what a collective says to go by an algorithm does."""

from collections.abc import Callable, Iterable, Iterator

from compiler.ir.collective import Collective
from compiler.ir.layout import At, Placement, Replicate, Shard
from compiler.ir.program import Program
from compiler.ir.stage import Fold

STEPS: dict[str, Callable[[int, int, int], bool]] = {
    "chain": lambda near, far, size: abs(far - near) == 1,
    "ring": lambda near, far, size: far == (near + 1) % size,
    "ring-both-ways": lambda near, far, size: (far - near) % size in (1, size - 1),
    "star": lambda near, far, size: True,
    "tree": lambda near, far, size: (
        _is_power((far - near) % size) or _is_power((near - far) % size)
    ),
}
"""By algorithm, whether a page may go from one index along the axis to another."""

CHANGES: dict[str, tuple[type[Placement], type[Placement], bool]] = {
    "reduce": (Shard, At, True),
    "reduce_scatter": (Shard, Shard, True),
    "all_reduce": (Shard, Replicate, True),
    "all_gather": (Shard, Replicate, False),
    "gather": (Shard, At, False),
    "broadcast": (At, Replicate, False),
    "scatter": (At, Shard, False),
    "all_to_all": (Shard, Shard, False),
}
"""Kinds of collectives: how a value is given along the axis, how it is left, and whether what is
given is combined."""


LINKS: dict[str, Callable[[int], int]] = {
    "chain": lambda size: size - 1,
    "ring": lambda size: size - 1,
    "ring-both-ways": lambda size: size // 2,
    "star": lambda size: 1,
    "tree": lambda size: (size - 1).bit_length(),
}
"""By algorithm, the most links that a page passes on its way to its owner, or from there."""


def check_ways(
    program: Program, collective: Collective, hops: Iterable[tuple[int, int]], furthest: int
) -> Iterator[str]:
    """Every hop is one of the algorithm, along the axis, and the value changes as the kind says.

    ``furthest`` is the most links that a page passes before a chip of the collective stores it.
    """
    mesh, axis = program.mesh, program.mesh.index(collective.axis)
    size, name = mesh.axes[axis].size, collective.name
    if collective.kind not in CHANGES or collective.algorithm not in STEPS:
        yield f"{name} is a {collective.kind!r} by {collective.algorithm!r}, which is not known"
        return
    for source, destination in sorted({*hops}):
        near, far = mesh.coordinates(source), mesh.coordinates(destination)
        aside = near[:axis] + near[axis + 1 :] != far[:axis] + far[axis + 1 :]
        if aside or not STEPS[collective.algorithm](near[axis], far[axis], size):
            yield (
                f"{name} is said to be a {collective.algorithm} along {collective.axis}, but chip "
                f"{source} sends to chip {destination}"
            )
    _, made, combines = CHANGES[collective.kind]
    both = 2 if combines and made is Replicate else 1
    most = LINKS[collective.algorithm](size) * both
    if furthest > most:
        yield (
            f"{name} is said to be a {collective.algorithm} of {size} chips, in which a page "
            f"passes {most} links at the most, but one passes {furthest}"
        )
    yield from check_change(program, collective)


def check_change(program: Program, collective: Collective) -> Iterator[str]:
    """The kind is the change of placement that the graph states, from or to the home.

    What a product makes are contributions.
    """
    given, made, combines = CHANGES[collective.kind]
    axis = program.mesh.index(collective.axis)
    values = program.graph.value_by_name
    moved = program.graph.redistribution
    stages = map(program.stage_by_name.__getitem__, collective.stages)
    if combines != any(isinstance(stage.kind, Fold) for stage in stages):
        does = "combine nothing" if combines else "combine contributions"
        yield f"{collective.name} is a {collective.kind!r}, but its stages {does}"
    ends = [(collective.value, made)]
    if moved is None and not combines:
        yield (
            f"{collective.name} is a {collective.kind!r}, but the product leaves contributions "
            f"along {collective.axis}"
        )
    if moved is not None:
        ends.append((moved.input, given))
        if moved.axis != collective.axis:
            yield (
                f"{collective.name} is along {collective.axis}, but {moved.output!r} is "
                f"redistributed along {moved.axis}"
            )
    home, at = None, ends[0][0]
    for value, wanted in ends:
        placement = values[value].layout[axis]
        if not isinstance(placement, wanted):
            yield (
                f"{collective.name} is a {collective.kind!r}, but {value!r} is {placement} along "
                f"{collective.axis}"
            )
        if isinstance(placement, At):
            home, at = placement.index, value
    stated, along = collective.home, None
    if stated is not None:
        exists = stated in range(program.mesh.chip_count)
        along = program.mesh.coordinates(stated)[axis] if exists else -1
    if along != home:
        where = "nowhere" if stated is None else f"on chip {stated}"
        yield (
            f"{collective.name} is said to {'begin' if given is At else 'end'} {where}, but "
            f"{at!r} is {values[at].layout[axis]} along {collective.axis}"
        )


def _is_power(number: int) -> bool:
    """Whether a number is a power of two."""
    return number > 0 and number & (number - 1) == 0
