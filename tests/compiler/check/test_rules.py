"""The obligations that are rules: what they count, and which rules they add."""

from collections import Counter
from dataclasses import replace

import pytest

from compiler.check.rules import capacity, handoffs, landing, meaning, well_formed
from compiler.ir.edge import Fifo, Link
from compiler.ir.layout import Replicate
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Engine, EngineKind, Site
from compiler.targets import get
from tests.compiler.programs import SEMAPHORE, TOKEN, changed, compiled, sharded, without

ONE, FOUR, STAR = compiled(), sharded(4), sharded(5, "star")
PAGED = sharded(3, target=SEMAPHORE)
PROGRAMS = [ONE, FOUR, STAR, PAGED]
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


@each_program
def test_stages_and_buffers_are_counted(program):
    assert well_formed(program).holds
    assert well_formed(program).evidence == (
        ("stages", len(program.stages)),
        ("buffers", len(program.buffers)),
    )


@each_program
def test_crossings_and_receives_are_one_for_each_chip_but_the_home(program):
    others = program.chip_count - 1
    assert landing(program).holds
    assert landing(program).evidence == (("edges between chips", others), ("receives", others))


@each_program
def test_handoffs_are_counted_by_their_spelling(program):
    local, crossing = program.target.local_handoff, program.target.crossing_handoff
    others = program.chip_count - 1
    expected = {local: len(program.edges) - others} | ({crossing: others} if others else {})
    assert handoffs(program).holds
    assert handoffs(program).evidence == tuple(sorted(expected.items()))


@each_program
def test_buffers_are_counted_by_what_they_hold(program):
    counts = Counter(
        type(placement).__name__
        for buffer in program.buffers
        for layout in buffer.holds
        for placement in layout
    )
    assert meaning(program).holds
    assert dict(meaning(program).evidence) == counts


def bytes_of(program: Program, chip: int) -> int:
    """One element at a time: whole tiles of tensors, and whole pages in buffers."""
    size = {"int8": 1, "int32": 4}
    return sum(
        size[tensor.dtype.name] * 64
        for tensor in program.tensors
        if tensor.chip == chip
        for _ in range(-(-tensor.rows // 8) * -(-tensor.cols // 8))
    ) + sum(
        size[buffer.page.dtype.name] * 64 * buffer.depth_pages
        for buffer in program.buffers
        if buffer.site.chip == chip
    )


@each_program
def test_memory_and_link_ends_of_the_fullest_chip_are_counted(program):
    chips = range(program.chip_count)
    ends = [
        sum(chip in (link.source_chip, link.destination_chip) for link in program.links)
        for chip in chips
    ]
    assert capacity(program).holds
    assert capacity(program).evidence == (
        ("most bytes of a chip", max(bytes_of(program, chip) for chip in chips)),
        ("bytes that a chip has", 2**24),
        ("most link ends of a chip", max(ends)),
        ("link ports of a chip", 8),
    )


def provided(**changes: object) -> Program:
    return replace(FOUR, target=get("token-mesh", **changes))


CASES = [
    (well_formed, without(FOUR, "c1.matmul->c0.recv_0"), "BufferConsumerCount: buffer 'c1.partial"),
    (well_formed, replace(FOUR, tile=0), "TensorTile: tensor 'c0.a' has tiles of 8, the program"),
    (landing, changed(FOUR, "c1.matmul", site=None), "NoSite: 'c1.matmul' has no site"),
    (landing, changed(FOUR, "c1.partial", site=None), "NoSite: 'c1.partial' has no site"),
    (landing, changed(FOUR, "c0.landing_0", site=Site(1)), "LandingElsewhere: receive 'c0.recv_0'"),
    (
        handoffs,
        changed(FOUR, "c1.matmul->c0.recv_0", handoff=None),
        "NoHandoff: edge 'c1.matmul->c0.recv_0' has no hand-off",
    ),
    (
        handoffs,
        replace(changed(FOUR, "c1.matmul->c0.recv_0", link=None), links=()),
        "NoLink: edge 'c1.matmul->c0.recv_0' between two chips has no link",
    ),
    (
        handoffs,
        changed(FOUR, "c1.matmul->c0.recv_0", via=(2,)),
        "ViaOpen: edge 'c1.matmul->c0.recv_0' is to pass chip 2, where nothing receives it and",
    ),
    (
        handoffs,
        changed(FOUR, "c0.load_a->c0.matmul", handoff=Fifo()),
        "HandoffNotProvided: edge 'c0.load_a->c0.matmul' is handed off by Fifo",
    ),
    (
        handoffs,
        replace(FOUR, links=(*FOUR.links, Link("spare", 0, 1, 8, 8))),
        "LinkUse: link 'spare' carries 0 edges",
    ),
    (
        meaning,
        changed(FOUR, "c1.partial", holds=((Replicate(),),)),
        "LayoutMismatch: buffer 'c1.partial' is declared as whole",
    ),
    (capacity, replace(FOUR, memory=()), "MemoryMap: the program has no memory map"),
    (
        capacity,
        changed(FOUR, "c0.fold", engine=None),
        "NoEngine: 'c0.fold' has no engine",
    ),
    (
        capacity,
        changed(FOUR, "c0.fold", engine=Engine(EngineKind.MOVEMENT, 2)),
        "EngineRole: Fold stage 'c0.fold' cannot run on movement2",
    ),
    (
        capacity,
        provided(tile=16),
        "TileUnit: the program multiplies tiles of 8, but target 'token-mesh' has tile units of 16",
    ),
    (
        capacity,
        provided(memory_bytes=4096),
        f"MemoryExceeded: chip 0 needs {bytes_of(FOUR, 0)} bytes",
    ),
    (capacity, replace(FOUR, mesh=Mesh(tp=6)), "IdleChip: chip 4 of 6 has no product"),
    (capacity, replace(FOUR, mesh=Mesh(tp=3)), "UnknownChip: stage 'c3.load_a' is on chip 3 of 3"),
]


@pytest.mark.parametrize(
    ("obligation", "program", "text"), CASES, ids=[text.split(":")[0] for *_, text in CASES]
)
def test_a_broken_rule_is_said_by_its_name(obligation, program, text):
    shown = obligation(program)
    (violation,) = shown.violations
    assert violation.startswith(text)
    assert shown.evidence


def test_the_target_that_counts_is_the_programs_own():
    """Nobody has to say for which target a program is checked."""
    assert capacity(FOUR).holds
    assert FOUR.target == TOKEN
    assert not capacity(provided(link_ports=1)).holds
