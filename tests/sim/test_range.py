"""The proven width is the least that is safe: exact at that width, refused and wrong below it."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.check import check
from compiler.errors import AccumulatorOverflowError
from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.dtype import SUM_BITS, integer
from compiler.ir.program import Program
from compiler.ir.tensor import ValueRange
from compiler.workload import MatmulSpec
from sim.interpreter import interpret
from sim.simulate import simulate
from tests.programs import finished
from tests.tiers import chosen

ALL = ValueRange(-128, 127)
BITS = ValueRange(0, 1)
SIGNS = ValueRange(-1, 1)
LEAST = ValueRange(-128, -128)
MOST = ValueRange(127, 127)

# k, ranges of A and B; chips, reduction, target.
CASES = [
    ((1, ALL, ALL), (1, "tree", "token-mesh")),
    ((64, ALL, ALL), (1, "tree", "token-mesh")),
    ((64, ALL, ALL), (4, "tree", "token-mesh")),
    ((64, ALL, ALL), (4, "tree", "semaphore-mesh")),
    ((63, ALL, ALL), (3, "star", "token-mesh")),
    ((96, ALL, ALL), (16, "tree", "token-mesh")),
    ((37, ALL, SIGNS), (5, "star", "semaphore-mesh")),
    ((2, BITS, BITS), (1, "tree", "token-mesh")),
    ((16, BITS, BITS), (2, "tree", "token-mesh")),
    ((15, BITS, BITS), (2, "tree", "token-mesh")),
    ((24, SIGNS, ALL), (2, "tree", "token-mesh")),
    ((32, LEAST, LEAST), (4, "tree", "token-mesh")),
    ((32, LEAST, MOST), (4, "star", "semaphore-mesh")),
    ((40, ValueRange(5, 6), ValueRange(-8, -7)), (5, "tree", "token-mesh")),
    ((33, ValueRange(0, 127), ValueRange(-3, 5)), (1, "tree", "token-mesh")),
]
TILE = 2


def named(case) -> str:
    (k, a, b), (chips, reduce, target) = case
    return f"k{k}-{a.low}_{a.high}-{b.low}_{b.high}-{reduce}{chips}-{target}"


def least_bits(k: int, a: ValueRange, b: ValueRange) -> int:
    """Bits of the least two's complement number for sums of up to ``k`` products."""
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = k * min(0, *products), k * max(0, *products)
    return next(n for n in range(2, 33) if -(2 ** (n - 1)) <= low and high < 2 ** (n - 1))


def program_of(case, bits: int) -> Program:
    (k, a_range, b_range), (chips, reduce, target) = case
    spec = MatmulSpec(5, 5, k, a_range=a_range, b_range=b_range, sum_bits=bits)
    return finished(
        spec.padded_k(chips * TILE), chips=chips, reduce=reduce, target=target, tile=TILE
    )


def extremes(case) -> tuple[np.ndarray, np.ndarray]:
    """Operands of nothing but the ends of their ranges; each element of the product is a case.

    A row of A, and a column of B, is all low, all high, alternating, alternating the other way
    round, or mixed; the product meets each with each.
    """
    (k, a, b), _ = case
    rng = np.random.default_rng(k)

    def patterns(low: int, high: int) -> np.ndarray:
        alternating = np.where(np.arange(k) % 2, low, high)
        return np.array(
            [
                np.full(k, low),
                np.full(k, high),
                alternating,
                low + high - alternating,
                rng.choice([low, high], k),
            ]
        )

    return patterns(a.low, a.high), patterns(b.low, b.high).T


def narrowed(program: Program, bits: int) -> Program:
    """The program, edited by hand to sums of ``bits`` bits everywhere, and to say so."""
    total, dtype = program.numerics.total, integer(bits)
    return replace(
        program,
        numerics=replace(program.numerics, total=dtype),
        tensors=tuple(
            replace(tensor, dtype=dtype, value_range=ValueRange(dtype.low, dtype.high))
            if tensor.dtype == total
            else tensor
            for tensor in program.tensors
        ),
        buffers=tuple(
            replace(buffer, page=replace(buffer.page, dtype=dtype))
            if buffer.page.dtype == total
            else buffer
            for buffer in program.buffers
        ),
    )


