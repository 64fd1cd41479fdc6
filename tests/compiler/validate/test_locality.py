"""Where data travels: what reads another site's buffer, or is spelled wrongly, is refused."""

from dataclasses import replace

from compiler.ir.buffer import BufferKind
from compiler.ir.edge import Barrier, Edge, Fifo, Link, Semaphore, Token, ValidReady
from compiler.ir.program import Program
from compiler.ir.stage import Load, Recv, Site, Stage, Store
from compiler.targets import get
from compiler.validate import validate
from tests.compiler.programs import SEMAPHORE, changed, compiled, sharded, without
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
FOUR = sharded(4)
PAGED = sharded(4, target=SEMAPHORE)
CROSSING = "c1.matmul->c0.recv_0"
LOCAL = "c1.load_a->c1.matmul"
ANY_HANDOFF = get("token-mesh", handoffs=("ValidReady", "Fifo", "Token", "Semaphore", "Barrier"))


def read_the_senders_buffer() -> Program:
    """The fold takes chip 1's partial where it stands: no receive, no landing buffer."""
    program = without(FOUR, "c0.recv_0", "c0.landing_0", "c0.recv_0->c0.fold")
    program = changed(program, "c0.fold", ins=("c0.partial", "c1.partial", "c0.landing_1"))
    return changed(program, CROSSING, destination="c0.fold")


def receive_from_the_same_site() -> Program:
    """Chip 1's whole branch stands at chip 0's site, and is still received."""
    program = FOUR
    for name in ("load_a", "load_b", "matmul", "a_pages", "b_pages", "partial"):
        program = changed(program, f"c1.{name}", site=Site(0))
    return program


def second_edge_over(link: str) -> Program:
    """Something else travels from chip 1 to chip 0 over a link that is taken."""
    leaving = replace(FOUR.buffer_by_name["c1.partial"], name="extra")
    landing = replace(FOUR.buffer_by_name["c0.landing_0"], name="landed")
    return replace(
        FOUR,
        stages=(
            *FOUR.stages,
            Stage("load", Load("c1.a"), outs=("extra",), site=Site(1)),
            Stage("recv", Recv(), outs=("landed",), site=Site(0)),
            Stage("store", Store("c"), ins=("landed",), site=Site(0)),
        ),
        buffers=(*FOUR.buffers, leaving, landing),
        edges=(
            *FOUR.edges,
            Edge("load->recv", "load", "extra", "recv", Token(), link),
            Edge("recv->store", "recv", "landed", "store", ValidReady()),
        ),
    )


def semaphores(what: str, program: Program, subject: str, text: str) -> Mutant:
    return Mutant(what, program, "SemaphoreUse", subject, text, SEMAPHORE)


def with_semaphore(**changes: object) -> Program:
    (edge,) = (edge for edge in PAGED.edges if edge.name == CROSSING)
    assert isinstance(edge.handoff, Semaphore)
    return changed(PAGED, CROSSING, handoff=replace(edge.handoff, **changes))


