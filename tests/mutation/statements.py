"""What a program states of itself: its schedule, and the graph of what it computes."""

from dataclasses import replace

from compiler.ir.graph import Graph, Matmul, Value
from compiler.ir.init import Values
from compiler.ir.program import Program, StageTiming
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import last_product, operands_on, product_of, store


def scheduled(program: Program, **changes: object) -> Program:
    return replace(program, schedule=replace(program.schedule, **changes))


def timed(program: Program, stage: str, **changes: int) -> Program:
    timings = (
        replace(timing, **changes) if timing.stage == stage else timing
        for timing in program.schedule.timings
    )
    return scheduled(program, timings=tuple(timings))


def timing_of(program: Program, stage: str) -> StageTiming:
    return next(timing for timing in program.schedule.timings if timing.stage == stage)


def claims(program: Program, **by: int) -> Program:
    """``program`` whose values all have so many more elements along these axes, or of padding."""
    grown = {"m": by.get("m", 0), "n": by.get("n", 0), "k": by.get("k", 0)}
    padded = {"k": by.get("k_pad", 0)}

    def of(value: Value) -> Value:
        rows, cols = value.dims
        pad = (value.pad[0] + padded.get(rows, 0), value.pad[1] + padded.get(cols, 0))
        return replace(value, rows=value.rows + grown[rows], cols=value.cols + grown[cols], pad=pad)

    values = tuple(map(of, program.graph.values))
    return replace(program, graph=replace(program.graph, values=values))


def valued(program: Program, value: Value) -> Program:
    """``program`` with another value in place of that of its name."""
    values = tuple(value if v.name == value.name else v for v in program.graph.values)
    return replace(program, graph=replace(program.graph, values=values))


def operated(program: Program, *operations: Matmul) -> Program:
    """``program`` that says that it computes other products."""
    return replace(program, graph=replace(program.graph, operations=operations))


@breaks("schedule: are needed at least")
def the_run_takes_fewer_cycles_than_the_work(program: Program) -> Program | None:
    return scheduled(program, cycles=program.schedule.ideal_cycles - 1)


@breaks("schedule: but the tokens take")
def the_run_takes_a_cycle_more_than_its_tokens(program: Program) -> Program | None:
    """The last store agrees, and nothing on the way forbids it."""
    end, last = program.schedule.cycles + 1, store(program).name
    return scheduled(timed(program, last, last_beat=end), cycles=end)


@breaks("schedule: not at the stated")
def the_run_ends_before_its_last_store(program: Program) -> Program | None:
    return scheduled(program, cycles=program.schedule.cycles - 1)


@breaks("schedule: begins at cycle")
def a_product_begins_before_its_operands(program: Program) -> Program | None:
    return timed(program, last_product(program).name, first_beat=1)


@breaks("schedule: ends at cycle")
def a_product_ends_before_its_operands(program: Program) -> Program | None:
    return timed(program, last_product(program).name, last_beat=1)


@breaks("schedule: is said to send from")
def a_store_begins_a_cycle_late(program: Program) -> Program | None:
    name = store(program).name
    return timed(program, name, first_beat=timing_of(program, name).first_beat + 1)


@breaks("schedule: has no time")
def a_stage_is_not_timed(program: Program) -> Program | None:
    return scheduled(program, timings=program.schedule.timings[1:])


@breaks("schedule: has 2 times")
def a_stage_is_timed_twice(program: Program) -> Program | None:
    timings = program.schedule.timings
    return scheduled(program, timings=(*timings, timings[0]))


@breaks("schedule: has a time, but is no stage")
def nobody_is_timed(program: Program) -> Program | None:
    timings = (*program.schedule.timings, StageTiming("nobody", 1, 2))
    return scheduled(program, timings=timings)


@breaks("schedule: ideal cycles are stated")
def the_ideal_is_better_than_the_arrays(program: Program) -> Program | None:
    return scheduled(program, ideal_cycles=program.schedule.ideal_cycles - 1)


@breaks("schedule: is stated to bound the run")
def another_bound_is_stated(program: Program) -> Program | None:
    return scheduled(program, bound="the weather")


@breaks("schedule: the program has no schedule")
def there_is_no_schedule(program: Program) -> Program | None:
    return replace(program, schedule=None)


@breaks("partition: ")
def a_longer_contraction_is_claimed(program: Program) -> Program | None:
    """Of both operands, so that they agree."""
    return claims(program, k=program.tile)


