"""Names, ports and pairing: what is no graph is refused."""

from dataclasses import replace

from compiler.ir.body import Add, Body, Literal, Operand, left_fold
from compiler.ir.edge import Edge
from compiler.ir.layout import Replicate
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Merge, Recv, Split, Stage, Store
from tests.compiler.programs import changed, compiled, sharded, without
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
FOUR = sharded(4)
CROSSING = "c1.matmul->c0.recv_0"


def twice(group: str, name: str) -> Mutant:
    records = getattr(FOUR, group)
    (record,) = (record for record in records if record.name == name)
    what = group.removesuffix("s")
    return Mutant(
        f"two {group} of one name",
        replace(FOUR, **{group: (*records, record)}),
        "DuplicateName",
        name,
        f"2 {what}s are named {name!r}; a name is identity",
    )


def unknown(name: str, field: str, value: object, text: str) -> Mutant:
    return Mutant(
        f"{field} of {name}",
        changed(FOUR, name, **{field: value}),
        "UnknownName",
        "nowhere",
        f"{text} 'nowhere', which does not exist",
    )


def a_value_of(tensor: str) -> Program:
    part = replace(FOUR.tensor_by_name[tensor].part, of="nowhere")
    return changed(FOUR, tensor, part=part)


def taken_apart(what: str, turns: tuple[int, ...], text: str, *, merge: bool) -> Mutant:
    """The two sums of chip 0's last fold pass a merge and a split with these turns."""
    merged, parted = (turns, (0, 1)) if merge else ((0, 1), turns)
    model = FOUR.buffer_by_name["c0.landing_0"]
    program = changed(FOUR, "c0.recv_0->c0.fold", destination="merge")
    program = changed(program, "c0.recv_1->c0.fold", destination="merge")
    program = replace(
        program,
        stages=(
            *program.stages,
            Stage("merge", Merge(merged), ("c0.landing_0", "c0.landing_1"), ("mixed",)),
            Stage("split", Split(parted), ("mixed",), ("one", "two")),
        ),
        buffers=(*program.buffers, *(replace(model, name=n) for n in ("mixed", "one", "two"))),
        edges=(
            *program.edges,
            Edge("merge->split", "merge", "mixed", "split"),
            Edge("split->one", "split", "one", "c0.fold"),
            Edge("split->two", "split", "two", "c0.fold"),
        ),
    )
    program = changed(program, "c0.fold", ins=("c0.partial", "one", "two"))
    return Mutant(what, program, "Turns", "merge" if merge else "split", text)


def ports(name: str, text: str, **changes: object) -> Mutant:
    return Mutant(
        f"{name} with other {' and '.join(changes)}",
        changed(FOUR, name, **changes),
        "StagePorts",
        name,
        text,
    )


def fold(what: str, rule: str, text: str, body: Body, ins: tuple[str, ...] | None = None) -> Mutant:
    ins = ins or FOUR.stage_by_name["c0.fold"].ins
    return Mutant(what, changed(FOUR, "c0.fold", kind=Fold(body), ins=ins), rule, "c0.fold", text)


def second_edge_out_of(buffer: str) -> Program:
    edge = next(edge for edge in FOUR.edges if edge.buffer == buffer)
    return replace(FOUR, edges=(*FOUR.edges, replace(edge, name="again")))


def second_producer_of(buffer: str) -> Program:
    load = replace(FOUR.stage_by_name["c1.load_a"], name="again", outs=(buffer,))
    return replace(FOUR, stages=(*FOUR.stages, load))


def receive_of_nothing() -> Program:
    landing = replace(FOUR.buffer_by_name["c0.landing_0"], name="landing")
    recv, sink = Stage("lonely", Recv(), outs=("landing",)), Stage("s", Store("c"), ("landing",))
    return replace(
        FOUR,
        stages=(*FOUR.stages, recv, sink),
        buffers=(*FOUR.buffers, landing),
        edges=(*FOUR.edges, Edge("lonely->s", "lonely", "landing", "s")),
    )


def read_beside_the_receive() -> Program:
    """Chip 1's partial is sent to chip 0, and a stage of chip 1 reads it as well."""
    stage = Stage("c1.spy", Store("c"), ins=("c1.partial",))
    return replace(FOUR, stages=(*FOUR.stages, stage))


