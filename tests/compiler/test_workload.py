"""What the user asks for, and what cannot be asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import EmptyMatrixError, ShardwrightError, WorkloadError
from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.init import External
from compiler.ir.tensor import ValueRange
from compiler.workload import MatmulSpec


def test_operands_are_the_hosts_int8_unless_said_otherwise():
    spec = MatmulSpec(2, 3, 4)
    assert (spec.m, spec.n, spec.k, spec.k_pad, spec.k_total) == (2, 3, 4, 0, 4)
    assert (spec.a, spec.b) == (External(), External())
    assert spec.a_range == spec.b_range == ValueRange(-128, 127)


@given(k=st.integers(1, 500), multiple=st.integers(1, 100))
def test_padding_is_the_least_that_makes_the_axis_a_multiple(k, multiple):
    spec = MatmulSpec(1, 1, k).padded_k(multiple)
    assert spec.k == k
    assert spec.k_total == next(total for total in range(k, k + multiple) if total % multiple == 0)
    assert spec.padded_k(multiple) == spec


@pytest.mark.parametrize(
    ("m", "n", "k", "name"), [(0, 3, 4, "m"), (2, 0, 4, "n"), (2, 3, 0, "k"), (0, 0, 0, "m")]
)
def test_empty_products_are_refused(m, n, k, name):
    with pytest.raises(EmptyMatrixError) as refusal:
        MatmulSpec(m, n, k)
    assert (refusal.value.m, refusal.value.n, refusal.value.k) == (m, n, k)
    assert str(refusal.value) == (
        f"the product {m}x{k} . {k}x{n} is empty: {name} is 0; every dimension must be at least 1"
    )


@pytest.mark.parametrize("name", ["m", "n", "k", "k_pad"])
@pytest.mark.parametrize("extent", [-1, 2.0, "8", None, True])
def test_extents_that_are_no_counts_are_refused(name, extent):
    extents = {"m": 1, "n": 1, "k": 1} | {name: extent}
    with pytest.raises(WorkloadError) as refusal:
        MatmulSpec(**extents)
    assert str(refusal.value) == f"{name} must be a non-negative integer, not {extent!r}"


@pytest.mark.parametrize("name", ["a_range", "b_range"])
@pytest.mark.parametrize(("low", "high"), [(-129, 0), (0, 128), (-1000, 1000)])
def test_ranges_beyond_int8_are_refused(name, low, high):
    with pytest.raises(WorkloadError) as refusal:
        MatmulSpec(1, 1, 1, **{name: ValueRange(low, high)})
    assert str(refusal.value) == (f"{name} must lie within int8's [-128, 127], not [{low}, {high}]")


@pytest.mark.parametrize("bits", [1, 0, 33, 8.0, True, "16"])
def test_sums_of_no_width_or_too_many_bits_are_refused(bits):
    with pytest.raises(WorkloadError) as refusal:
        MatmulSpec(1, 1, 1, sum_bits=bits)
    assert str(refusal.value) == f"sum_bits must be an integer in 2 to 32, not {bits!r}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (Operand(0), "op0"),
        (Literal(3), "3"),
        (Add(Operand(0), Operand(0)), "(op0 + op0)"),
        (Add(Operand(0), Operand(1)), "(op0 + op1)"),
        (Max(Operand(1), Literal(0)), "max(op1, 0)"),
        (Add(Operand(0), Max(Literal(1), Literal(2))), "(op0 + max(1, 2))"),
    ],
)
def test_maps_that_are_no_function_of_one_sum_are_refused(body, text):
    with pytest.raises(WorkloadError) as refusal:
        MatmulSpec(1, 1, 1, map=body)
    assert str(refusal.value) == (
        f"map must be an operation on op0, used once, in which no operation is of literals alone, "
        f"not {text}"
    )


def test_all_refusals_can_be_caught_as_one():
    assert issubclass(EmptyMatrixError, WorkloadError)
    assert issubclass(WorkloadError, ShardwrightError)
