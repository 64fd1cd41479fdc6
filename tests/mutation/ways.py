"""Ways that several sums share, or that lead over other chips: turns and forwards."""

from dataclasses import replace

from compiler.ir.buffer import BufferKind
from compiler.ir.edge import Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Engine, EngineKind, Fold, Recv, Split, Stage
from tests.compiler.programs import changed, without
from tests.mutation.certified import completed
from tests.mutation.mutation import breaks
from tests.mutation.parts import feeding, forwards, switches


def turned(program: Program, stage: Stage, turns: tuple[int, ...]) -> Program:
    return changed(program, stage.name, kind=replace(stage.kind, turns=turns))


def around(turns: tuple[int, ...]) -> tuple[int, ...]:
    """Turns that begin with the second one."""
    return (*turns[1:], turns[0])


def held_around(program: Program, name: str) -> Program:
    """``program`` with a buffer that is said to hold, in turns, what comes second first."""
    return changed(program, name, holds=around(program.buffer_by_name[name].holds))


def joint_buffers(program: Program, merge: Stage) -> tuple[str, str]:
    """The buffer that a merge fills, and the one in which its pages land."""
    edge = program.edge_by_buffer[merge.outs[0]]
    return merge.outs[0], program.landing(edge).name


@breaks("layout: LayoutMismatch")
def a_merge_takes_turns_that_the_split_does_not_know(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[0], around(pair[0].kind.turns)) if pair else None


@breaks("layout: LayoutMismatch")
def a_split_takes_turns_that_the_merge_does_not_know(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[1], around(pair[1].kind.turns)) if pair else None


@breaks("layout: LayoutMismatch")
def a_merge_takes_other_turns_and_its_buffers_say_so(program: Program) -> Program | None:
    """Up to the split, no two records disagree; it puts every page into the wrong buffer."""
    pair = switches(program)
    if pair is None:
        return None
    for name in joint_buffers(program, pair[0]):
        program = held_around(program, name)
    return turned(program, pair[0], around(pair[0].kind.turns))


@breaks("layout: LayoutMismatch")
def both_take_other_turns_and_the_buffers_do_not_say_so(program: Program) -> Program | None:
    pair = switches(program)
    if pair is None:
        return None
    for stage in pair:
        program = turned(program, stage, around(stage.kind.turns))
    return program


@breaks("layout: LayoutMismatch")
def the_inputs_of_a_merge_are_exchanged(program: Program) -> Program | None:
    pair = switches(program)
    return changed(program, pair[0].name, ins=pair[0].ins[::-1]) if pair else None


@breaks("layout: LayoutMismatch")
def the_outputs_of_a_split_are_exchanged(program: Program) -> Program | None:
    pair = switches(program)
    return changed(program, pair[1].name, outs=pair[1].outs[::-1]) if pair else None


@breaks("well formed: Turns")
def an_input_of_a_merge_has_no_turn(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[0], (0, 0)) if pair else None


@breaks("well formed: Turns")
def an_output_of_a_split_has_no_turn(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[1], (1, 1)) if pair else None


@breaks("well formed: Turns")
def there_are_no_turns(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[0], ()) if pair else None


@breaks("well formed: Turns")
def a_turn_is_of_no_input(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[0], (*pair[0].kind.turns, 7)) if pair else None


@breaks("well formed: Turns")
def a_turn_is_of_an_output_before_the_first(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[1], (*pair[1].kind.turns, -1)) if pair else None


@breaks("layout: ", "counting: ")
def one_input_has_two_turns_in_a_round(program: Program) -> Program | None:
    pair = switches(program)
    return turned(program, pair[0], (*pair[0].kind.turns, 0)) if pair else None


@breaks("counting: ")
def one_edge_has_two_turns_in_a_round_at_both_ends(program: Program) -> Program | None:
    """And every buffer on the way says so."""
    pair = switches(program)
    if pair is None:
        return None
    merge, split = pair
    for name in joint_buffers(program, merge):
        holds = program.buffer_by_name[name].holds
        program = changed(program, name, holds=(*holds, holds[merge.kind.turns.index(0)]))
    for stage in (merge, split):
        program = turned(program, stage, (*stage.kind.turns, 0))
    return program


