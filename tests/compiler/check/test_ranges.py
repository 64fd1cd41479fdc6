"""Range: the proven width is the least one that is safe."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from compiler.check.ranges import bits_for, ranges
from compiler.errors import AccumulatorOverflowError
from compiler.ir.body import Add, Literal, Max, Operand, left_fold
from compiler.ir.dtype import integer
from compiler.ir.init import Const, External, Init, Pattern, Values, Zero
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Map, Merge, Split, Stage
from compiler.ir.tensor import ValueRange
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.compiler.programs import TOKEN, changed, compiled, sharded

SPANS = [(-128, 127), (-128, -1), (-128, 0), (0, 127), (1, 127), (-1, 1), (3, 5), (-7, -4), (0, 0)]
ONE, FOUR = compiled(), sharded(4)
TARGET = get("token-mesh", tile=4, compute_engines=3)


def brute_bits(low: int, high: int) -> int:
    """The first width whose two's complement range holds both."""
    return next(n for n in range(1, 99) if -(2 ** (n - 1)) <= low and high <= 2 ** (n - 1) - 1)


def needed_bits(program: Program) -> dict[str, tuple[int, int]]:
    """Bits that each buffer of sums needs, and has, as the evidence gives them."""
    obligation = ranges(program)
    assert obligation.holds, obligation.violations
    pattern = re.compile(r"needs (\d+) of (\d+) bits")
    figures = {name: pattern.fullmatch(text) for name, text in obligation.evidence}
    return {name: (int(found[1]), int(found[2])) for name, found in figures.items()}


def test_bits_are_the_fewest_that_hold_both():
    for low in range(-70, 71):
        for high in range(low, 71):
            assert bits_for(low, high) == brute_bits(low, high)


def test_bits_of_the_ends_of_a_type_are_those_of_the_type():
    for bits in range(1, 65):
        dtype = integer(bits)
        assert bits_for(dtype.low, dtype.high) == bits
        assert bits_for(dtype.low - 1, 0) == bits_for(0, dtype.high + 1) == bits + 1


def extremes(spec: MatmulSpec, begin: int, end: int) -> tuple[int, int]:
    """The least and greatest sum of elements ``begin`` to ``end``, over all corners, by numpy."""
    corners = product((spec.a_range.low, spec.a_range.high), (spec.b_range.low, spec.b_range.high))
    sums = []
    for x, y in corners:
        a, b = np.zeros((1, spec.k_total), dtype=int), np.zeros((spec.k_total, 1), dtype=int)
        a[:, : spec.k], b[: spec.k] = x, y
        sums.append(int((a[:, begin:end] @ b[begin:end])[0, 0]))
    return min(sums), max(sums)


@pytest.mark.parametrize(("a", "b"), [*product(SPANS, SPANS)])
def test_needed_bits_are_those_of_the_extremes_of_numpy(a, b):
    spec = MatmulSpec(3, 5, 21, k_pad=3, a_range=ValueRange(*a), b_range=ValueRange(*b))
    program = compile(spec, TARGET, ShardPlan(3))
    needed = needed_bits(program)
    slices = {"c0.partial": (0, 8), "c1.partial": (8, 16), "c2.partial": (16, 24)}
    slices |= {"c0.landing_0": (8, 16), "c0.landing_1": (16, 24), "c0.reduced": (0, 24)}
    assert needed == {
        name: (brute_bits(*extremes(spec, *span)), 32) for name, span in slices.items()
    }


@pytest.mark.parametrize(("a", "b"), [(SPANS[i], SPANS[-1 - i]) for i in range(len(SPANS))])
def test_the_needed_bits_are_enough_and_one_less_is_refused(a, b):
    spec = MatmulSpec(3, 5, 40, a_range=ValueRange(*a), b_range=ValueRange(*b))
    least, most = extremes(spec, 0, 40)
    bits = max(2, brute_bits(min(0, least), max(0, most)))
    exact = compile(replace(spec, sum_bits=bits), TARGET)
    assert needed_bits(exact)["partial"][1] == bits
    if bits > 2:
        with pytest.raises(AccumulatorOverflowError):
            compile(replace(spec, sum_bits=bits - 1), TARGET)


@pytest.mark.parametrize("program", [ONE, FOUR, sharded(3, "star")], ids=lambda p: p.name)
def test_one_bit_less_anywhere_is_refused(program):
    for name, (needed, _) in needed_bits(program).items():
        page = program.buffer_by_name[name].page
        tight = changed(program, name, page=replace(page, dtype=integer(needed)))
        assert ranges(tight).holds
        short = changed(program, name, page=replace(page, dtype=integer(needed - 1)))
        (violation,) = ranges(short).violations
        assert re.fullmatch(
            rf"{re.escape(name)} holds sums in \[-\d+, \d+\], which need {needed} bits, but has "
            rf"{needed - 1}",
            violation,
        )


def test_what_overflows_inside_of_a_map_is_refused():
    """The greatest of the lessened sum and 0 fits; the lessened sum does not."""
    spec = MatmulSpec(4, 4, 32, sum_bits=21, map=Max(Operand(0), Literal(0)))
    program = compile(spec, TARGET)
    assert needed_bits(program)["mapped"] == (21, 21)
    body = Max(Add(Operand(0), Literal(-(2**20))), Literal(0))
    (violation, *_) = ranges(changed(program, "map", kind=Map(body))).violations
    assert violation.startswith("mapped holds sums in [-1568768, 524288], which need 22 bits")


def filled(init: object, low: int, high: int, name: str = "a") -> Program:
    return changed(ONE, name, init=init, value_range=ValueRange(low, high))


