"""Obligations ``counting`` and ``no deadlock``: the token graph, run with the program's depths."""

from collections import defaultdict
from collections.abc import Iterator

from compiler.check.run import run_of
from compiler.flow.components import components
from compiler.flow.counts import page_counts
from compiler.flow.errors import FlowError
from compiler.flow.order import in_flow_order, sources_of
from compiler.flow.rounds import round_of
from compiler.ir.certificate import Obligation
from compiler.ir.edge import Barrier, Edge
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store

COUNTING = "Over a whole run, the pages pushed and popped are the same for every buffer."
NO_DEADLOCK = (
    "With the chosen depths every stage comes to its end, and the last of them no later than it "
    "would with unbounded buffers."
)


def counting(program: Program) -> Obligation:
    """Count what every stage puts and takes."""
    try:
        counts = page_counts(program)
    except FlowError as error:
        return Obligation("counting", COUNTING, (), (str(error),))
    evidence = (("buffers", len(counts)), ("pages", sum(counts.values())))
    lost = tuple(
        f"it is not said which pages of {stage.kind.tensor} {stage.name} stores"
        for stage in program.stages
        if isinstance(stage.kind, Store) and stage.kind.walk is None
    )
    return Obligation("counting", COUNTING, evidence, lost)


def no_deadlock(program: Program) -> Obligation:
    """Run the token graph with the program's depths and with unbounded buffers."""
    pages = result_pages(program)
    shown = (("result pages", pages),)
    violations = list(stuck(program))
    if violations or pages < 1:
        violations = violations or ["no result page is stored"]
        return Obligation("no deadlock", NO_DEADLOCK, shown, tuple(violations))
    run = run_of(program)
    if run.stuck:
        return Obligation("no deadlock", NO_DEADLOCK, shown, run.stuck)
    if run.end > run.unbounded_end:
        violations.append(
            f"{pages} result pages take {run.end} cycles, but {run.unbounded_end} with unbounded "
            f"buffers; room was waited for in {', '.join(run.waited)}"
        )
    evidence = (
        *shown,
        ("pages run", run.pages_run),
        ("cycles", run.end),
        ("cycles with unbounded buffers", run.unbounded_end),
    )
    return Obligation("no deadlock", NO_DEADLOCK, evidence, tuple(violations))


def result_pages(program: Program) -> int:
    """The most pages that are stored by one chip."""
    pages: defaultdict[int | None, int] = defaultdict(int)
    for stage in program.stages:
        if isinstance(stage.kind, Store) and stage.kind.walk:
            pages[stage.chip] += stage.kind.walk.page_count
    return max(pages.values(), default=0)


def stuck(program: Program) -> Iterator[str]:
    """Whatever can never move, so that the token graph cannot be run."""
    try:
        check_flow(program)
        parts = components(program)
    except FlowError as error:
        yield str(error)
        return
    for buffer in program.buffers:
        if not buffer.depth_pages or buffer.depth_pages < 1:
            yield f"{buffer.name} has no room for a page"
    collectives = {collective.name for collective in program.collectives}
    for edge in program.edges:
        if isinstance(edge.handoff, Barrier) and edge.handoff.group not in collectives:
            yield f"{edge.name} waits at the barrier of {edge.handoff.group!r}, which nobody joins"
        if program.crosses(edge) and not edge.link:
            yield f"{edge.name} crosses chips, but no link carries it"
    for part in parts:
        if part.rounds < 1:
            yield f"no page passes {part.stages[0].name}"
    yield from _uneven_barriers(program)


def check_flow(program: Program) -> None:
    """Check that the token graph can be run: products take from loads, and only they do.

    What is loaded where nothing is multiplied is to be combined or moved.

    Raises
    ------
    FlowError
        If they do not, or if pages would have to pass in a circle.
    """
    loaded: set[str] = set()
    if program.graph.product is not None:
        loaded = {n for s in program.stages if isinstance(s.kind, Load) for n in s.outs}
    for stage in in_flow_order(program):
        for name in sources_of(program, stage):
            if (name in loaded) != isinstance(stage.kind, MatmulTiles):
                pages = "pages of an operand" if name in loaded else "sums"
                message = f"{stage.name} takes {pages} from {name}"
                raise FlowError("Operands", stage.name, message)
    round_of(program)


def _uneven_barriers(program: Program) -> Iterator[str]:
    """Barriers at which some wait for pages that others never send."""
    edges: defaultdict[Barrier, list[Edge]] = defaultdict(list)
    for edge in program.edges:
        if isinstance(edge.handoff, Barrier) and program.crosses(edge):
            edges[edge.handoff].append(edge)
    counts = page_counts(program) if edges else {}
    for barrier, meeting in edges.items():
        pages = sorted({counts[edge.buffer] for edge in meeting})
        if len(pages) > 1:
            some = ", ".join(map(str, pages))
            yield f"edges of the barrier of {barrier.group!r} have {some} pages, not as many each"
