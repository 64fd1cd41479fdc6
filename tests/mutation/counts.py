"""Depths, block counts, walks and the order of loops."""

from dataclasses import replace

from compiler.ir.buffer import Depth
from compiler.ir.graph import LoopOrder
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Stage
from compiler.ir.walk import Loop, Walk
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    is_ring,
    last_product,
    loads,
    product_of,
    store,
    sums,
)


def walked(program: Program, stage: Stage, *loops: Loop) -> Program:
    return changed(program, stage.name, kind=replace(stage.kind, walk=Walk(loops)))


def blocks_changed(program: Program, by: int) -> Program:
    product = last_product(program)
    assert isinstance(product.kind, MatmulTiles)
    return changed(program, product.name, kind=MatmulTiles(product.kind.block_count + by))


def ordered(program: Program, order: LoopOrder | None) -> Program:
    """``program`` whose graph states another order of the loops over result tiles."""
    product = replace(product_of(program), order=order)
    return replace(program, graph=replace(program.graph, operations=(product,)))


def deepened(program: Program, depth: int | None) -> Program:
    """``program`` with a depth in place of that of the deepest buffer of sums."""
    deepest = max(sums(program), key=lambda buffer: buffer.depth_pages)
    return changed(program, deepest.name, depth=None if depth is None else Depth(depth))


@breaks("well formed: BufferDepth")
def a_buffer_has_no_room(program: Program) -> Program | None:
    return deepened(program, 0)


@breaks("well formed: BufferDepth")
def a_buffer_has_less_than_no_room(program: Program) -> Program | None:
    return deepened(program, -2)


@breaks("no deadlock: has no room for a page")
def a_depth_is_left_open(program: Program) -> Program | None:
    return deepened(program, None)


@breaks("no deadlock: with unbounded buffers; room was waited for in")
def the_deepest_buffer_holds_one_page(program: Program) -> Program | None:
    """Where links bound the run, it need not hold more, nor where it is not on the longest way."""
    deepest = max(buffer.depth_pages for buffer in sums(program))
    if deepest == 1 or program.schedule.bound != "compute" or is_ring(program):
        return None
    return deepened(program, 1)


@breaks("no deadlock: with unbounded buffers; room was waited for in")
def every_buffer_holds_one_page(program: Program) -> Program | None:
    if all(buffer.depth_pages == 1 for buffer in sums(program)):
        return None
    for buffer in program.buffers:
        program = changed(program, buffer.name, depth=Depth(1))
    return program


@breaks("counting: receives", "layout: CountingImbalance")
def a_product_sums_a_block_too_many(program: Program) -> Program | None:
    return blocks_changed(program, 1)


@breaks("counting: receives")
def a_product_sums_a_block_too_few(program: Program) -> Program | None:
    product = last_product(program)
    assert isinstance(product.kind, MatmulTiles)
    return blocks_changed(program, -1) if product.kind.block_count > 1 else None


@breaks("reduced once: takes 0 pages per result", "layout: BlockCount")
def a_product_sums_no_block(program: Program) -> Program | None:
    return changed(program, last_product(program).name, kind=MatmulTiles(0))


@breaks("reduced once: pages of 'a' and", "counting: receives")
def a_load_stops_early(program: Program) -> Program | None:
    load = loads(program)[-1]
    outer, *inner = load.kind.walk.loops
    return walked(program, load, replace(outer, count=outer.count - 1), *inner)


@breaks("reduced once: pages of 'a' and", "counting: receives")
def a_load_goes_over_its_tensor_twice(program: Program) -> Program | None:
    load = loads(program)[-1]
    return walked(program, load, Loop(2, 0), *load.kind.walk.loops)


@breaks("reduced once: reads page", "layout: WalkLeavesTensor")
def a_load_leaves_its_tensor(program: Program) -> Program | None:
    load = loads(program)[-1]
    *outer, inner = load.kind.walk.loops
    pages = program.tensor_by_name[load.kind.tensor].page_count
    return walked(program, load, *outer, replace(inner, count=2, stride=pages))


@breaks("reduced once: ", "layout: ")
def a_load_walks_its_loops_in_another_order(program: Program) -> Program | None:
    load = loads(program)[-2]
    outer, middle, inner = load.kind.walk.loops
    other = Walk((middle, inner, outer))
    return (
        None if other.normal() == load.kind.walk.normal() else walked(program, load, *other.loops)
    )


@breaks("counting: it is not said how many pages")
def a_load_does_not_know_its_way(program: Program) -> Program | None:
    load = loads(program)[-1]
    return changed(program, load.name, kind=replace(load.kind, walk=None))


@breaks("reduced once: output tiles in", "layout: CountingImbalance")
def a_store_stops_early(program: Program) -> Program | None:
    stage = store(program)
    outer, inner = stage.kind.walk.loops
    return walked(program, stage, replace(outer, count=outer.count - 1), inner)


@breaks("reduced once: to the place of tile", "layout: OutputCoverage")
def a_store_writes_one_tile_over_another(program: Program) -> Program | None:
    stage = store(program)
    outer, inner = stage.kind.walk.loops
    return walked(program, stage, outer, replace(inner, stride=0))


@breaks("reduced once: to the place of tile", "layout: ResultOrder")
def a_store_takes_columns_for_rows(program: Program) -> Program | None:
    stage = store(program)
    return walked(program, stage, *reversed(stage.kind.walk.loops))


@breaks("reduced once: writes page", "layout: WalkLeavesTensor")
def a_store_leaves_its_tensor(program: Program) -> Program | None:
    stage = store(program)
    outer, inner = stage.kind.walk.loops
    return walked(program, stage, outer, replace(inner, stride=inner.stride + 9))


@breaks("layout: LoopOrder")
def the_loops_are_claimed_to_run_the_other_way(program: Program) -> Program | None:
    return ordered(program, LoopOrder("nm"))


@breaks("well formed: LoopOrder")
def the_loops_are_claimed_to_run_in_no_known_order(program: Program) -> Program | None:
    return ordered(program, LoopOrder("mk"))


@breaks("layout: LoopOrder")
def there_is_no_order_of_loops(program: Program) -> Program | None:
    return ordered(program, None)
