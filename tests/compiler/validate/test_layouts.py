"""Layouts: what is no sum of every contribution exactly once is refused, along every axis."""

from dataclasses import replace

import pytest

from compiler.ir.body import Add, Literal, Max, Operand, left_fold
from compiler.ir.buffer import BufferKind
from compiler.ir.edge import Edge, ValidReady
from compiler.ir.graph import with_layouts
from compiler.ir.layout import At, Layout, Partial, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Map, MatmulTiles, Merge, Site, Split, Stage
from compiler.validate import check_meaning, validate
from compiler.validate.layouts import check_layouts
from tests.collective_programs import collective
from tests.compiler.programs import (
    MANY_PORTS,
    TOKEN,
    changed,
    names_on_chip,
    sharded,
    spread,
    without,
)
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

TWO = sharded(2)
FOUR = sharded(4)
GRID = spread(mesh=Mesh(row=2, col=2), shard=(("m", "row"), ("k", "col")), result="all")
"""Chips 0 and 1 have the upper rows of A and C, chips 2 and 3 the lower ones."""
SQUARE = spread(mesh=Mesh(row=2, col=2), shard=(("m", "row"), ("n", "col")))
"""Nothing is summed over chips: each has a quarter of C."""


GREATEST = collective("reduce", "star", 2, rows=16, cols=16, combine="max", target=TOKEN)
ADDED = collective("reduce", "star", 2, rows=16, cols=16, target=TOKEN)
"""Slices by themselves: their maximum and their sum, on chip 0."""


def holding(program: Program, buffer: str, *holds: Layout) -> Program:
    return changed(program, buffer, holds=holds)


def arrives_as(program: Program, landing: str, *contributions: int) -> Program:
    return holding(program, landing, (Partial(contributions),))


def relaid(program: Program, value: str, *layout: object) -> Program:
    return replace(program, graph=with_layouts(program.graph, {value: layout}))


def folds_whole_products() -> Program:
    """Both chips load all of A and B, and the two equal products are added."""
    program = relaid(relaid(TWO, "a", Replicate()), "b", Replicate())
    for name in ("c0.a_pages", "c0.b_pages", "c1.a_pages", "c1.b_pages", "c0.partial"):
        program = holding(program, name, (Replicate(),))
    program = holding(program, "c1.partial", (Replicate(),))
    return holding(program, "c0.landing_0", (Replicate(),))


def stores_an_operand() -> Program:
    """Chip 0 stores its slice of A, and nothing else happens."""
    keep = {"c0.load_a", "c0.store_c", "c0.a_pages", "c0.load_a->c0.matmul", "c0.a", "c0.b", "c"}
    records = (TWO.tensors, TWO.stages, TWO.buffers, TWO.edges, TWO.links)
    drop = {record.name for group in records for record in group} - keep
    program = changed(without(TWO, *drop), "c0.store_c", ins=("c0.a_pages",))
    return changed(program, "c0.load_a->c0.matmul", destination="c0.store_c")


def forgets_chip_3() -> Program:
    """Chip 2 sends its own partial as it is, and chip 3 does not exist."""
    program = without(FOUR, *names_on_chip(FOUR, 3), "c2.recv_0", "c2.landing_0", "c2.fold")
    program = without(program, "c2.subtotal", "c2.matmul->c2.fold", "c2.recv_0->c2.fold")
    kind = FOUR.buffer_by_name["c2.subtotal"].kind
    program = changed(program, "c2.partial", kind=kind)
    program = changed(program, "c2.fold->c0.recv_1", source="c2.matmul", buffer="c2.partial")
    return arrives_as(program, "c0.landing_1", 2)


