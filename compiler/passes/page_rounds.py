"""Rounds of pages: which chip owns each page of a result, and which way it goes, round by round."""

from math import isqrt

from compiler.ir.program import Program
from compiler.passes.page_turns import HOP_CYCLES, Pace, turns_of_products
from compiler.passes.page_ways import page_way
from compiler.passes.slices import Slices, scattered_of
from compiler.passes.switched_parts import WayMember
from compiler.shard_plan import ShardPlan
from compiler.targets import Target

MOST_PAGES = 256
"""Pages of a round, unless more are needed: turns are listed for all of them on every chip."""


def way_members(program: Program, plan: ShardPlan, cut: Slices, target: Target) -> list[WayMember]:
    """By chip, its place in the group that sums, and the ways of the pages there."""
    axis = str(plan.axis_of("k"))
    count = plan.mesh.size(axis)
    ways = [
        page_way(
            plan.reduce,
            count,
            owner,
            range(count) if plan.result == "all" else (owner,),
            summed=True,
        )
        for owner in range(count)
    ]
    pace = _pace(program, cut, target)
    members: dict[int, WayMember] = {}
    for group in plan.mesh.groups(axis):
        own = tuple(ways[owner] for owner in _owners(program, plan, cut, group[0]))
        turns = turns_of_products(own, pace)
        for index, chip in enumerate(group):
            members[chip] = WayMember(group, index, plan.mesh.index(axis), own, turns)
    return [members[chip] for chip in range(plan.chips)]


def _pace(program: Program, cut: Slices, target: Target) -> Pace:
    blocks = max(-(-len(span) // program.tile) for span in cut["k"])
    beat_bits = program.tile * program.numerics.total.bits
    beat = -(-beat_bits // target.link_width_bits) * target.link_flit_cycles
    return Pace(
        result=blocks * program.tile,
        hop=target.link_latency_cycles + HOP_CYCLES + beat,
        page=program.tile * beat,
    )


def _owners(program: Program, plan: ShardPlan, cut: Slices, chip: int) -> list[int]:
    """Whose the pages of a round are, in the order in which a chip's product makes them."""
    claim = program.claim
    tiles = {
        "m": _tiles(program, plan, cut, "m", claim.m, chip),
        "n": _tiles(program, plan, cut, "n", claim.n, chip),
    }
    count = plan.mesh.size(str(plan.axis_of("k")))
    pages = tiles["m"] * tiles["n"]
    if plan.result == "home":
        return [0] * _round(pages, 1, 1)
    if plan.result == "all":
        return [page % count for page in range(_round(pages, 1, count))]
    product = program.graph.product
    order = None if product is None else product.order
    outer, inner = order.loops if order else "mn"
    ((dim, spans),) = scattered_of(program, plan).items()
    slots = [
        index for index, span in enumerate(spans) for _ in range(-(-len(span) // program.tile))
    ]
    if dim == outer:
        return [owner for owner in slots for _ in range(tiles[inner])]
    return slots * (_round(pages, len(slots), 1) // len(slots))


def _tiles(program: Program, plan: ShardPlan, cut: Slices, dim: str, extent: int, chip: int) -> int:
    """Tiles along a dimension of what a chip makes of the result."""
    axis = plan.axis_of(dim)
    if axis is not None:
        along = plan.mesh.coordinates(chip)[plan.mesh.index(axis)]
        extent = len(cut[dim][along])
    return -(-extent // program.tile)


def _round(pages: int, unit: int, least: int) -> int:
    """Pages of a round, of which a run has a whole number.

    As many as may be listed, of whole units; of at least so many, if there are.
    """
    fits = [size for size in _divisors(pages) if size % unit == 0 and size >= min(least, pages)]
    return max((size for size in fits if size <= MOST_PAGES), default=min(fits))


def _divisors(number: int) -> list[int]:
    low = [size for size in range(1, isqrt(number) + 1) if number % size == 0]
    return sorted({*low, *(number // size for size in low)})