@breaks("partition: ")
def a_shorter_contraction_is_claimed(program: Program) -> Program | None:
    return claims(program, k=-program.tile)


@breaks("layout: FillLength")
def an_element_is_claimed_to_be_padding(program: Program) -> Program | None:
    """A slice that lists its values lists those that are none of the padding."""
    if not isinstance(operands_on(program, 0)[0].init, Values):
        return None
    return claims(program, k=-1, k_pad=1)


@breaks("partition: ")
def more_padding_is_claimed(program: Program) -> Program | None:
    return claims(program, k_pad=program.tile)


@breaks("partition: ")
def a_taller_product_is_claimed(program: Program) -> Program | None:
    return claims(program, m=program.tile)


@breaks("partition: ")
def a_narrower_product_is_claimed(program: Program) -> Program | None:
    return claims(program, n=-1)


@breaks("well formed: ValueShape")
def a_contraction_over_nothing_is_claimed(program: Program) -> Program | None:
    return claims(program, k=-program.claim.k)


@breaks("well formed: ValueExtents")
def the_operands_do_not_agree_on_the_contraction(program: Program) -> Program | None:
    value = program.graph.value_by_name[product_of(program).right]
    return valued(program, replace(value, rows=value.rows - 1))


@breaks("well formed: ValueExtents")
def the_output_is_claimed_to_be_wider_than_the_operand(program: Program) -> Program | None:
    value = program.graph.value_by_name[product_of(program).output]
    return valued(program, replace(value, cols=value.cols + 1))


@breaks("well formed: ValueExtents")
def one_operand_alone_is_padded(program: Program) -> Program | None:
    value = program.graph.value_by_name[product_of(program).left]
    return valued(program, replace(value, cols=value.cols - 1, pad=(0, value.pad[1] + 1)))


@breaks("well formed: ValueShape")
def there_is_less_than_no_padding(program: Program) -> Program | None:
    return claims(program, k=program.claim.k_pad + 1, k_pad=-program.claim.k_pad - 1)


@breaks("well formed: ValueDims")
def the_rows_of_an_operand_run_along_another_axis(program: Program) -> Program | None:
    value = program.graph.value_by_name[product_of(program).left]
    return valued(program, replace(value, dims=value.dims[::-1]))


@breaks("well formed: OperationCount")
def two_products_are_claimed(program: Program) -> Program | None:
    return operated(program, product_of(program), product_of(program))


@breaks("well formed: OperationCount")
def no_product_is_claimed(program: Program) -> Program | None:
    return operated(program)


@breaks("well formed: ValueUnused")
def a_value_is_claimed_that_nothing_makes(program: Program) -> Program | None:
    value = replace(program.graph.values[0], name="spare")
    return replace(program, graph=replace(program.graph, values=(*program.graph.values, value)))


@breaks("well formed: ")
def the_product_is_claimed_the_other_way_round(program: Program) -> Program | None:
    product = product_of(program)
    return operated(program, replace(product, left=product.right, right=product.left))


@breaks("reduced once: takes the right operand first", "layout: ")
def the_product_is_claimed_the_other_way_round_with_its_values(program: Program) -> Program | None:
    """Names of the operands are exchanged in the graph, and their shapes are not."""
    product, graph = product_of(program), program.graph
    names = {product.left: product.right, product.right: product.left}
    values = tuple(replace(v, name=names.get(v.name, v.name)) for v in graph.values)
    swapped = replace(product, left=product.right, right=product.left)
    return replace(program, graph=Graph(values, (swapped,)))


@breaks("well formed: ValueUnused")
def a_product_of_nothing_is_claimed(program: Program) -> Program | None:
    return operated(program, replace(product_of(program), left="nothing"))


@breaks("well formed: UnknownName")
def a_value_is_left_out(program: Program) -> Program | None:
    return replace(program, graph=replace(program.graph, values=program.graph.values[1:]))


@breaks("well formed: OperationNames")
def a_product_of_a_matrix_with_itself_is_claimed(program: Program) -> Program | None:
    product = product_of(program)
    return operated(program, replace(product, right=product.left))


@breaks("layout: ValueMismatch")
def an_output_is_claimed_to_be_an_input(program: Program) -> Program | None:
    return changed(program, store(program).kind.tensor, role="input")


@breaks("layout: ValueMismatch")
def an_input_is_claimed_to_be_an_output(program: Program) -> Program | None:
    left, _ = operands_on(program, 0)
    return changed(program, left.name, role="output")
