"""What the validator accepts computes the product: every single edit is refused or harmless."""

import numpy as np
import pytest

from compiler.errors import ShardwrightError, ValidationError
from compiler.ir.body import Add, Body, Operand
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, MatmulTiles, Recv, Stage, Store
from compiler.ir.tensor import Tensor
from compiler.pipeline import compile, run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.validate import validate
from compiler.workload import MatmulSpec
from tests.compiler.programs import compiled
from tests.compiler.single_edits import edits

TILE = 2
UNWRITTEN = -(2**40)
SMALL = get("token-mesh", tile=TILE)
SMALL_PAGED = get("semaphore-mesh", tile=TILE)
ONE = compiled(4, 6, 8, target=SMALL)
FOUR = compile(MatmulSpec(4, 6, 16), SMALL, ShardPlan(4))
PAGED = compile(MatmulSpec(4, 6, 12), SMALL_PAGED, ShardPlan(3, "star"))
ALL = compile(MatmulSpec(4, 6, 10), SMALL, ShardPlan(2, result="all", uneven=True))
GRID = compile(
    MatmulSpec(4, 4, 8),
    SMALL,
    ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}),
)
FIELDS = ("tile", "mesh", "graph", "numerics")


def run(program: Program, whole: dict[str, np.ndarray]) -> np.ndarray:
    """The stored output, page by page, of operands that hold what ``whole`` holds."""
    pages: dict[str, list[np.ndarray]] = {}
    output = np.full((program.claim.m, program.claim.n), UNWRITTEN)
    waiting = list(program.stages)
    while waiting:
        stage = waiting.pop(0)
        sources = [edge.buffer for edge in program.edges if edge.destination == stage.name]
        if not pages.keys() >= {*sources}:
            waiting.append(stage)
            continue
        held = [pages[name] for name in (stage.ins or sources)]
        for name in stage.outs:
            pages[name] = made(program, stage, held, whole)
        if isinstance(stage.kind, Store):
            tensor = program.tensor_by_name[stage.kind.tensor]
            for page, values in zip(stage.kind.walk.pages(), held[0], strict=True):
                place = sliced(tensor, output)[block(tensor, page)]
                assert ((place == UNWRITTEN) | (place == values)).all(), tensor.name
                place[...] = values
    return output


def made(program: Program, stage: Stage, held: list, whole: dict) -> list[np.ndarray]:
    match stage.kind:
        case Load(name, walk):
            tensor = program.tensor_by_name[name]
            matrix = sliced(tensor, whole[tensor.value])
            return [matrix[block(tensor, page)] for page in walk.pages()]
        case MatmulTiles(count):
            products = [a @ b for a, b in zip(*held, strict=True)]
            return [sum(products[i : i + count]) for i in range(0, len(products), count)]
        case Recv() | Copy():
            return held[0]
        case Fold(body):
            return [folded(body, operands) for operands in zip(*held, strict=True)]
    raise AssertionError(stage)


def folded(body: Body, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    match body:
        case Operand(index):
            return operands[index]
        case Add(left, right):
            return folded(left, operands) + folded(right, operands)
    raise AssertionError(body)


def sliced(tensor: Tensor, whole: np.ndarray) -> np.ndarray:
    row, col = tensor.part.row, tensor.part.col
    return whole[row : row + tensor.rows, col : col + tensor.cols]


def block(tensor: Tensor, page: int) -> tuple[slice, slice]:
    row, col = divmod(page, tensor.col_tiles)
    return np.s_[row * TILE : (row + 1) * TILE, col * TILE : (col + 1) * TILE]


@pytest.mark.parametrize(
    ("program", "target"),
    [
        pytest.param(ONE, SMALL, id="one chip"),
        pytest.param(FOUR, SMALL, id="tree of 4", marks=pytest.mark.slow),
        pytest.param(PAGED, SMALL_PAGED, id="star of 3, semaphores"),
        pytest.param(ALL, SMALL, id="both of 2, uneven", marks=pytest.mark.slow),
        pytest.param(GRID, SMALL, id="2 x 2", marks=pytest.mark.slow),
    ],
)
def test_every_single_edit_is_refused_or_computes_the_same(program, target):
    rng = np.random.default_rng(1)
    claim = program.claim
    a, b = (rng.integers(-9, 9, shape) for shape in ((claim.m, claim.k), (claim.k, claim.n)))
    whole = {"a": a, "b": b}
    assert np.array_equal(run(program, whole), a @ b)
    refused, accepted = [], []
    for what, edited in edits(program, *FIELDS):
        try:
            validate(edited, target)
        except ValidationError:
            refused.append(what)
            continue
        accepted.append(what)
        assert np.array_equal(run(edited, whole), a @ b), what
        try:
            again = run_passes(edited, target)
        except ShardwrightError:
            continue
        assert np.array_equal(run(again, whole), a @ b), what
    assert len(refused) > len(accepted) > 0