@pytest.mark.parametrize("case", chosen(CASES, CASES[2:12:2], ids=named))
def test_the_hardware_is_exact_at_the_least_width_that_is_accepted(case):
    bits = least_bits(*case[0])
    program = program_of(case, bits)
    a, b = extremes(case)
    result = simulate(program, a, b)
    assert np.array_equal(result.c, a @ b)
    assert result.exact
    assert result.cycles == program.schedule.cycles


@pytest.mark.parametrize(
    "case", [case for case in CASES if least_bits(*case[0]) > SUM_BITS[0]], ids=named
)
def test_one_bit_less_is_refused(case):
    bits = least_bits(*case[0])
    with pytest.raises(AccumulatorOverflowError, match=f"which int{bits - 1} does not hold"):
        program_of(case, bits - 1)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_certificate_states_the_least_width(case):
    bits = least_bits(*case[0])
    program = program_of(case, bits)
    (shown,) = (o for o in program.certificate.obligations if o.name == "range")
    stored = next(stage.ins[0] for stage in program.stages if stage.name.endswith("store_c"))
    assert dict(shown.evidence)[stored] == f"needs {bits} of {bits} bits"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_program_edited_to_one_bit_less_is_refused_and_would_have_been_wrong(case):
    bits = least_bits(*case[0])
    program = narrowed(program_of(case, bits), bits - 1)
    (violated,) = check(program).violated
    assert violated.name == "range"
    stored = next(stage.ins[0] for stage in program.stages if stage.name.endswith("store_c"))
    assert any(
        why.startswith(f"{stored} holds sums in [")
        and why.endswith(f"which need {bits} bits, but has {bits - 1}")
        for why in violated.violations
    )
    a, b = extremes(case)
    assert not np.array_equal(interpret(program, a, b).c, a @ b)


@pytest.mark.parametrize("part", ["c1.partial", "c0.landing_0", "c0.reduced", "c"])
def test_one_part_alone_that_is_too_narrow_is_refused(part):
    """Whatever holds a sum needs its width: result buffer, link word, reduced sum, output."""
    case = CASES[2]
    program = program_of(case, least_bits(*case[0]))
    thin = integer(8)
    if part == "c":
        tensors = tuple(
            replace(tensor, dtype=thin) if tensor.name == part else tensor
            for tensor in program.tensors
        )
        program = replace(program, tensors=tensors)
    else:
        buffers = tuple(
            replace(buffer, page=replace(buffer.page, dtype=thin))
            if buffer.name == part
            else buffer
            for buffer in program.buffers
        )
        program = replace(program, buffers=buffers)
    violations = {o.name: o.violations for o in check(program).violated}
    assert any(why.startswith(f"{part} ") for why in violations["range"])


def test_a_map_needs_room_for_what_it_computes_on_the_way():
    """The map is zero for every sum, but its maximum is 2**20, which 21 bits do not hold."""
    body = Add(Max(Operand(0), Literal(2**20)), Literal(-(2**20)))
    program = finished(MatmulSpec(2, 2, 4, sum_bits=22, map=body), tile=TILE)
    a, b = np.full((2, 4), 3), np.full((4, 2), 3)
    assert simulate(program, a, b).c.tolist() == interpret(program, a, b).c.tolist() == [[0, 0]] * 2

    program = narrowed(program, 21)
    (violated,) = check(program).violated
    assert (violated.name, violated.violations) == (
        "range",
        ("mapped holds sums in [-1048576, 1048576], which need 22 bits, but has 21",),
    )
    assert interpret(program, a, b).c.tolist() != [[0, 0]] * 2
