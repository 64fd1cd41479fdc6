"""Random finished programs, and such changes of them as cost cycles."""

import random
from dataclasses import replace

from compiler.flow.components import Component, components
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.buffer import Depth
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Map, Merge, Split
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.pipeline import compile, run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import Target, get
from compiler.workload import MatmulSpec


def random_target(rng: random.Random, *, barriers: bool = True) -> Target:
    target = get(
        rng.choice(["token-mesh", "semaphore-mesh"]),
        tile=rng.choice([1, 2, 4]),
        link_width_bits=rng.choice([1, 8, 24, 256]),
        link_latency_cycles=rng.randint(1, 30),
        link_ports=32,
        compute_engines=3,
    )
    if barriers and rng.random() < 0.25:
        target = replace(target, handoffs=(*target.handoffs[:1], "Barrier"))
    return target


def random_program(seed: int) -> Program:
    """A product that is summed on one chip."""
    rng = random.Random(seed)
    target, chips = random_target(rng), rng.choice([1, 2, 3, 4, 6, 9])
    extents = (rng.randint(1, 5 * target.tile) for _ in "mnk")
    spec = MatmulSpec(*extents, map=rng.choice([None, Max(Operand(0), Literal(0))]))
    plan = ShardPlan(chips, rng.choice(["star", "tree", "ring"]))
    return compile(spec.padded_k(target.tile * chips), target, plan)


def random_plan(rng: random.Random, tile: int) -> tuple[MatmulSpec, ShardPlan]:
    """A product that may be cut along any two axes, evenly or not."""
    mesh = rng.choice(
        [Mesh(tp=rng.choice([2, 3, 4, 6])), Mesh(row=rng.choice([1, 2, 3]), col=rng.choice([2, 3]))]
    )
    dims = rng.sample("mnk", len(mesh.axes))
    if "k" not in dims and rng.random() < 0.7:
        dims[0] = "k"
    uneven = rng.random() < 0.5
    size = {dim: axis.size for dim, axis in zip(dims, mesh.axes, strict=True)}
    extents = (
        tile * (size.get(dim, 1) * rng.randint(1, 4) + uneven * rng.randrange(size.get(dim, 1)))
        for dim in "mnk"
    )
    reduce = rng.choice(["star", "tree", "ring"])
    plan = ShardPlan(
        mesh,
        reduce,
        shard=dict(zip(dims, mesh.names, strict=True)),
        result=rng.choice(["home", "all"]),
        uneven=uneven,
    )
    return MatmulSpec(*extents), plan


def random_mesh_program(seed: int) -> Program:
    rng = random.Random(f"mesh {seed}")
    target = random_target(rng)
    spec, plan = random_plan(rng, target.tile)
    barriers = plan.reduce == "ring" and plan.result == "all"
    return compile(spec, without_barriers(target) if barriers else target, plan)


def without_barriers(target: Target) -> Target:
    """The target with tokens in place of barriers, at which a link is not shared."""
    provided = ("Token" if name == "Barrier" else name for name in target.handoffs)
    return replace(target, handoffs=tuple(dict.fromkeys(provided)))


def random_ring(seed: int) -> Program:
    """A ring of chips whose result ends up at home, on all of them, or scattered."""
    rng = random.Random(f"ring {seed}")
    target, chips = random_target(rng, barriers=False), rng.choice([2, 2, 3, 3, 4])
    spec = MatmulSpec(
        target.tile * rng.randint(1, 2),
        target.tile * (chips + rng.randint(0, 2)),
        target.tile * rng.randint(chips, 2 * chips),
    )
    result = rng.choice(["home", "all", "scattered"])
    return compile(spec, target, ShardPlan(chips, "ring", result=result, uneven=True))


def shared_links(seed: int) -> Program:
    """Sums that reach their home by way of other chips, so that some edges share a link."""
    rng = random.Random(f"via {seed}")
    target = random_target(rng, barriers=False)
    chips, tile = rng.choice([3, 4, 6]), target.tile
    spec = MatmulSpec(rng.randint(1, 4) * tile, rng.randint(1, 3) * tile, 2 * chips * tile)
    program = partition(lower(spec, target), ShardPlan(chips, "star"), target)
    first = rng.choice(range(1, chips))

    def detoured(source: int) -> tuple[int, ...]:
        return () if source == first or rng.random() < 0.3 else (first,)

    chip = {stage.name: stage.chip for stage in program.stages}
    edges = tuple(
        replace(edge, via=detoured(chip[edge.source]))
        if chip[edge.source] != chip[edge.destination]
        else edge
        for edge in program.edges
    )
    return run_passes(replace(program, edges=edges), target)


def with_depths(program: Program, seed: int, most: int) -> Program:
    rng = random.Random(seed)
    buffers = (replace(b, depth=Depth(rng.randint(1, most))) for b in program.buffers)
    return replace(program, buffers=tuple(buffers))


def with_depth(program: Program, depth: int | None) -> Program:
    """The program with one depth for all buffers."""
    given = None if depth is None else Depth(depth)
    return replace(program, buffers=tuple(replace(b, depth=given) for b in program.buffers))


def with_links(program: Program, seed: int) -> Program:
    """The program on links that differ in width, pace and latency."""
    rng = random.Random(f"links {seed}")
    links = tuple(
        replace(
            link,
            width_bits=rng.choice([1, 8, 24, 256]),
            flit_cycles=rng.choice([1, 1, 2, 3]),
            latency_cycles=rng.randint(1, 60),
        )
        for link in program.links
    )
    return replace(program, links=links)


def parts_of(program: Program, rounds: int | None = None) -> list[Component]:
    """The components of a program, as they are or with another number of rounds."""
    parts = components(program)
    return parts if rounds is None else [replace(part, rounds=rounds) for part in parts]


def falling_through(program: Program, seed: int | None = None) -> Program:
    """The program in which beats fall through all buffers that they may, or through some of them.

    What passes have decided is decided anew.
    """
    rng = random.Random(f"falling {seed}")
    filled = {
        name
        for stage in program.stages
        if isinstance(stage.kind, Fold | Map | Copy | Merge | Split)
        for name in stage.outs
    }
    buffers = (
        replace(b, fall_through=b.name in filled and (seed is None or rng.random() < 0.6))
        for b in with_depth(program, None).buffers
    )
    return run_passes(replace(program, buffers=tuple(buffers), memory=()), program.target)


def random_falling_program(seed: int) -> Program:
    """One of the three kinds, in which beats fall through some buffers."""
    draw = (random_program, random_mesh_program, shared_links)[seed % 3]
    return falling_through(draw(seed), seed)