def named_like_a_tensor() -> Program:
    """The pages of A wait in a buffer that is called as A itself."""
    program = changed(ONE, "load_a", outs=("a",))
    program = changed(program, "matmul", ins=("a", "b_pages"))
    program = changed(program, "load_a->matmul", buffer="a")
    return changed(program, "a_pages", name="a")


MUTANTS = (
    twice("tensors", "c1.a"),
    twice("stages", "c1.matmul"),
    twice("buffers", "c1.partial"),
    twice("edges", CROSSING),
    Mutant(
        "a buffer with the name of a tensor",
        named_like_a_tensor(),
        "DuplicateName",
        "a",
        "2 memory owners are named 'a'; a name is identity",
    ),
    twice("links", "c1->c0"),
    twice("collectives", "tree_reduce"),
    unknown("c0.store_c", "ins", ("nowhere",), "stage 'c0.store_c' names buffer"),
    unknown("c0.fold", "outs", ("nowhere",), "stage 'c0.fold' names buffer"),
    unknown("c0.load_a", "kind", Load("nowhere"), "stage 'c0.load_a' names tensor"),
    unknown("c0.store_c", "kind", Store("nowhere"), "stage 'c0.store_c' names tensor"),
    unknown(CROSSING, "source", "nowhere", f"edge {CROSSING!r} names stage"),
    unknown(CROSSING, "destination", "nowhere", f"edge {CROSSING!r} names stage"),
    unknown(CROSSING, "buffer", "nowhere", f"edge {CROSSING!r} names buffer"),
    unknown(CROSSING, "link", "nowhere", f"edge {CROSSING!r} names link"),
    unknown("tree_reduce", "stages", ("nowhere",), "collective 'tree_reduce' names stage"),
    unknown("tree_reduce", "value", "nowhere", "collective 'tree_reduce' names value"),
    unknown("tree_reduce", "axis", "nowhere", "collective 'tree_reduce' names axis"),
    Mutant(
        "a part of no value",
        a_value_of("c1.a"),
        "UnknownName",
        "nowhere",
        "tensor 'c1.a' names value 'nowhere', which does not exist",
    ),
    ports("c0.load_a", "must have 0 inputs and 1 outputs, not 1 and 1", ins=("c0.partial",)),
    ports("c0.recv_0", "must have 0 inputs and 1 outputs, not 1 and 1", ins=("c1.partial",)),
    ports("c0.recv_0", "must have 0 inputs and 1 outputs, not 0 and 0", outs=()),
    ports("c1.matmul", "must have 2 inputs and 1 outputs, not 1 and 1", ins=("c1.a_pages",)),
    ports("c0.store_c", "must have 1 inputs and 0 outputs, not 0 and 0", ins=()),
    ports(
        "c0.fold",
        "must have at least 2 inputs and 1 outputs, not 1 and 1",
        ins=("c0.partial",),
        kind=Fold(Operand(0)),
    ),
    ports("c0.fold", "must have 1 inputs and at least 2 outputs, not 3 and 1", kind=Copy()),
    ports("c0.fold", "must have at least 2 inputs and 1 outputs, not 3 and 0", outs=()),
    ports("c1.matmul", "have 1 inputs and at least 2 outputs, not 2 and 1", kind=Split((0,))),
    fold(
        "an input is left out, but not in the body",
        "FoldOperandMissing",
        "stage 'c0.fold' reads op2, but has only 2 inputs",
        left_fold(3),
        ("c0.partial", "c0.landing_0"),
    ),
    fold(
        "a negative operand",
        "FoldOperandMissing",
        "stage 'c0.fold' reads op-1, but has only 3 inputs",
        Add(left_fold(2), Operand(-1)),
    ),
    fold(
        "an operand is fed twice",
        "FoldOperandRepeated",
        "reads input 'c0.landing_0' (op1) 2 times in (((op0 + op1) + op2) + op1)",
        Add(left_fold(3), Operand(1)),
    ),
    fold(
        "an operand is fed twice in place of another",
        "FoldOperandRepeated",
        "each input counts exactly once",
        Add(left_fold(2), Operand(1)),
    ),
    fold(
        "an operand is left out of the body",
        "FoldOperandUnused",
        "reads input 'c0.landing_1' (op2) 0 times in (op0 + op1)",
        left_fold(2),
    ),
    fold(
        "an operation is of literals alone",
        "FoldBody",
        "stage 'c0.fold' computes (((op0 + op1) + op2) + (1 + 2)); it must be an operation",
        Add(left_fold(3), Add(Literal(1), Literal(2))),
    ),
    taken_apart("a turn of no input", (0, 2), "has 2 inputs, but turn 2 is none", merge=True),
    taken_apart("a turn before the first", (-1, 0, 1), "but turn -1 is none of them", merge=True),
    taken_apart("an input without a turn", (1,), "but 'c0.landing_0' has no turn", merge=True),
    taken_apart("a merge of no turns", (), "but 'c0.landing_0' has no turn", merge=True),
    taken_apart("a turn of no output", (0, 1, 5), "has 2 outputs, but turn 5 is none", merge=False),
    taken_apart("an output without a turn", (0, 0), "but 'two' has no turn", merge=False),
    Mutant(
        "a buffer that does not say what it holds",
        changed(FOUR, "c1.partial", holds=()),
        "HoldsNothing",
        "c1.partial",
        "does not say what it holds",
    ),
    Mutant(
        "a buffer that holds something along two axes of one",
        changed(FOUR, "c1.partial", holds=((Replicate(), Replicate()),)),
        "LayoutLength",
        "c1.partial",
        "says what it holds along 2 axes; the mesh tp=4 has 1",
    ),
    Mutant(
        "a buffer whose second page holds something along no axis",
        changed(FOUR, "c1.partial", holds=(*FOUR.buffer_by_name["c1.partial"].holds, ())),
        "LayoutLength",
        "c1.partial",
        "says what it holds along 0 axes; the mesh tp=4 has 1",
    ),
    Mutant(
        "a receive is dropped with its edges",
        without(FOUR, "c0.recv_0", CROSSING, "c0.recv_0->c0.fold"),
        "BufferProducerCount",
        "c0.landing_0",
        "has 0 producing stages; it must have one",
    ),
    Mutant(
        "two stages fill a buffer",
        second_producer_of("c1.partial"),
        "BufferProducerCount",
        "c1.partial",
        "has 2 producing stages",
    ),
    Mutant(
        "an outgoing partial goes nowhere",
        without(FOUR, CROSSING),
        "BufferConsumerCount",
        "c1.partial",
        "has 0 consuming edges; it must have one",
    ),
    Mutant(
        "an outgoing partial goes two ways",
        second_edge_out_of("c1.partial"),
        "BufferConsumerCount",
        "c1.partial",
        "has 2 consuming edges",
    ),
    Mutant(
        "a fold reads one landing buffer twice",
        changed(FOUR, "c0.fold", ins=("c0.partial", "c0.landing_0", "c0.landing_0")),
        "BufferReadTwice",
        "c0.landing_0",
        "is read by 2 inputs; its pages can be taken once",
    ),
    Mutant(
        "an edge leaves a stage that does not fill its buffer",
        changed(FOUR, CROSSING, source="c1.load_a"),
        "EdgeSource",
        CROSSING,
        "takes from buffer 'c1.partial', which its source 'c1.load_a' does not fill",
    ),
    Mutant(
        "an edge ends in a stage that does not read its buffer",
        changed(FOUR, CROSSING, destination="c0.store_c"),
        "EdgeDestination",
        CROSSING,
        "ends in 'c0.store_c', which does not read buffer 'c1.partial'",
    ),
    Mutant(
        "a buffer is received elsewhere and read here",
        read_beside_the_receive(),
        "InputWithoutEdge",
        "c1.spy",
        "reads buffer 'c1.partial', but no edge leads it there",
    ),
    Mutant(
        "two edges end in a receive",
        changed(FOUR, "c3.matmul->c2.recv_0", destination="c0.recv_0"),
        "RecvSource",
        "c0.recv_0",
        "has 2 incoming edges; it must have one",
    ),
    Mutant(
        "no edge ends in a receive",
        receive_of_nothing(),
        "RecvSource",
        "lonely",
        "has 0 incoming edges",
    ),
)


@parametrize(MUTANTS)
def test_what_is_no_graph_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_structure_has_a_mutant():
    assert_every_rule_has_a_mutant("structure", MUTANTS)