def maps_before_the_fold() -> Program:
    """Chip 1 maps what it sends: the largest of zero and a partial sum."""
    stage = Stage(
        "c1.map", Map(Max(Operand(0), Literal(0))), ("c1.partial",), ("c1.mapped",), Site(1)
    )
    mapped = replace(TWO.buffer_by_name["c1.partial"], name="c1.mapped")
    program = replace(
        TWO,
        memory=(),
        stages=(*TWO.stages, stage),
        buffers=(*TWO.buffers, mapped),
        edges=(*TWO.edges, Edge("c1.map->c0.recv_0", "c1.map", "c1.mapped", "c0.recv_0")),
    )
    program = changed(program, "c1.map->c0.recv_0", link="c1->c0")
    program = changed(program, "c1.partial", kind=BufferKind.FIFO)
    return changed(
        program, "c1.matmul->c0.recv_0", destination="c1.map", link=None, handoff=ValidReady()
    )


def inserted(program: Program, edge: str, *stages: Stage, **holds: tuple[Layout, ...]) -> Program:
    """``program`` with stages within a local edge, each of whose outputs feeds the one behind.

    ``holds`` are the buffers that the stages fill; the first stage reads what the edge carried.
    """
    (old,) = (record for record in program.edges if record.name == edge)
    model = program.buffer_by_name[old.buffer]
    site = program.stage_by_name[old.source].site
    reader = program.stage_by_name[old.destination]
    new = [
        replace(model, name=name, holds=held, kind=BufferKind.FIFO, depth=None)
        for name, held in holds.items()
    ]
    readers = {name: stage.name for stage in stages for name in stage.ins}
    edges = [
        Edge(f"e_{name}", stage.name, name, readers.get(name, reader.name), old.handoff)
        for stage in stages
        for name in stage.outs
    ]
    last = stages[-1].outs
    ins = tuple(n for name in reader.ins for n in (last if name == old.buffer else (name,)))
    program = replace(
        program,
        memory=(),
        stages=(*program.stages, *(replace(stage, site=site) for stage in stages)),
        buffers=(*program.buffers, *new),
        edges=(*program.edges, *edges),
    )
    program = changed(program, reader.name, ins=ins)
    return changed(program, edge, destination=stages[0].name)


def copied_partial() -> Program:
    """Chip 0's own partial sum is copied, and both copies are added."""
    copy = Stage("twin", Copy(), ("c0.partial",), ("one", "two"))
    held = ((Partial((0,)),),)
    program = inserted(TWO, "c0.matmul->c0.fold", copy, one=held, two=held)
    return changed(program, "c0.fold", kind=Fold(left_fold(3)))


ZERO, FIRST, WHOLE = (Partial((0,)),), (Partial((1,)),), (Replicate(),)


def passed_through(
    merge: tuple[int, ...], split: tuple[int, ...], mixed: tuple[Layout, ...] = (ZERO, FIRST)
) -> Program:
    """The two sums that chip 0 adds are put together and taken apart again before the fold."""
    program = inserted(
        TWO,
        "c0.matmul->c0.fold",
        Stage("merge", Merge(merge), ("c0.partial", "c0.landing_0"), ("mixed",)),
        Stage("split", Split(split), ("mixed",), ("own", "other")),
        mixed=mixed,
        own=(ZERO,),
        other=(FIRST,),
    )
    program = changed(program, "c0.recv_0->c0.fold", destination="merge")
    return changed(program, "c0.fold", ins=("own", "other"))


def crossed(program: Program, chip: int, other: int) -> Program:
    """What two chips send goes each to where the other's went, and so do the links."""
    first, second = (f"c{sender}.matmul" for sender in (chip, other))
    (one,), (two,) = program.edges_by_source[first], program.edges_by_source[second]
    program = changed(program, one.name, source=second, buffer=two.buffer)
    program = changed(program, two.name, source=first, buffer=one.buffer)
    program = changed(program, str(one.link), source_chip=other)
    return changed(program, str(two.link), source_chip=chip)


