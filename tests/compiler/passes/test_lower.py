"""Lowering states the product and decides nothing."""

import re
from dataclasses import replace

import pytest

from compiler.errors import AccumulatorOverflowError, WorkloadError
from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.init import Const, External, Pattern
from compiler.ir.layout import Replicate
from compiler.ir.orientation import Orientation
from compiler.ir.stage import Load, Map, MatmulTiles, Store
from compiler.ir.tensor import ValueRange
from compiler.passes.lower import lower
from compiler.pipeline import compile
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.compiler.programs import TOKEN

INT32_LOW, INT32_HIGH = -(2**31), 2**31 - 1
RANGES = [
    (ValueRange(-128, 127), ValueRange(-128, 127)),
    (ValueRange(-128, -128), ValueRange(-128, -128)),
    (ValueRange(-128, -128), ValueRange(127, 127)),
    (ValueRange(0, 127), ValueRange(-3, 5)),
    (ValueRange(-1, 1), ValueRange(-128, 127)),
    (ValueRange(5, 6), ValueRange(7, 8)),
]


def reachable(k: int, a: ValueRange, b: ValueRange) -> tuple[int, int]:
    """Least and greatest sum of up to ``k`` products, from all pairs of extreme operands."""
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(0, k * min(products)), max(0, k * max(products))


def spec(k: int, ranges: tuple[ValueRange, ValueRange]) -> MatmulSpec:
    return MatmulSpec(1, 1, k, a_range=ranges[0], b_range=ranges[1])


def largest(ranges: tuple[ValueRange, ValueRange]) -> int:
    """The largest contraction whose every sum fits into int32, found by bisection."""
    fits, fails = 1, 2**32
    while fails - fits > 1:
        middle = (fits + fails) // 2
        low, high = reachable(middle, *ranges)
        if low >= INT32_LOW and high <= INT32_HIGH:
            fits = middle
        else:
            fails = middle
    return fits


def test_a_product_is_two_loads_a_product_and_a_store():
    program = lower(MatmulSpec(5, 6, 7, a=Const(1), b=Pattern(7, 3)), TOKEN)
    assert [(s.name, s.kind, s.ins, s.outs) for s in program.stages] == [
        ("load_a", Load("a"), (), ("a_pages",)),
        ("load_b", Load("b"), (), ("b_pages",)),
        ("matmul", MatmulTiles(), ("a_pages", "b_pages"), ("partial",)),
        ("store_c", Store("c"), ("partial",), ()),
    ]
    assert [(t.name, str(t.role), t.rows, t.cols, str(t.dtype)) for t in program.tensors] == [
        ("a", "input", 5, 7, "int8"),
        ("b", "input", 7, 6, "int8"),
        ("c", "output", 5, 6, "int32"),
    ]
    assert [t.init for t in program.tensors] == [Const(1), Pattern(7, 3), External()]
    assert (program.claim.m, program.claim.n, program.claim.k) == (5, 6, 7)


def test_nothing_is_decided():
    program = lower(MatmulSpec(16, 16, 16), TOKEN)
    assert {(stage.site, stage.engine) for stage in program.stages} == {(None, None)}
    assert {(b.site, b.depth) for b in program.buffers} == {(None, None)}
    assert {(e.handoff, e.link, e.via) for e in program.edges} == {(None, None, ())}
    assert [operation.order for operation in program.graph.operations] == [None]
    assert (program.links, program.memory, program.schedule) == ((), (), None)


def test_on_one_chip_every_value_is_whole():
    program = lower(MatmulSpec(16, 16, 16), TOKEN)
    assert program.mesh.names == ("tp",)
    assert program.chip_count == 1
    assert {buffer.holds for buffer in program.buffers} == {((Replicate(),),)}
    assert {value.layout for value in program.graph.values} == {(Replicate(),)}


def test_the_left_operand_lies_and_flows_by_columns_and_all_else_by_rows():
    program = lower(MatmulSpec(16, 16, 16), TOKEN)
    tensors = {tensor.name: tensor.orientation for tensor in program.tensors}
    pages = {buffer.name: buffer.page.orientation for buffer in program.buffers}
    assert tensors == {"a": Orientation.COLUMNS, "b": Orientation.ROWS, "c": Orientation.ROWS}
    assert pages == {
        "a_pages": Orientation.COLUMNS,
        "b_pages": Orientation.ROWS,
        "partial": Orientation.ROWS,
    }


def test_the_graph_has_the_matrices_of_the_user():
    graph = lower(MatmulSpec(4, 6, 13).padded_k(8), TOKEN).graph
    assert [(v.name, v.dims, v.rows, v.cols, v.pad) for v in graph.values] == [
        ("a", ("m", "k"), 4, 13, (0, 3)),
        ("b", ("k", "n"), 13, 6, (3, 0)),
        ("c", ("m", "n"), 4, 6, (0, 0)),
    ]
    assert (graph.inputs, graph.outputs) == (("a", "b"), ("c",))


@pytest.mark.parametrize("tile", [2, 4, 8, 16])
def test_pages_are_tiles(tile):
    program = lower(MatmulSpec(16, 16, 16), get("token-mesh", tile=tile))
    assert {(b.page.beats, b.page.lanes) for b in program.buffers} == {(tile, tile)}
    assert [b.page.beat_bits for b in program.buffers] == [8 * tile, 8 * tile, 32 * tile]
    assert {tensor.tile for tensor in program.tensors} == {program.tile} == {tile}