MUTANTS = (
    Mutant(
        "a receive lands in the sender's site",
        changed(FOUR, "c0.landing_0", site=Site(1)),
        "LandingElsewhere",
        "c0.recv_0",
        "receive 'c0.recv_0' at site (0,0,0) writes buffer 'c0.landing_0' of site (1,0,0)",
    ),
    Mutant(
        "a receive lands at another coordinate of its chip",
        changed(FOUR, "c0.landing_0", site=Site(0, 1, 0)),
        "LandingElsewhere",
        "c0.recv_0",
        "what arrives must land in a buffer of the receiving site",
    ),
    Mutant(
        "a product fills a buffer of another chip",
        changed(FOUR, "c1.partial", site=Site(0)),
        "BufferSite",
        "c1.partial",
        "is at site (0,0,0), but its producer 'c1.matmul' is at (1,0,0)",
    ),
    Mutant(
        "a receive takes from its own site",
        receive_from_the_same_site(),
        "RecvSource",
        "c0.recv_0",
        f"takes edge {CROSSING!r} from its own site",
    ),
    Mutant(
        "an outgoing partial stays",
        changed(FOUR, "c0.reduced", kind=BufferKind.INTERM),
        "IntermStays",
        "c0.reduced",
        "is an outgoing partial (Interm), but edge 'c0.fold->c0.store_c' stays inside its site",
    ),
    Mutant(
        "a local edge is routed",
        changed(FOUR, LOCAL, link="c1->c0"),
        "LinkMismatch",
        LOCAL,
        "stays inside its chip, but is carried by link 'c1->c0'",
    ),
    Mutant(
        "a route ends at another chip",
        changed(FOUR, CROSSING, link="c3->c2"),
        "LinkMismatch",
        CROSSING,
        "runs from chip 1 to chip 0, but its link 'c3->c2' from chip 3 to chip 2",
    ),
    Mutant(
        "a local edge is to pass another chip",
        changed(FOUR, LOCAL, via=(2,)),
        "ViaChip",
        LOCAL,
        "stays inside its chip, but is to pass chip 2",
    ),
    Mutant(
        "an edge is to pass a chip that does not exist",
        changed(FOUR, CROSSING, via=(2, 4)),
        "ViaChip",
        CROSSING,
        "is to pass chip 4 of 4",
    ),
    Mutant(
        "an edge is to pass a chip before the first",
        changed(FOUR, CROSSING, via=(-1,)),
        "ViaChip",
        CROSSING,
        "is to pass chip -1 of 4",
    ),
    Mutant(
        "a link runs the other way",
        changed(FOUR, "c1->c0", source_chip=0, destination_chip=1),
        "LinkMismatch",
        CROSSING,
        "but its link 'c1->c0' from chip 0 to chip 1",
    ),
    Mutant(
        "the fold reads the sender's buffer",
        read_the_senders_buffer(),
        "MissingReceive",
        CROSSING,
        "ends in 'c0.fold', which reads the sender's buffer 'c1.partial'; it must end in a Recv",
    ),
    Mutant(
        "a store on another chip reads a product's buffer",
        changed(FOUR, "c0.store_c", site=Site(1)),
        "MissingReceive",
        "c0.fold->c0.store_c",
        "crosses to site (1,0,0) and ends in 'c0.store_c'",
    ),
    Mutant(
        "a local buffer leaves its site",
        changed(FOUR, "c1.partial", kind=BufferKind.FIFO),
        "FifoLeavesSite",
        "c1.partial",
        f"is a local Fifo, but edge {CROSSING!r} takes it to another site",
    ),
    Mutant(
        "a crossing edge is spelled as a local one",
        changed(FOUR, CROSSING, handoff=ValidReady()),
        "CrossSiteLocalEdge",
        CROSSING,
        "runs between two chips, but its hand-off ValidReady is local",
    ),
    Mutant(
        "a local edge is spelled as a crossing one",
        changed(FOUR, LOCAL, handoff=Token()),
        "LocalCrossSiteEdge",
        LOCAL,
        "stays inside a chip, but its hand-off Token crosses chips",
    ),
    Mutant(
        "a local hand-off that the target lacks",
        changed(FOUR, LOCAL, handoff=Fifo()),
        "HandoffNotProvided",
        LOCAL,
        "by Fifo, which target 'token-mesh' does not provide (ValidReady, Token)",
    ),
    Mutant(
        "a crossing hand-off that the target lacks",
        changed(FOUR, CROSSING, handoff=Barrier()),
        "HandoffNotProvided",
        CROSSING,
        "by Barrier, which target 'token-mesh' does not provide",
    ),
    Mutant(
        "a link carries nothing",
        replace(FOUR, links=(*FOUR.links, Link("spare", 0, 1, 256, 8))),
        "LinkUse",
        "spare",
        "carries 0 edges; it must carry one",
    ),
    Mutant(
        "a link carries two edges",
        second_edge_over("c1->c0"),
        "LinkUse",
        "c1->c0",
        "carries 2 edges",
    ),
    semaphores(
        "two hand-offs share a semaphore",
        with_semaphore(ready="c2.subtotal.ready"),
        "c2.subtotal.ready",
        "is used 2 times by hand-offs; it must be used once",
    ),
    semaphores(
        "ready and valid are one semaphore",
        with_semaphore(ready="c1.partial.valid"),
        "c1.partial.valid",
        "is used 2 times by hand-offs",
    ),
)


@parametrize(MUTANTS)
def test_data_that_travels_otherwise_than_spelled_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_locality_has_a_mutant():
    assert_every_rule_has_a_mutant("locality", MUTANTS)


def test_any_handoff_that_the_target_provides_may_be_chosen():
    validate(changed(FOUR, LOCAL, handoff=Fifo()), ANY_HANDOFF)
    validate(changed(FOUR, CROSSING, handoff=Barrier()), ANY_HANDOFF)
