"""Obligations ``counting`` and ``no deadlock``: the token graph, run with the program's depths."""

from collections.abc import Iterator

from compiler.check.page_flow import FlowError, in_order, sources_of
from compiler.check.token_run import TokenRun, check_flow
from compiler.check.unbounded_run import unbounded_end
from compiler.ir.certificate import Obligation
from compiler.ir.edge import Barrier, Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Store
from compiler.ir.walk import Loop, Walk

COUNTING = (
    "Over a whole run, the pages reserved, pushed and popped are the same for every buffer, and "
    "the stated trips and work plan are what is done."
)
NO_DEADLOCK = (
    "With the chosen depths every stage comes to its end, and no later than it would with "
    "unbounded buffers."
)


def counting(program: Program) -> Obligation:
    """Count what every stage puts and takes."""
    violations: list[str] = []
    pushed: dict[str, int] = {}
    popped: dict[str, int] = {}
    try:
        order = in_order(program)
    except FlowError as error:
        return Obligation("counting", COUNTING, (), (str(error),))
    for stage in order:
        sources = sources_of(program, stage)
        made = 0
        match stage.kind:
            case Load(_, walk):
                made = walk.page_count if walk else 0
            case MatmulTiles(block_count):
                per_result = max(1, block_count or 0)
                made = min(pushed[name] // per_result for name in sources)
                popped |= dict.fromkeys(sources, made * per_result)
            case Recv() | Fold() | Map():
                made = min(pushed[name] for name in sources)
                popped |= dict.fromkeys(sources, made)
            case Store(_, walk):
                popped |= dict.fromkeys(sources, walk.page_count if walk else 0)
        pushed |= dict.fromkeys(stage.outs, made)
    for name, count in pushed.items():
        taken = popped.get(name, 0)
        if taken != count:
            violations.append(f"{name}: reserved {count}, pushed {count}, popped {taken} pages")
    violations += _trips(program)
    violations += _plan(program)
    evidence = (("buffers", len(pushed)), ("pages", sum(pushed.values())))
    return Obligation("counting", COUNTING, evidence, tuple(violations))


def no_deadlock(program: Program) -> Obligation:
    """Run the token graph with the program's depths and with unbounded buffers."""
    violations = list(stuck(program))
    pages = _result_pages(program)
    if violations or pages < 1:
        violations = violations or ["no result page is stored"]
        return Obligation("no deadlock", NO_DEADLOCK, (("result pages", pages),), tuple(violations))
    run, unbounded = TokenRun(program, pages).run(), unbounded_end(program, pages)
    if run.end > unbounded:
        violations.append(
            f"{pages} result pages take {run.end} cycles, but {unbounded} with unbounded buffers; "
            f"room was waited for in {', '.join(run.waited)}"
        )
    evidence = (
        ("result pages", pages),
        ("pages run", run.pages_run),
        ("cycles", run.end),
        ("cycles with unbounded buffers", unbounded),
    )
    return Obligation("no deadlock", NO_DEADLOCK, evidence, tuple(violations))


def _result_pages(program: Program) -> int:
    return min(
        (
            stage.kind.walk.page_count
            for stage in program.stages
            if isinstance(stage.kind, Store) and stage.kind.walk
        ),
        default=0,
    )


def stuck(program: Program) -> Iterator[str]:
    """Whatever can never move, so that the token graph cannot be run."""
    try:
        check_flow(program)
    except FlowError as error:
        yield str(error)
    for buffer in program.buffers:
        if not buffer.depth_pages or buffer.depth_pages < 1:
            yield f"{buffer.name} has no room for a page"
    for edge in program.edges:
        if isinstance(edge.handoff, Semaphore) and edge.handoff.ready_count != 1:
            yield (
                f"{edge.name} waits for {edge.handoff.ready_count} receivers, but only one raises "
                f"{edge.handoff.ready}"
            )
        if isinstance(edge.handoff, Barrier) and edge.handoff.group not in {
            collective.name for collective in program.collectives
        }:
            yield f"{edge.name} waits at the barrier of {edge.handoff.group!r}, which nobody joins"
        if program.crosses(edge) and not edge.route:
            yield f"{edge.name} crosses chips, but no link carries it"


def _trips(program: Program) -> Iterator[str]:
    """Whether the stated trips are what the walks do."""
    moved: set[str] = set()
    for stage in program.stages:
        if isinstance(stage.kind, Load | Store) and stage.kind.walk:
            pages = stage.kind.walk.distinct()
            moved.add(stage.kind.tensor)
            stated = [(t.pages, t.times) for t in program.trips if t.tensor == stage.kind.tensor]
            done = (pages, stage.kind.walk.page_count // max(1, pages))
            if stated != [done]:
                yield f"{stage.kind.tensor}: {done[0]} pages move {done[1]} times, stated {stated}"
    for trip in program.trips:
        if trip.tensor not in moved:
            yield f"{trip.tensor}: no page moves, stated {[(trip.pages, trip.times)]}"


def _plan(program: Program) -> Iterator[str]:
    """Whether the result tiles are stored in the order of the work plan."""
    work = program.work
    if work is None:
        yield "the program has no work plan"
        return
    m, n = Loop(work.m_tiles, work.n_tiles), Loop(work.n_tiles, 1)
    planned = Walk((m, n) if work.order == "mn" else (n, m)).normal()
    for stage in program.stages:
        if not isinstance(stage.kind, Store) or stage.kind.walk is None:
            continue
        if stage.kind.walk.normal() != planned:
            yield (
                f"{stage.name} walks {stage.kind.walk}, which is not the order {work.order} of "
                f"{work.m_tiles} x {work.n_tiles} tiles that is planned"
            )