def test_padding_stands_behind_the_contraction_of_both_operands():
    program = lower(MatmulSpec(4, 6, 13).padded_k(8), TOKEN)
    a, b, c = program.tensors
    assert ((a.rows, a.cols), program.real_shape(a)) == ((4, 16), (4, 13))
    assert ((b.rows, b.cols), program.real_shape(b)) == ((16, 6), (13, 6))
    assert ((c.rows, c.cols), program.real_shape(c)) == ((4, 6), (4, 6))
    assert (program.claim.k, program.claim.k_pad) == (13, 3)


@pytest.mark.parametrize("ranges", RANGES)
@pytest.mark.parametrize("k", [1, 7, 1000])
def test_the_output_holds_every_sum_of_the_operands_ranges(ranges, k):
    program = lower(spec(k, ranges), TOKEN)
    span = program.tensor_by_name["c"].value_range
    assert (span.low, span.high) == reachable(k, *ranges)


@pytest.mark.parametrize("ranges", RANGES)
def test_the_largest_contraction_that_fits_is_named_and_accepted(ranges):
    k_max = largest(ranges)
    lower(spec(k_max, ranges), TOKEN)
    for k in (k_max + 1, 2 * k_max + 5):
        low, high = reachable(k, *ranges)
        with pytest.raises(AccumulatorOverflowError) as refusal:
            lower(spec(k, ranges), TOKEN)
        error = refusal.value
        assert isinstance(error, WorkloadError)
        assert (error.k, error.low, error.high, error.dtype) == (k, low, high, "int32")
        assert error.k_max == k_max
        assert str(error) == (
            f"a contraction of k = {k} can reach sums in [{low}, {high}], which int32 does not "
            f"hold; with these operand ranges k may be at most {k_max}: multiply in parts along k "
            f"and add those, or declare narrower operand ranges (compile --a-range, --b-range)"
        )


@pytest.mark.parametrize(("bits", "enough"), [(2, 16), (15, 16), (16, 17)])
def test_bits_of_sums_that_suffice_are_named(bits, enough):
    k = 1 if bits < 16 else 2
    with pytest.raises(AccumulatorOverflowError) as refusal:
        lower(MatmulSpec(1, 1, k, sum_bits=bits), TOKEN)
    assert str(refusal.value).endswith(f", or use more bits for sums (--sum-bits {enough})")
    if bits < 16:
        assert "with these operand ranges no k is small enough: declare" in str(refusal.value)
    assert lower(MatmulSpec(1, 1, k, sum_bits=enough), TOKEN)
    with pytest.raises(AccumulatorOverflowError):
        lower(MatmulSpec(1, 1, k, sum_bits=enough - 1), TOKEN)


def test_the_largest_contraction_compiles_and_one_more_does_not():
    k_max = (2**31 - 1) // (128 * 128)
    assert compile(MatmulSpec(8, 8, k_max), TOKEN).claim.k == k_max
    with pytest.raises(AccumulatorOverflowError, match=re.escape(f"k may be at most {k_max}:")):
        compile(MatmulSpec(8, 8, k_max + 1), TOKEN)


def test_padding_does_not_count_as_contraction():
    k_max = largest(RANGES[0])
    lower(MatmulSpec(1, 1, k_max).padded_k(2**20), TOKEN)


def test_operands_that_are_always_zero_never_overflow():
    zero = ValueRange(0, 0)
    program = lower(MatmulSpec(1, 1, 2**40, a_range=zero), TOKEN)
    assert program.tensor_by_name["c"].value_range == zero


ALL = ValueRange(-128, 127)
RELU = Max(Operand(0), Literal(0))
ON_THE_WAY = Add(Max(Operand(0), Literal(2**20)), Literal(-(2**20)))
"""Always zero, but its maximum needs 22 bits."""


def test_a_map_stands_between_the_product_and_the_store():
    program = lower(MatmulSpec(8, 8, 4, map=RELU), TOKEN)
    assert list(program.stage_by_name) == ["load_a", "load_b", "matmul", "map", "store_c"]
    assert program.stage_by_name["map"].kind == Map(RELU)
    assert [(e.source, e.destination) for e in program.edges][2:] == [
        ("matmul", "map"),
        ("map", "store_c"),
    ]
    assert program.claim.map == RELU
    assert program.tensor_by_name["c"].value_range == ValueRange(0, 4 * 128 * 128)


@pytest.mark.parametrize("bits", range(2, 33))
def test_sums_are_as_wide_as_was_asked_for(bits):
    """The longest contraction of 0 and 1 that fits is as long as the largest number."""
    ones = ValueRange(0, 1)
    longest = 2 ** (bits - 1) - 1
    spec = MatmulSpec(8, 8, longest, a_range=ones, b_range=ones, sum_bits=bits)
    program = lower(spec, TOKEN)
    assert program.buffer_by_name["partial"].page.dtype.bits == bits
    assert program.tensor_by_name["c"].dtype.bits == program.numerics.total.bits == bits
    with pytest.raises(AccumulatorOverflowError, match=f"which int{bits} does not hold"):
        lower(replace(spec, k=longest + 1), TOKEN)


@pytest.mark.parametrize(
    ("body", "bits", "low", "high"),
    [
        (Add(Operand(0), Literal(2**20)), 21, -(4 * 128 * 127), 4 * 128 * 128 + 2**20),
        (ON_THE_WAY, 21, -(2**20), 2**20),
        (Max(Operand(0), Literal(2**31)), 32, -(4 * 128 * 127), 2**31),
    ],
    ids=str,
)
def test_a_map_that_leaves_the_sums_type_is_refused(body, bits, low, high):
    with pytest.raises(WorkloadError) as refusal:
        lower(MatmulSpec(8, 8, 4, a_range=ALL, b_range=ALL, sum_bits=bits, map=body), TOKEN)
    assert str(refusal.value) == (
        f"map {body} can reach [{low}, {high}], which int{bits} does not hold; use more sum_bits"
    )
