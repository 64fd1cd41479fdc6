import numpy as np
import pytest

from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.graph import Graph, Matmul, Value
from sim.errors import InexactTypeError, InexactValueError
from sim.reference import claimed, mapped, product


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (3, 4, 5), (7, 1, 40), (1, 9, 300)])
def test_product_is_the_sum_of_products_in_int32(m, n, k):
    rng = np.random.default_rng(m * n * k)
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    expected = [
        [sum(x * y for x, y in zip(row, col, strict=True)) for col in b.T.tolist()]
        for row in a.tolist()
    ]
    assert product(a, b).tolist() == expected
    assert product(a, b).dtype == np.int32


@pytest.mark.parametrize("length", [2, 1000, 131_071])
@pytest.mark.parametrize(("x", "y"), [(-128, -128), (-128, 127), (127, 127)])
def test_extreme_sums_do_not_wrap(length, x, y):
    a, b = np.full((1, length), x, np.int8), np.full((length, 1), y, np.int8)
    assert product(a, b).tolist() == [[length * x * y]]


def test_refuses_a_product_that_int32_does_not_hold():
    a = np.full((1, 131_072), -128, np.int8)
    with pytest.raises(InexactValueError, match=r"the product holds 2147483648 at \(0, 0\)"):
        product(a, a.T)


@pytest.mark.parametrize("reach", [2**31, 2**40, 2**62, 2**63 - 1])
def test_sums_beyond_64_bits_are_as_exact(reach):
    """They cancel, so there is an answer; in 64 bits it would come out wrong or by luck."""
    a = np.array([[reach, reach, -reach, 5]])
    b = np.array([[reach], [reach - 1], [2 * reach - 1 if reach < 2**62 else reach], [3]])
    expected = sum(x * y for x, y in zip(a[0].tolist(), b[:, 0].tolist(), strict=True))
    if abs(expected) < 2**31:
        assert product(a, b).tolist() == [[expected]]
    else:
        with pytest.raises(InexactValueError, match=rf"the product holds {expected} at \(0, 0\)"):
            product(a, b)


def test_a_map_beyond_64_bits_is_as_exact():
    body = Add(Max(Add(Operand(0), Literal(2**70)), Literal(0)), Literal(-(2**70)))
    assert mapped(np.array([[7, -7]], np.int32), body).tolist() == [[7, -7]]


@pytest.mark.parametrize(
    "operand", [np.ones((2, 2)), np.ones((2, 2), bool), np.ones((2, 2), complex)], ids=str
)
def test_refuses_operands_that_are_no_integers(operand):
    with pytest.raises(InexactTypeError, match=f"operand B holds {operand.dtype}"):
        product(np.ones((2, 2), np.int8), operand)


def test_refuses_operands_that_64_bits_do_not_hold():
    with pytest.raises(InexactValueError, match=f"operand A holds {2**63} at"):
        product(np.full((1, 1), 2**63, np.uint64), np.ones((1, 1), np.int8))


@pytest.mark.parametrize("shapes", [((0, 3), (3, 4)), ((3, 4), (4, 0))])
def test_empty_product_is_empty(shapes):
    a, b = (np.zeros(shape, np.int8) for shape in shapes)
    assert product(a, b).shape == (shapes[0][0], shapes[1][1])


MAPS = [
    (Max(Operand(0), Literal(0)), lambda x: max(x, 0)),
    (Add(Literal(-7), Operand(0)), lambda x: x - 7),
    (Add(Max(Add(Operand(0), Literal(9)), Literal(-3)), Literal(1)), lambda x: max(x + 9, -3) + 1),
    (Add(Max(Operand(0), Literal(2**40)), Literal(-(2**40))), lambda x: 0),
]


@pytest.mark.parametrize(("body", "function"), MAPS, ids=[str(body) for body, _ in MAPS])
def test_a_map_is_applied_to_each_element(body, function):
    sums = np.array([[-(2**31) + 7, -12, -8], [0, 5, 2**31 - 20]], np.int32)
    result = mapped(sums, body)
    assert result.dtype == np.int32
    assert result.tolist() == [[function(x) for x in row] for row in sums.tolist()]


def test_refuses_a_mapped_product_that_int32_does_not_hold():
    sums = np.full((1, 1), 2**31 - 1, np.int32)
    with pytest.raises(InexactValueError, match=r"the mapped product holds 2147483648 at \(0, "):
        mapped(sums, Add(Operand(0), Literal(1)))


def test_every_output_of_a_graph_is_computed_from_its_inputs_by_name():
    """The second product takes what the first has made."""
    graph = Graph(
        values=(
            Value("x", ("m", "k"), 2, 3),
            Value("w", ("k", "n"), 3, 2),
            Value("v", ("k", "n"), 2, 4),
            Value("h", ("m", "n"), 2, 2),
            Value("y", ("m", "n"), 2, 4),
        ),
        operations=(
            Matmul("x", "w", "h", map=Max(Operand(0), Literal(0))),
            Matmul("h", "v", "y"),
        ),
    )
    x, w = np.array([[1, -2, 3], [0, 1, -1]]), np.array([[1, -1], [2, 0], [0, 5]])
    v = np.arange(8).reshape(2, 4) - 3
    outputs = claimed(graph, {"v": v, "w": w, "x": x})
    hidden = np.maximum(x @ w, 0)
    assert list(outputs) == ["h", "y"]
    assert outputs["h"].tolist() == hidden.tolist()
    assert outputs["y"].tolist() == (hidden @ v).tolist()
