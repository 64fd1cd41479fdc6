"""Depths, block counts, walks, trips and the work plan."""

from dataclasses import replace

from compiler.ir.program import Program, Trip
from compiler.ir.stage import MatmulTiles, Stage
from compiler.ir.walk import Loop, Walk
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import last_product, loads, store, sums


def walked(program: Program, stage: Stage, *loops: Loop) -> Program:
    return changed(program, stage.name, kind=replace(stage.kind, walk=Walk(loops)))


def blocks_changed(program: Program, by: int) -> Program:
    product = last_product(program)
    assert isinstance(product.kind, MatmulTiles)
    return changed(program, product.name, kind=MatmulTiles(product.kind.block_count + by))


def deepened(program: Program, depth: int | None) -> Program:
    """``program`` with a depth in place of that of the deepest buffer of sums."""
    deepest = max(sums(program), key=lambda buffer: buffer.depth_pages)
    return changed(program, deepest.name, depth_pages=depth)


@breaks("no deadlock: has no room for a page", "distribution: BufferDepth")
def a_buffer_has_no_room(program: Program) -> Program | None:
    return deepened(program, 0)


@breaks("no deadlock: has no room for a page", "distribution: BufferDepth")
def a_buffer_has_less_than_no_room(program: Program) -> Program | None:
    return deepened(program, -2)


@breaks("no deadlock: has no room for a page")
def a_depth_is_left_open(program: Program) -> Program | None:
    return deepened(program, None)


@breaks("no deadlock: with unbounded buffers; room was waited for in")
def the_deepest_buffer_holds_one_page(program: Program) -> Program | None:
    """Where links bound the run, it need not hold more."""
    deepest = max(buffer.depth_pages for buffer in sums(program))
    return deepened(program, 1) if deepest > 1 and program.schedule.bound == "compute" else None


@breaks("no deadlock: with unbounded buffers; room was waited for in")
def every_buffer_holds_one_page(program: Program) -> Program | None:
    if all(buffer.depth_pages == 1 for buffer in sums(program)):
        return None
    for buffer in program.buffers:
        program = changed(program, buffer.name, depth_pages=1)
    return program


@breaks("counting: popped", "distribution: CountingImbalance")
def a_product_sums_a_block_too_many(program: Program) -> Program | None:
    return blocks_changed(program, 1)


@breaks("counting: popped")
def a_product_sums_a_block_too_few(program: Program) -> Program | None:
    product = last_product(program)
    assert isinstance(product.kind, MatmulTiles)
    return blocks_changed(program, -1) if product.kind.block_count > 1 else None


@breaks("reduced once: takes 0 pages per result", "distribution: BlockCount")
def a_product_sums_no_block(program: Program) -> Program | None:
    return changed(program, last_product(program).name, kind=MatmulTiles(0))


@breaks("reduced once: pages of A and", "counting: popped")
def a_load_stops_early(program: Program) -> Program | None:
    load = loads(program)[-1]
    outer, *inner = load.kind.walk.loops
    return walked(program, load, replace(outer, count=outer.count - 1), *inner)


@breaks("reduced once: pages of A and", "counting: popped")
def a_load_goes_over_its_tensor_twice(program: Program) -> Program | None:
    load = loads(program)[-1]
    return walked(program, load, Loop(2, 0), *load.kind.walk.loops)


@breaks("reduced once: reads page", "distribution: WalkLeavesTensor")
def a_load_leaves_its_tensor(program: Program) -> Program | None:
    load = loads(program)[-1]
    outer, *inner = load.kind.walk.loops
    return walked(program, load, replace(outer, stride=outer.stride + 9), *inner)


@breaks("reduced once: with block", "distribution: ContractionOrder")
def a_load_walks_its_loops_in_another_order(program: Program) -> Program | None:
    load = loads(program)[-2]
    outer, middle, inner = load.kind.walk.loops
    return None if inner.count == 1 else walked(program, load, middle, inner, outer)


@breaks("counting: popped 0 pages")
def a_load_does_not_know_its_way(program: Program) -> Program | None:
    load = loads(program)[-1]
    return changed(program, load.name, kind=replace(load.kind, walk=None))


@breaks("reduced once: output tiles in", "distribution: CountingImbalance")
def a_store_stops_early(program: Program) -> Program | None:
    stage = store(program)
    outer, inner = stage.kind.walk.loops
    return walked(program, stage, replace(outer, count=outer.count - 1), inner)


@breaks("reduced once: to the place of tile", "distribution: OutputCoverage")
def a_store_writes_one_tile_over_another(program: Program) -> Program | None:
    stage = store(program)
    outer, inner = stage.kind.walk.loops
    return walked(program, stage, outer, replace(inner, stride=0))


@breaks("reduced once: to the place of tile", "distribution: ResultOrder")
def a_store_takes_columns_for_rows(program: Program) -> Program | None:
    stage = store(program)
    return walked(program, stage, *reversed(stage.kind.walk.loops))


@breaks("counting: stated")
def a_trip_is_counted_once_too_often(program: Program) -> Program | None:
    first, *others = program.trips
    return replace(program, trips=(replace(first, times=first.times + 1), *others))


@breaks("counting: stated []")
def a_trip_is_left_out(program: Program) -> Program | None:
    return replace(program, trips=program.trips[1:])


@breaks("counting: nothing: no page moves")
def a_trip_is_made_for_nothing(program: Program) -> Program | None:
    return replace(program, trips=(*program.trips, Trip("nothing", 1, 1)))


@breaks("distribution: WorkPlan")
def the_plan_counts_a_block_too_many(program: Program) -> Program | None:
    return replace(program, work=replace(program.work, k_blocks=program.work.k_blocks + 1))


@breaks("counting: which is not the order nm")
def the_plan_takes_columns_before_rows(program: Program) -> Program | None:
    return replace(program, work=replace(program.work, order="nm"))


@breaks("counting: the program has no work plan")
def there_is_no_plan(program: Program) -> Program | None:
    return replace(program, work=None)
