"""How many cycles a round takes at least, and what needs them."""

from compiler.flow.components import Component
from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Recv, Stage
from compiler.latencies import FIFO_CYCLES


def pair_cycles(program: Program, product: Stage) -> int:
    """Cycles from one pair of operand beats to the next, at the best.

    A load fills the room that a beat leaves behind in the cycle after, so only a buffer of a single
    beat cannot give one in every cycle.
    """
    depths = [program.buffer_by_name[name].depth_pages for name in product.ins]
    single = any(depth is not None and depth * program.tile == 1 for depth in depths)
    return 1 + FIFO_CYCLES if single else 1


def result_cycles(program: Program, product: Stage) -> int:
    """Cycles for which a product takes pairs of beats for one result page."""
    assert isinstance(product.kind, MatmulTiles)
    return (product.kind.block_count or 1) * program.tile * pair_cycles(program, product)


def flits_of_a_beat(program: Program, edge: Edge) -> tuple[int, int]:
    """Flits of a beat of an edge between chips, and cycles for which each holds the link."""
    assert edge.link is not None
    link = program.link_by_name[edge.link]
    page = program.buffer_by_name[edge.buffer].page
    return -(-page.beat_bits // link.width_bits), link.flit_cycles


def round_cycles(program: Program, part: Component) -> tuple[int, str]:
    """Cycles from one round of a component to the next in the steady state, and what sets them."""
    bounds: list[tuple[int, str]] = []
    work = [0]
    for stage in part.stages:
        if isinstance(stage.kind, MatmulTiles):
            work.append(part.share[stage.outs[0]] * result_cycles(program, stage))
        elif isinstance(stage.kind, Recv):
            (edge,) = program.edges_by_destination[stage.name]
            flits, flit_cycles = flits_of_a_beat(program, edge)
            beats = part.share[edge.buffer] * program.buffer_by_name[edge.buffer].page.beats
            bounds.append((beats * flits * flit_cycles, f"link {edge.link}"))
    return max([(max(work), "compute"), *bounds], key=lambda bound: bound[0])
