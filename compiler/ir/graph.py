"""The graph of work: the matrices of a problem, and what is computed from what."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from compiler.ir.body import Body
from compiler.ir.choice import UNLESS_DEFAULT, Chooser
from compiler.ir.layout import Layout


@dataclass(frozen=True)
class Value:
    """A matrix of the whole problem, as the user knows it.

    Parameters
    ----------
    dims : tuple of str
        The axes of the problem that rows and columns run along: ``("m", "k")`` for A.
    rows, cols : int
        Elements that the user's matrix has.
    pad : tuple of int
        Zeros that stand behind the last row and column, so that the axes divide.
    layout : Layout
        How it is spread over the mesh: an input from the start, an output at the end.
    """

    name: str
    dims: tuple[str, str]
    rows: int
    cols: int
    pad: tuple[int, int] = (0, 0)
    layout: Layout = ()

    @property
    def padded_rows(self) -> int:
        """Rows, zeros included."""
        return self.rows + self.pad[0]

    @property
    def padded_cols(self) -> int:
        """Columns, zeros included."""
        return self.cols + self.pad[1]


@dataclass(frozen=True)
class LoopOrder:
    """Which of ``m`` and ``n`` is the outer loop over the tiles of a result: ``mn`` or ``nm``."""

    loops: str
    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)

    def __str__(self) -> str:
        return self.loops


@dataclass(frozen=True)
class Matmul:
    """``output = left . right``, each element then mapped by ``map``, if there is one.

    ``map`` is an expression over one operand. ``order`` is ``None`` until the tile pass.
    """

    left: str
    right: str
    output: str
    map: Body | None = None
    order: LoopOrder | None = None


@dataclass(frozen=True)
class Redistribute:
    """``output`` is what ``input`` is, in another layout.

    Where ``combine`` says ``sum`` or ``max``, the chips along ``axis`` have slices of ``input``,
    which are as large as ``output``, and it is their sum or their maximum, element by element.
    """

    input: str
    output: str
    axis: str
    combine: str | None = None


Operation = Matmul | Redistribute


def operands_of(operation: Operation) -> tuple[str, ...]:
    """Names of the values that an operation takes."""
    if isinstance(operation, Redistribute):
        return (operation.input,)
    return operation.left, operation.right


@dataclass(frozen=True)
class Graph:
    """Values and operations. A value that no operation makes is an input."""

    values: tuple[Value, ...]
    operations: tuple[Operation, ...]

    @cached_property
    def value_by_name(self) -> dict[str, Value]:
        """Values by name."""
        return {value.name: value for value in self.values}

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of what the operations make, in their order."""
        return tuple(operation.output for operation in self.operations)

    @property
    def output(self) -> str:
        """Name of what the one operation makes."""
        (output,) = self.outputs
        return output

    @property
    def product(self) -> Matmul | None:
        """The product that the graph has, if it has one."""
        products = (each for each in self.operations if isinstance(each, Matmul))
        return next(products, None)

    @property
    def redistribution(self) -> Redistribute | None:
        """The redistribution that the graph has, if it has one."""
        found = (each for each in self.operations if isinstance(each, Redistribute))
        return next(found, None)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what is given, in the order in which the operations take it."""
        taken = [name for operation in self.operations for name in operands_of(operation)]
        made = {*self.outputs}
        return tuple(name for name in dict.fromkeys(taken) if name not in made)


@dataclass(frozen=True)
class Claim:
    """What a program says that it computes: ``output = left . right`` of the whole shapes.

    ``k`` counts the elements that the user's operands have; ``k_pad`` zeros stand behind them.
    """

    left: str
    right: str
    output: str
    m: int
    n: int
    k: int
    k_pad: int = 0
    map: Body | None = None


def claim_of(graph: Graph) -> Claim:
    """The claim of the one product that a graph has."""
    (product,) = graph.operations
    assert isinstance(product, Matmul)
    left, right = graph.value_by_name[product.left], graph.value_by_name[product.right]
    return Claim(
        left=product.left,
        right=product.right,
        output=product.output,
        m=left.rows,
        n=right.cols,
        k=left.cols,
        k_pad=left.pad[1],
        map=product.map,
    )


def graph_of(claim: Claim, layouts: tuple[Layout, Layout, Layout] = ((), (), ())) -> Graph:
    """The graph of one product, whose operands and output have these layouts."""
    left, right, output = layouts
    return Graph(
        values=(
            Value(claim.left, ("m", "k"), claim.m, claim.k, (0, claim.k_pad), left),
            Value(claim.right, ("k", "n"), claim.k, claim.n, (claim.k_pad, 0), right),
            Value(claim.output, ("m", "n"), claim.m, claim.n, (0, 0), output),
        ),
        operations=(Matmul(claim.left, claim.right, claim.output, claim.map),),
    )


def with_layouts(graph: Graph, layouts: dict[str, Layout]) -> Graph:
    """The same graph with other layouts."""
    return replace(
        graph,
        values=tuple(
            replace(value, layout=layouts.get(value.name, value.layout)) for value in graph.values
        ),
    )
