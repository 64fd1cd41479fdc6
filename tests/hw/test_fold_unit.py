# amaranth: UnusedElaboratable=no
import random
import re

import numpy as np
import pytest
from amaranth.hdl import ResetInserter, Signal

from compiler.ir.body import Add, Literal, Max, Operand, left_fold
from hw.fold_unit import FoldUnit
from hw.verilog.convert import to_verilog
from tests.hw.simulation import (
    consumer,
    delayed,
    idle,
    lanes,
    monitor,
    producer,
    random_beats,
    simulate,
)

A, B, C, D, E = map(Operand, range(5))

# Operands, body, and the numpy expression that the body stands for.
BODIES = {
    "two": (2, Add(A, B), lambda a, b: a + b),
    "two the other way": (2, Add(B, A), lambda a, b: b + a),
    "left fold of three": (3, left_fold(3), lambda a, b, c: a + b + c),
    "left fold of five": (5, left_fold(5), lambda a, b, c, d, e: a + b + c + d + e),
    "tree of four": (4, Add(Add(A, B), Add(C, D)), lambda a, b, c, d: a + b + c + d),
    "lopsided tree": (
        5,
        Add(Add(E, Add(A, C)), Add(D, B)),
        lambda a, b, c, d, e: a + b + c + d + e,
    ),
    "greatest of three": (3, Max(C, Max(A, B)), lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "sum of maxima": (
        4,
        Add(Max(A, D), Max(B, C)),
        lambda a, b, c, d: np.maximum(a, d) + np.maximum(b, c),
    ),
    "maximum of sums": (3, Max(Add(A, B), C), lambda a, b, c: np.maximum(wrap(a + b), c)),
}


def wrap(totals):
    """Twelve bits, two's complement."""
    return (totals + 2048) % 4096 - 2048


def operands_and_results(name, *, lane_count, count, seed):
    """Random beats for each operand of a body, and the beats that must come out."""
    operand_count, _, golden = BODIES[name]
    rng = random.Random(seed)
    operands = [random_beats(rng, count, lanes(lane_count, 12)) for _ in range(operand_count)]
    return operands, wrap(golden(*map(np.array, operands))).tolist()


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("idling", [(0.2, 1.0), (0.6, 0.6), (1.0, 0.2), (1.0, 1.0)], ids=str)
@pytest.mark.parametrize("back_pressure", [0.2, 0.6, 1.0])
def test_folds_as_the_body_states(name, idling, back_pressure):
    """Operands idle at two densities in turn; sums that do not fit wrap around."""
    seed = f"{name}/{idling}/{back_pressure}"
    operands, expected = operands_and_results(name, lane_count=3, count=40, seed=seed)
    dut = FoldUnit(lanes(3, 12), body=BODIES[name][1])
    received = []
    simulate(
        dut,
        *(
            producer(dut.i[index], beats, density=idling[index % 2], seed=f"{index}/{seed}")
            for index, beats in enumerate(operands)
        ),
        consumer(dut.o, received, len(expected), density=back_pressure, seed=seed),
    )
    assert received == expected


@pytest.mark.parametrize("lane_count", [1, 3, 5])
@pytest.mark.parametrize(
    ("name", "depth"), [("two", 1), ("left fold of five", 4), ("tree of four", 2)]
)
def test_gives_one_beat_per_cycle_one_cycle_per_operation_on_the_way(name, depth, lane_count):
    operands, expected = operands_and_results(name, lane_count=lane_count, count=25, seed=name)
    dut = FoldUnit(lanes(lane_count, 12), body=BODIES[name][1])
    received, log = [], []
    simulate(
        dut,
        *(
            producer(dut.i[index], beats, density=1.0, seed=0)
            for index, beats in enumerate(operands)
        ),
        consumer(dut.o, received, len(expected), density=1.0, seed=0),
        monitors=[monitor(log, dut.o.valid)],
    )
    assert received == expected
    assert [cycle for cycle, (valid,) in enumerate(log) if valid] == [*range(depth, depth + 25)]


@pytest.mark.parametrize("operand_count", [2, 3, 5])
def test_last_operand_of_a_left_fold_sees_one_cycle(operand_count):
    name = {2: "two", 3: "left fold of three", 5: "left fold of five"}[operand_count]
    operands, expected = operands_and_results(name, lane_count=3, count=12, seed=name)
    dut = FoldUnit(lanes(3, 12), body=left_fold(operand_count))
    received, log = [], []
    simulate(
        dut,
        *(producer(dut.i[i], beats, density=1.0, seed=0) for i, beats in enumerate(operands[:-1])),
        delayed(20, producer(dut.i[operand_count - 1], operands[-1], density=1.0, seed=0)),
        consumer(dut.o, received, len(expected), density=1.0, seed=0),
        monitors=[monitor(log, dut.o.valid)],
    )
    assert received == expected
    assert [cycle for cycle, (valid,) in enumerate(log) if valid] == [*range(21, 33)]


def test_operands_meet_only_where_the_body_uses_them():
    """The sum of the first two is taken while the third is still missing."""
    dut = FoldUnit(lanes(1), body=left_fold(3))

    async def operands(ctx):
        ctx.set(dut.i[0].valid, 1)
        ctx.set(dut.i[1].valid, 1)
        taken = []
        for _ in range(4):
            _, _, *ready = await ctx.tick().sample(*(operand.ready for operand in dut.i))
            taken.append(tuple(ready))
        assert taken == [(1, 1, 0), (0, 0, 1), (0, 0, 1), (0, 0, 1)]

    simulate(dut, operands)


def test_reset_leaves_no_beat_in_the_pipeline():
    operands, expected = operands_and_results("tree of four", lane_count=3, count=10, seed=0)
    dut = FoldUnit(lanes(3, 12), body=BODIES["tree of four"][1])
    reset = Signal()
    received = []

    async def reset_in_mid_run(ctx):
        for operand in dut.i:
            ctx.set(operand.valid, 1)
        await idle(ctx, 5)
        assert ctx.get(dut.o.valid)
        for operand in dut.i:
            ctx.set(operand.valid, 0)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        assert not ctx.get(dut.o.valid)

    simulate(
        ResetInserter(reset)(dut),
        reset_in_mid_run,
        *(
            delayed(8, producer(dut.i[index], beats, density=0.6, seed=index))
            for index, beats in enumerate(operands)
        ),
        delayed(8, consumer(dut.o, received, len(expected), density=0.6, seed=0)),
    )
    assert received == expected


def test_a_fold_may_have_more_operands_than_calls_may_be_deep():
    count = 400
    dut = FoldUnit(lanes(1, 4), body=left_fold(count))
    text = to_verilog(dut, "fold")
    assert re.search(r"\bi__399__payload\b", text)
    # A name lists the operands of a sum, but not all of four hundred.
    assert "op_0_1_2_3_4_5_6_7__payload" in text
    assert "op_0_1_2_3_4_5_6_7_and_1_more__payload" in text
    assert max(map(len, re.findall(r"\w+", text))) < 60


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (A, "op0"),
        (Add(A, A), "(op0 + op0)"),
        (Add(B, C), "(op1 + op2)"),
        (Add(A, Max(B, D)), "(op0 + max(op1, op3))"),
        (Add(Add(A, B), B), "((op0 + op1) + op1)"),
        (Literal(3), "3"),
        (Add(A, Max(Literal(1), Literal(2))), "(op0 + max(1, 2))"),
    ],
    ids=str,
)
def test_body_must_use_each_operand_once(body, text):
    with pytest.raises(ValueError, match="Body") as error:
        FoldUnit(lanes(3), body=body)
    assert (
        str(error.value) == f"Body must combine each operand from 0 up exactly once, not be {text}"
    )


@pytest.mark.parametrize("value", [128, -129, 2**40])
def test_refuses_a_literal_that_no_lane_holds(value):
    with pytest.raises(ValueError, match="Literals") as error:
        FoldUnit(lanes(3), body=Add(A, Max(Literal(value), B)))
    assert str(error.value) == f"Literals must be in -128 .. 127, as a lane is, not {value}"
    for held in (127, -128):
        FoldUnit(lanes(3), body=Add(A, Max(Literal(held), B)))


def test_refuses_a_beat_without_lanes():
    with pytest.raises(TypeError) as error:
        FoldUnit(24, body=Add(A, B))
    assert str(error.value) == "Beat must be an ArrayLayout of signed lanes, not 24"