@pytest.mark.parametrize(
    ("init", "low", "high", "outside"),
    [
        (Zero(), 1, 5, 0),
        (Const(6), 1, 5, 6),
        (Pattern(7, 3), -3, 2, 3),
        (Pattern(7, 4), -3, 3, -4),
        (Values((*range(1024),)), 0, 100, 1023),
    ],
)
def test_a_stated_value_outside_of_its_range_is_named(init, low, high, outside):
    text = f"a holds {outside}, which is outside of [{low}, {high}]"
    assert text in ranges(filled(init, low, high)).violations


@pytest.mark.parametrize(
    "program",
    [
        filled(Zero(), 0, 0),
        filled(Const(6), 6, 6),
        filled(Pattern(7, 3), -3, 3),
        filled(Values((-1, 1) * 512), -1, 1),
        filled(External(), 0, 0),
    ],
)
def test_stated_values_may_reach_the_ends_of_their_range(program):
    assert ranges(program).holds


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            changed(FOUR, "c1.a", value_range=ValueRange(-1, 1)),
            "c1.a declares [-1, 1] and c0.a [-128, 127] of one operand",
        ),
        (
            changed(ONE, "b", value_range=ValueRange(-129, 127)),
            "b declares [-129, 127], which int8 does not hold",
        ),
        (
            changed(ONE, "c", value_range=ValueRange(-100, 2**20)),
            "c declares [-100, 1048576], but the sums reach [-1040384, 1048576]",
        ),
        (
            changed(ONE, "c", dtype=integer(21)),
            "c is int21, but the sums need 22 bits",
        ),
        (
            changed(ONE, "matmul", ins=("b_pages", "a_pages")),
            "product 'matmul' takes the right operand first and the left operand second: it "
            "multiplies 'b' by 'a'; the program claims to multiply 'a' by 'b'",
        ),
    ],
)
def test_whatever_speaks_against_the_ranges_is_said(program, text):
    assert text in ranges(program).violations


PADDED = compile(MatmulSpec(16, 16, 52, k_pad=12), TOKEN, ShardPlan(4))


@pytest.mark.parametrize("name", ["c3.a", "c3.b"])
def test_of_a_part_the_elements_of_its_value_are_looked_at(name):
    """Chip 3 holds 4 of its 16 elements of the contraction; zeros behind them are in no range."""
    narrow, value = ValueRange(5, 127), PADDED.tensor_by_name[name].value
    program = replace(
        PADDED,
        tensors=tuple(
            replace(tensor, value_range=narrow) if tensor.value == value else tensor
            for tensor in PADDED.tensors
        ),
    )
    for init in (Const(5), Values((5,) * 64), External()):
        assert not any("holds" in said for said in said_of(program, name, init))
    for init, element in ((Const(4), 4), (Zero(), 0), (Values((5,) * 63 + (4,)), 4)):
        text = f"{name} holds {element}, which is outside of [5, 127]"
        assert text in said_of(program, name, init)
    tight = changed(PADDED, name, value_range=ValueRange(0, 62))
    assert f"{name} holds 63, which is outside of [0, 62]" in said_of(tight, name, Pattern(100, 0))


def said_of(program: Program, name: str, init: Init) -> tuple[str, ...]:
    return ranges(changed(program, name, init=init)).violations


def test_of_a_part_that_is_all_padding_nothing_is_asked():
    """Chip 3 has no element of the contraction, and adds nothing."""
    program = compile(MatmulSpec(16, 16, 48, k_pad=16), TOKEN, ShardPlan(4))
    assert needed_bits(program)["c3.partial"] == (1, 32)
    for name in ("c3.a", "c3.b"):
        for init in (Const(999), Pattern(999, 0), Values(())):
            assert ranges(changed(program, name, init=init)).holds


@pytest.mark.parametrize("result", ["home", "all"])
@pytest.mark.parametrize("a", [(-128, 127), (3, 5)])
def test_over_a_mesh_every_sum_has_the_bits_that_its_slices_need(result, a):
    """Three of five tiles of the contraction are summed by the first chips, two by the others."""
    mesh, shard = Mesh(row=2, col=2), {"m": "row", "k": "col"}
    spec = MatmulSpec(8, 4, 20, a_range=ValueRange(*a))
    plan = ShardPlan(mesh, shard=shard, result=result, uneven=True)
    needed = needed_bits(compile(spec, TARGET, plan))
    spans = {"partial": ((0, 12), (12, 20)), "landing_0": ((12, 20), (12, 20))}
    for name, (bits, _) in needed.items():
        chip, local = name.split(".")
        span = spans.get(local, ((0, 20), (0, 20)))[int(chip[1:]) % 2]
        assert bits == brute_bits(*extremes(spec, *span)), name


def test_what_is_merged_has_the_bits_of_all_that_it_is_made_of():
    """On its way to the store, the sum takes turns with what is added to it twice."""
    joint = replace(ONE.buffer_by_name["partial"], name="joint")
    names = ("one", "two", "more", "twice", "three", "four")
    program = changed(ONE, "store_c", ins=("three",))
    program = replace(
        program,
        stages=(
            *program.stages,
            Stage("copy", Copy(), ins=("partial",), outs=("one", "two", "more")),
            Stage("fold", Fold(left_fold(2)), ins=("two", "more"), outs=("twice",)),
            Stage("merge", Merge((0, 1)), ins=("one", "twice"), outs=("joint",)),
            Stage("split", Split((0, 1)), ins=("joint",), outs=("three", "four")),
        ),
        buffers=(*ONE.buffers, joint, *(replace(joint, name=name) for name in names)),
    )
    needed = needed_bits(program)
    assert needed["partial"] == needed["one"] == needed["three"]
    assert needed["joint"] == needed["twice"] == needed["four"]
    assert needed["joint"][0] == needed["partial"][0] + 1