def added_product(program: Program, left: str, right: str, held: Layout) -> Program:
    """Chip 0 multiplies once more, and adds what comes of it to its sum."""
    model = {
        "left": program.buffer_by_name["c0.a_pages"],
        "right": program.buffer_by_name["c0.b_pages"],
    }
    loaded = {
        side: replace(
            model[side], name=side, holds=program.buffer_by_name[f"c0.{name}_pages"].holds
        )
        for side, name in (("left", left), ("right", right))
    }
    product = replace(program.buffer_by_name["c0.partial"], name="product", holds=(held,))
    stages = (
        Stage("load_left", Load(f"c0.{left}"), (), ("left",), Site(0)),
        Stage("load_right", Load(f"c0.{right}"), (), ("right",), Site(0)),
        Stage("multiply", MatmulTiles(), ("left", "right"), ("product",), Site(0)),
    )
    ends = {"load_left": "multiply", "load_right": "multiply", "multiply": "c0.fold"}
    edges = (
        Edge(f"from_{stage.name}", stage.name, stage.outs[0], ends[stage.name], ValidReady())
        for stage in stages
    )
    fold = program.stage_by_name["c0.fold"]
    program = changed(
        program,
        "c0.fold",
        ins=(*fold.ins, "product"),
        kind=Fold(left_fold(len(fold.ins) + 1)),
    )
    return replace(
        program,
        memory=(),
        stages=(*program.stages, *stages),
        buffers=(*program.buffers, *loaded.values(), product),
        edges=(*program.edges, *edges),
    )


def together() -> Program:
    """A store takes both sums by turns."""
    program = without(TWO, "c0.fold", "c0.fold->c0.store_c", "c0.reduced")
    program = changed(program, "c0.store_c", ins=("mixed",))
    program = changed(program, "c0.matmul->c0.fold", destination="merge")
    program = changed(program, "c0.recv_0->c0.fold", destination="merge")
    merge = Stage("merge", Merge((0, 1)), ("c0.partial", "c0.landing_0"), ("mixed",), Site(0))
    mixed = replace(TWO.buffer_by_name["c0.reduced"], name="mixed", holds=(ZERO, FIRST))
    return replace(
        program,
        memory=(),
        stages=(*program.stages, merge),
        buffers=(*program.buffers, mixed),
        edges=(*program.edges, Edge("merge->store", "merge", "mixed", "c0.store_c", ValidReady())),
    )