@breaks("layout: LayoutMismatch")
def two_pages_at_a_time_are_merged_and_one_is_split_off(program: Program) -> Program | None:
    """As many of each edge in a round, and the buffers up to the split say so."""
    pair = switches(program)
    if pair is None:
        return None
    merge, _ = pair
    for name in joint_buffers(program, merge):
        holds = program.buffer_by_name[name].holds
        program = changed(program, name, holds=tuple(h for held in holds for h in (held, held)))
    return turned(program, merge, tuple(t for turn in merge.kind.turns for t in (turn, turn)))


@breaks("layout: LayoutMismatch")
def a_joint_buffer_is_said_to_hold_one_sum_only(program: Program) -> Program | None:
    pair = switches(program)
    if pair is None:
        return None
    name, _ = joint_buffers(program, pair[0])
    return changed(program, name, holds=program.buffer_by_name[name].holds[:1])


@breaks("layout: LayoutMismatch", "counting: ")
def a_split_is_left_out(program: Program) -> Program | None:
    """The fold adds what comes over the shared link as if it were one sum."""
    pair = switches(program)
    if pair is None:
        return None
    split = pair[1]
    edges = program.edges_by_source[split.name]
    folds = {edge.destination for edge in edges}
    fold = program.stage_by_name[min(folds)]
    if len(folds) > 1 or not isinstance(fold.kind, Fold):
        return None
    entering = feeding(program, split)
    kept = tuple(name for name in fold.ins if name not in split.outs)
    program = without(program, split.name, *split.outs, *(edge.name for edge in edges))
    program = changed(program, entering.name, destination=fold.name)
    ins = (*kept, *split.ins)
    body = program.stage_by_name[fold.name].kind.body
    for _ in range(len(fold.ins) - len(ins)):
        body = body.left
    return changed(program, fold.name, ins=ins, kind=Fold(body))


@breaks("well formed: BufferProducerCount")
def a_split_loses_an_output(program: Program) -> Program | None:
    """With three outputs or more, the others still have their turns."""
    pair = switches(program)
    if pair is None:
        return None
    split = pair[1]
    turns = tuple(turn for turn in split.kind.turns if turn != len(split.outs) - 1)
    outs = split.outs[:-1] if len(split.outs) > 2 else (split.outs[0], split.outs[0])
    turns = turns if len(split.outs) > 2 else (0, 1)
    return changed(program, split.name, outs=outs, kind=Split(turns))


@breaks("capacity: EngineRole")
def a_merge_runs_on_the_engine_of_a_port(program: Program) -> Program | None:
    pair = switches(program)
    if pair is None:
        return None
    index = program.target.link_ports - 1
    return changed(program, pair[0].name, engine=Engine(EngineKind.LINK, index))


@breaks("capacity: UnknownEngine")
def a_split_runs_on_an_engine_that_is_not_there(program: Program) -> Program | None:
    pair = switches(program)
    if pair is None:
        return None
    index = program.target.engine_counts[EngineKind.SWITCH]
    return changed(program, pair[1].name, engine=Engine(EngineKind.SWITCH, index))


@breaks("order: is in 1 collectives, not in 0")
def a_product_is_said_to_be_part_of_what_shares_a_link(program: Program) -> Program | None:
    if switches(program) is None:
        return None
    (collective, *_) = program.collectives
    stages = (*collective.stages, "c1.matmul")
    return changed(program, collective.name, stages=stages)


@breaks("hand-offs: LinkMismatch")
def a_forward_is_left_out(program: Program) -> Program | None:
    """The edge leads straight to where it is to end, on the link to the chip that it passed."""
    stages = forwards(program)
    if not stages:
        return None
    passing = stages[0]
    onward = program.edge_by_buffer[passing.outs[0]]
    entering = feeding(program, passing)
    assert onward.link
    program = without(program, passing.name, *passing.outs, onward.name, onward.link)
    return completed(changed(program, entering.name, destination=onward.destination))


@breaks("landing: FifoLeavesSite")
def a_forward_is_said_to_stay_where_it_lands(program: Program) -> Program | None:
    stages = forwards(program)
    return changed(program, stages[0].outs[0], kind=BufferKind.FIFO) if stages else None


