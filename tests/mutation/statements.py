"""What a program states of itself: its schedule and its claim."""

from dataclasses import replace

from compiler.ir.program import Program, StageTiming
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import last_product, store


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


def claims(program: Program, **changes: object) -> Program:
    return replace(program, claim=replace(program.claim, **changes))


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


@breaks("partition: the slices of", "distribution: ClaimMismatch")
def a_longer_contraction_is_claimed(program: Program) -> Program | None:
    return claims(program, k=program.claim.k + program.tile)


@breaks("partition: the slices of", "distribution: ClaimMismatch")
def a_shorter_contraction_is_claimed(program: Program) -> Program | None:
    return claims(program, k=program.claim.k - program.tile)


@breaks("partition: the slices of", "distribution: ClaimMismatch")
def more_padding_is_claimed(program: Program) -> Program | None:
    return claims(program, k_pad=program.claim.k_pad + program.tile)


@breaks("distribution: of padding; 1 of it do not make up")
def an_element_is_claimed_to_be_padding(program: Program) -> Program | None:
    """A slice does not say what is padding; the tensor of a single chip does."""
    if program.chip_count > 1:
        return None
    return claims(program, k=program.claim.k - 1, k_pad=program.claim.k_pad + 1)


@breaks("well formed: ClaimShape")
def a_contraction_over_nothing_is_claimed(program: Program) -> Program | None:
    return claims(program, k=0)


@breaks("partition: rows of", "reduced once: but the claim is", "distribution: ClaimMismatch")
def a_taller_product_is_claimed(program: Program) -> Program | None:
    return claims(program, m=program.claim.m + program.tile)


@breaks("partition: columns of", "distribution: ClaimMismatch")
def a_narrower_product_is_claimed(program: Program) -> Program | None:
    return claims(program, n=program.claim.n - 1)


@breaks("reduced once: takes the right operand first", "distribution: ")
def the_product_is_claimed_the_other_way_round(program: Program) -> Program | None:
    return claims(program, left=program.claim.right, right=program.claim.left)


@breaks("well formed: UnknownName")
def a_product_of_nothing_is_claimed(program: Program) -> Program | None:
    return claims(program, left="nothing")


@breaks("distribution: ClaimMismatch")
def an_output_is_claimed_to_be_an_input(program: Program) -> Program | None:
    return changed(program, program.claim.output, role="input")
