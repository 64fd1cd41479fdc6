"""Share: let the edges between two chips take turns on one link."""

from dataclasses import replace
from math import gcd

from compiler.errors import SharedLinkCircleError
from compiler.flow.counts import page_counts
from compiler.flow.errors import FlowError
from compiler.flow.order import in_flow_order
from compiler.flow.rounds import round_of
from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.collective import Collective
from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import Merge, Recv, Split, Stage
from compiler.passes.hops import Hop, unlinked_by_hop


def shared(program: Program) -> Program:
    """Where several edges cross between the same two chips, put them together and apart again.

    A merge at the sender takes their pages in turns, in proportion to how many each has; one edge
    crosses; a split at the receiver puts them into the buffers that they were to land in. The order
    of turns never changes, so there is no arbiter. Where pages would wait for each other in a
    circle, those that others are made of take the first turns. Pages must be counted: walks are
    chosen.

    Raises
    ------
    SharedLinkCircleError
        If pages would wait for each other in a circle in any case.
    """
    counts: dict[str, int] | None = None
    refused: FlowError | None = None
    while crowded := _crowded_hop(program):
        counts = page_counts(program) if counts is None else counts
        hop, edges = crowded
        place = {stage.name: number for number, stage in enumerate(in_flow_order(program))}
        downstream = sorted(edges, key=lambda edge: place[edge.source])
        for order in (edges, downstream):
            joined = _share(program, hop, order, counts)
            try:
                round_of(joined)
            except FlowError as error:
                refused = error
                continue
            program = joined
            break
        else:
            names = tuple(edge.name for edge in edges)
            source, destination = hop
            raise SharedLinkCircleError(
                edges=names, source=source, destination=destination
            ) from refused
    return program


def _crowded_hop(program: Program) -> tuple[Hop, list[Edge]] | None:
    """A hop that several edges cross, and these. Sharing it may change the ends of other edges."""
    hops = unlinked_by_hop(program).items()
    return next(((hop, edges) for hop, edges in hops if len(edges) > 1), None)


def _share(program: Program, hop: Hop, edges: list[Edge], counts: dict[str, int]) -> Program:
    source, destination = hop
    receives = [program.stage_by_name[edge.destination] for edge in edges]
    senders = [program.stage_by_name[edge.source] for edge in edges]
    landings = tuple(receive.outs[0] for receive in receives)
    turns = _turns([counts[edge.buffer] for edge in edges])
    sent = [program.buffer_by_name[edge.buffer] for edge in edges]
    merge, recv = f"c{source}.merge_c{destination}", f"c{destination}.recv_c{source}"
    split, merged = f"c{destination}.split_c{source}", f"c{source}.merged_c{destination}"
    landed = f"c{destination}.landing_c{source}"
    holds = tuple(dict.fromkeys(held for turn in turns for held in sent[turn].holds))
    stages = (
        Stage(merge, Merge(turns), tuple(b.name for b in sent), (merged,), senders[0].site),
        Stage(recv, Recv(), outs=(landed,), site=receives[0].site),
        Stage(split, Split(turns), (landed,), landings, receives[0].site),
    )
    joint = replace(sent[0], holds=holds, site=None, depth=None, fall_through=False)
    buffers = (
        replace(joint, name=merged, kind=BufferKind.INTERM),
        replace(joint, name=landed, kind=BufferKind.FIFO, fall_through=False),
    )
    ways = (
        *(Edge(f"{edge.buffer}->{merge}", edge.source, edge.buffer, merge) for edge in edges),
        Edge(f"{merge}->{recv}", merge, merged, recv, edges[0].handoff),
        Edge(f"{recv}->{split}", recv, landed, split),
    )
    gone = {stage.name for stage in receives}

    def after(edge: Edge) -> Edge:
        """What left a receive leaves the split now, named by its buffer, as it leaves several."""
        if edge.source not in gone:
            return edge
        return replace(edge, name=f"{edge.buffer}->{edge.destination}", source=split)

    def local(buffer: Buffer) -> Buffer:
        stays = buffer.name in {edge.buffer for edge in edges}
        return replace(buffer, kind=BufferKind.FIFO) if stays else buffer

    def without(collective: Collective) -> Collective:
        kept = tuple(name for name in collective.stages if name not in gone)
        return replace(collective, stages=kept)

    return replace(
        program,
        stages=(*(s for s in program.stages if s.name not in gone), *stages),
        buffers=(*map(local, program.buffers), *buffers),
        edges=(*(after(edge) for edge in program.edges if edge not in edges), *ways),
        collectives=tuple(map(without, program.collectives)),
    )


def _turns(counts: list[int]) -> tuple[int, ...]:
    """Whose page each one of a round is: spread over the round as evenly as they go."""
    unit = gcd(*counts) or 1
    shares = [count // unit for count in counts]
    places = sorted(
        ((number + 0.5) / share, edge)
        for edge, share in enumerate(shares)
        for number in range(share)
    )
    return tuple(edge for _, edge in places)