@breaks("landing: ")
def a_forward_stands_at_the_chip_where_it_ends(program: Program) -> Program | None:
    stages = forwards(program)
    if not stages:
        return None
    passing = stages[0]
    onward = program.edge_by_buffer[passing.outs[0]]
    site = program.stage_by_name[onward.destination].site
    program = changed(program, passing.name, site=site)
    return changed(program, passing.outs[0], site=site)


@breaks("hand-offs: LinkMismatch")
def a_forward_stands_at_another_chip(program: Program) -> Program | None:
    """The links go where they went."""
    stages = forwards(program)
    if not stages:
        return None
    passing = stages[0]
    onward = program.edge_by_buffer[passing.outs[0]]
    assert passing.site
    ends = (passing, program.stage_by_name[feeding(program, passing).source])
    taken = {stage.chip for stage in (*ends, program.stage_by_name[onward.destination])}
    chip = next(chip for chip in range(program.chip_count) if chip not in taken)
    site = replace(passing.site, chip=chip)
    program = changed(program, passing.name, site=site)
    return changed(program, passing.outs[0], site=site)


@breaks("layout: LayoutMismatch")
def a_chip_sends_its_own_sum_in_place_of_the_one_that_it_passes(
    program: Program,
) -> Program | None:
    """And sends that one where its own belongs; both are added somewhere."""
    for passing in forwards(program):
        onward = program.edge_by_buffer[passing.outs[0]]
        for product in program.stages:
            if product.chip != passing.chip or product.kind.engine != "compute":
                continue
            own = program.edge_by_buffer[product.outs[0]]
            if not program.crosses(own):
                continue
            for edge, other in ((onward, own), (own, onward)):
                link = other.link
                program = changed(program, edge.name, destination=other.destination, link=link)
            return program
    return None


@breaks("layout: LayoutMismatch")
def a_forward_is_said_to_pass_another_sum(program: Program) -> Program | None:
    stages = forwards(program)
    if not stages:
        return None
    name = stages[0].outs[0]
    product = next(s for s in program.stages if s.chip == stages[0].chip and s.kind.ins.least == 2)
    return changed(program, name, holds=program.buffer_by_name[product.outs[0]].holds)


@breaks("landing: RecvSource")
def a_forward_receives_nothing(program: Program) -> Program | None:
    """What it is to pass goes to where it ends by itself."""
    stages = forwards(program)
    if not stages:
        return None
    passing = stages[0]
    onward = program.edge_by_buffer[passing.outs[0]]
    entering = feeding(program, passing)
    program = changed(program, entering.name, destination=onward.destination)
    return changed(program, onward.name, destination=passing.name)


@breaks("reduced once: feed each other in a circle", "layout: Cycle")
def two_chips_forward_to_each_other(program: Program) -> Program | None:
    """What each of them receives, it sends to the other: nobody has made it."""
    stages = forwards(program)
    if not stages:
        return None
    passing = stages[0]
    onward = program.edge_by_buffer[passing.outs[0]]
    entering = feeding(program, passing)
    assert entering.link
    assert onward.link
    first = program.stage_by_name[entering.source]
    assert first.site
    buffer = replace(program.buffer_by_name[passing.outs[0]], name="back.pages", site=first.site)
    back = Stage("back", Recv(), (), ("back.pages",), first.site, Engine(EngineKind.LINK, 5))
    there, on = program.link_by_name[entering.link], program.link_by_name[onward.link]
    ends = {"source_chip": there.destination_chip, "destination_chip": there.source_chip}
    handoff = entering.handoff
    if isinstance(handoff, Semaphore):
        handoff = Semaphore("back.ready", "back.valid")
    return replace(
        program,
        stages=(*program.stages, back),
        buffers=(*program.buffers, buffer),
        links=(
            *(link for link in program.links if link != on),
            replace(there, name="back.link", **ends),
            replace(on, name="direct", source_chip=there.source_chip),
        ),
        edges=(
            *(e for e in program.edges if e not in (onward, entering)),
            replace(onward, name="to.back", destination="back", link="back.link"),
            replace(
                entering, name="from.back", source="back", buffer="back.pages", handoff=handoff
            ),
            replace(entering, link="direct", destination=onward.destination),
        ),
    )