MUTANTS = (
    Mutant(
        "the operands are cut along different axes of the problem",
        holding(relaid(TWO, "b", Shard("n")), "c0.b_pages", (Shard("n"),)),
        "LayoutMismatch",
        "c1.b_pages",
        "is declared as slices of k, but 'c1.load_b' makes it slices of n",
    ),
    Mutant(
        "and every buffer says so",
        holding(
            holding(relaid(TWO, "b", Shard("n")), "c0.b_pages", (Shard("n"),)),
            "c1.b_pages",
            (Shard("n"),),
        ),
        "SliceMismatch",
        "c0.matmul",
        "multiplies slices of k on its left with slices of n on its right along tp",
    ),
    Mutant(
        "one operand is whole",
        holding(holding(relaid(TWO, "b", Replicate()), "c0.b_pages", WHOLE), "c1.b_pages", WHOLE),
        "SliceMismatch",
        "c0.matmul",
        "multiplies slices of k on its left with whole on its right along tp",
    ),
    Mutant(
        "a partial sum is declared whole",
        holding(FOUR, "c1.partial", WHOLE),
        "LayoutMismatch",
        "c1.partial",
        "is declared as whole, but 'c1.matmul' makes it a partial sum of {1}",
    ),
    Mutant(
        "a landing buffer is declared to hold more than was sent",
        arrives_as(FOUR, "c0.landing_0", 1, 2),
        "LayoutMismatch",
        "c0.landing_0",
        "is declared as partial sum of {1,2}, but 'c0.recv_0' makes it a partial sum of {1}",
    ),
    Mutant(
        "whole products are added",
        folds_whole_products(),
        "FoldOfWhole",
        "c0.fold",
        "adds a whole, not a partial sum",
    ),
    Mutant(
        "rows that are none of a chip's own arrive",
        crossed(GRID, 1, 3),
        "SliceElsewhere",
        "c2.fold",
        "takes slice 0 along row, but is on a chip at 1 along row",
    ),
    Mutant(
        "a sum arrives in place of another",
        crossed(FOUR, 1, 3),
        "LayoutMismatch",
        "c2.landing_0",
        "is declared as partial sum of {3}, but 'c2.recv_0' makes it a partial sum of {1}",
    ),
    Mutant(
        "a chip adds its own contribution twice",
        added_product(TWO, "a", "b", ZERO),
        "ContributionRepeated",
        "c0.fold",
        "adds the partial sum of slice 0 2 times",
    ),
    Mutant(
        "a sum of some rows is added to one of all",
        added_product(GRID, "b", "b", (Replicate(), Partial((0,)))),
        "FoldMismatch",
        "c0.fold",
        "adds slices of m along row and partial sum of {0} along col, ",
    ),
    Mutant(
        "a store takes the sums of two chips by turns",
        together(),
        "PartialStored",
        "c0.store_c",
        "would store a partial sum of {0}: the contributions of slices 1 are missing",
    ),
    Mutant(
        "the maximum of partial sums",
        changed(TWO, "c0.fold", kind=Fold(Max(Operand(0), Operand(1)))),
        "MaxOfPartials",
        "c0.fold",
        "takes the maximum of partial sums, which is no sum",
    ),
    Mutant(
        "a maximum deep inside of a sum",
        changed(FOUR, "c0.fold", kind=Fold(Add(Operand(0), Max(Operand(1), Operand(2))))),
        "MaxOfPartials",
        "c0.fold",
        "takes the maximum",
    ),
    Mutant(
        "the sum of partial maxima",
        changed(GREATEST, "c0.fold_c1", kind=Fold(left_fold(2))),
        "SumOfPartials",
        "c0.fold_c1",
        "adds partial maxima, which is no maximum",
    ),
    Mutant(
        "a maximum where slices are added",
        changed(ADDED, "c0.fold_c1", kind=Fold(Max(Operand(0), Operand(1)))),
        "MaxOfPartials",
        "c0.fold_c1",
        "takes the maximum of partial sums, which is no sum",
    ),
    Mutant(
        "a chip of the tree is forgotten, and the sum still declared whole",
        forgets_chip_3(),
        "LayoutMismatch",
        "c0.reduced",
        "is declared as whole, but 'c0.fold' makes it a partial sum of {0,1,2}",
    ),
    Mutant(
        "a chip of the tree is forgotten",
        arrives_as(forgets_chip_3(), "c0.reduced", 0, 1, 2),
        "PartialStored",
        "c0.store_c",
        "would store a partial sum of {0,1,2}: the contributions of slices 3 are missing",
    ),
    Mutant(
        "a literal is added to the sum",
        changed(TWO, "c0.fold", kind=Fold(Add(left_fold(2), Literal(1)))),
        "LiteralInFold",
        "c0.fold",
        "adds the literal 1, which is part of no product",
    ),
    Mutant(
        "a chip maps its own partial sum",
        maps_before_the_fold(),
        "MapOfPartial",
        "c1.map",
        "applies max(op0, 0) to a partial sum of {1}; it must come after the reduction",
    ),
    Mutant(
        "a slice of an operand is stored",
        stores_an_operand(),
        "StoredLayout",
        "c0.store_c",
        "would store slices of k, but 'c' is to be whole there",
    ),
    Mutant(
        "an output of two axes that is cut along one only",
        relaid(SQUARE, "c", Shard("m"), Replicate()),
        "StoredLayout",
        "c0.store_c",
        "store slices of m along row and slices of n along col, but 'c' is to be slices of m along "
        "row and whole along col there",
    ),
    Mutant(
        "a partial sum is copied, and both copies are added",
        copied_partial(),
        "BroadcastOfPartial",
        "twin",
        "copy 'twin' gives a partial sum of {0} to several; it must come after the reduction",
    ),
    Mutant(
        "pages are taken apart in other turns than they were put together",
        passed_through((0, 1), (1, 0)),
        "LayoutMismatch",
        "other",
        "is declared as partial sum of {1}, but 'split' makes it a partial sum of {0}",
    ),
    Mutant(
        "pages are put together in other turns than is said",
        passed_through((1, 0), (0, 1)),
        "LayoutMismatch",
        "mixed",
        "as partial sum of {0} then partial sum of {1}, but 'merge' makes it a partial sum of {1} "
        "then a partial sum of {0}",
    ),
    Mutant(
        "turns of which each output has some of both",
        passed_through((0, 1), (0, 1, 1, 0)),
        "LayoutMismatch",
        "other",
        "makes it a partial sum of {1} then a partial sum of {0}",
    ),
    Mutant(
        "turns of which one output has more, and a fold takes as many of both",
        passed_through((0, 1), (0, 0, 1)),
        "CountingImbalance",
        "c0.fold",
        "passes pages of 'other' in another proportion than the stages that it is joined to",
    ),
)


@parametrize(MUTANTS)
def test_what_is_not_the_whole_sum_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_layouts_has_a_mutant():
    assert_every_rule_has_a_mutant("layouts", MUTANTS)


@pytest.mark.parametrize("order", [(2, 0, 1), (1, 2, 0)])
def test_partial_sums_may_be_added_in_any_order(order):
    first, second, third = map(Operand, order)
    fold = Fold(Add(first, Add(second, third)))
    validate(changed(FOUR, "c0.fold", kind=fold), TOKEN)


@pytest.mark.parametrize(
    ("merge", "split", "mixed"),
    [
        ((0, 1), (0, 1), (ZERO, FIRST)),
        ((1, 0), (1, 0), (FIRST, ZERO)),
        ((0, 1), (0, 1, 0, 1), (ZERO, FIRST)),
        ((0, 1, 0, 1), (0, 1), (ZERO, FIRST)),
        ((0, 1, 1, 0), (0, 1, 1, 0), (ZERO, FIRST)),
    ],
)
def test_what_is_put_together_may_be_taken_apart_in_the_same_turns(merge, split, mixed):
    """Turns are the same if they repeat the same, however often they are written out."""
    check_layouts(passed_through(merge, split, mixed))


def placements(axes: dict[str, str], result: str, coordinates: tuple[int, ...]) -> set[Layout]:
    """What may stand in buffers of the chip there, for dimensions cut along these axes."""
    dims = {axis: dim for dim, axis in axes.items()}
    a = tuple(Shard(dims[x]) if dims.get(x) in ("m", "k") else Replicate() for x in "xyz")
    b = tuple(Shard(dims[x]) if dims.get(x) in ("k", "n") else Replicate() for x in "xyz")
    c = tuple(Shard(dims[x]) if dims.get(x) in ("m", "n") else Replicate() for x in "xyz")
    own = tuple(
        Partial((at,)) if dims.get(x) == "k" else held
        for x, at, held in zip("xyz", coordinates, c, strict=True)
    )
    return {a, b, c, own}


@pytest.mark.parametrize("result", ["home", "all"])
@pytest.mark.parametrize(
    "axes",
    [{}, {"m": "x"}, {"k": "y"}, {"m": "z", "n": "x"}, {"m": "x", "n": "y", "k": "z"}],
    ids=str,
)
def test_products_over_three_axes_hold_what_the_definition_says(axes, result):
    """Of two chips along the axis of k, a buffer holds own products, one that comes, or the sum."""
    mesh = Mesh(x=2, y=2, z=2)
    program = spread(mesh=mesh, shard=tuple(axes.items()), result=result, target=MANY_PORTS)
    check_meaning(program)
    for buffer in program.buffers:
        assert buffer.site is not None
        at = mesh.coordinates(buffer.site.chip)
        other = tuple(1 - along for along in at)
        (held,) = buffer.holds
        assert held in placements(axes, result, at) | placements(axes, result, other)
    sums = {b.name for b in program.buffers if any(isinstance(p, Partial) for p in b.holds[0])}
    assert bool(sums) == ("k" in axes)


def test_a_value_at_one_chip_is_whole_there():
    assert TWO.graph.value_by_name["c"].layout == (At(0),)
    (total,) = (b for b in TWO.buffers if b.name == "c0.reduced")
    assert total.holds == (WHOLE,)
