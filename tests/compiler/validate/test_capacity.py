"""Capacity: what asks more of a chip than it has is refused."""

from dataclasses import replace

import pytest

from compiler.errors import ValidationError
from compiler.ir.buffer import Depth
from compiler.ir.program import Allocation, Program
from compiler.ir.stage import Engine, EngineKind, Site
from compiler.passes.route import route
from compiler.targets import get
from compiler.validate import validate
from tests.compiler.programs import TOKEN, changed, compiled, partitioned, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
FOUR = sharded(4)
COMPUTE, MOVEMENT, LINK = EngineKind.COMPUTE, EngineKind.MOVEMENT, EngineKind.LINK
SWITCH = EngineKind.SWITCH


def engine(what: str, stage: str, runs_on: Engine, rule: str, text: str) -> Mutant:
    return Mutant(what, changed(FOUR, stage, engine=runs_on), rule, stage, text)


def on_chip(program: Program, chip: int) -> Program:
    """``program`` with all stages and buffers on another chip."""
    return replace(
        program,
        stages=tuple(replace(stage, site=Site(chip)) for stage in program.stages),
        buffers=tuple(replace(buffer, site=Site(chip)) for buffer in program.buffers),
    )


def bytes_needed(program: Program, chip: int) -> int:
    """Bytes of whole tiles of tensors and of pages in buffers, counted one element at a time."""
    elements = [
        (tensor.dtype, -(-tensor.rows // 8) * 8 * -(-tensor.cols // 8) * 8)
        for tensor in program.tensors
        if tensor.chip == chip
    ]
    elements += [
        (buffer.page.dtype, buffer.depth_pages * 8 * 8)
        for buffer in program.buffers
        if buffer.site.chip == chip
    ]
    return sum({"int8": 1, "int32": 4}[dtype.name] * count for dtype, count in elements)


HOME_BYTES = bytes_needed(FOUR, 0)


def placed(owner: str, **changes: int) -> Program:
    """``FOUR`` with the place of one owner in memory changed."""
    places = (replace(p, **changes) if p.owner == owner else p for p in FOUR.memory)
    return replace(FOUR, memory=tuple(places))


MUTANTS = (
    Mutant(
        "a chip behind the last",
        on_chip(ONE, 1),
        "UnknownChip",
        "load_a",
        "stage 'load_a' is on chip 1 of 1",
    ),
    Mutant(
        "a chip before the first",
        on_chip(ONE, -1),
        "UnknownChip",
        "load_a",
        "stage 'load_a' is on chip -1 of 1",
    ),
    Mutant(
        "a load from another chip's memory",
        changed(FOUR, "c1.a", chip=2),
        "RemoteTensor",
        "c1.load_a",
        "on chip 1 uses tensor 'c1.a' in the memory of chip 2",
    ),
    Mutant(
        "a store into another chip's memory",
        changed(FOUR, "c", chip=3),
        "RemoteTensor",
        "c0.store_c",
        "on chip 0 uses tensor 'c' in the memory of chip 3",
    ),
    engine(
        "an engine that the site lacks",
        "c0.fold",
        Engine(COMPUTE, 3),
        "UnknownEngine",
        "runs on compute3, but a site has 3 compute engines",
    ),
    engine(
        "a link engine that the site lacks",
        "c0.recv_0",
        Engine(LINK, 8),
        "UnknownEngine",
        "runs on link8, but a site has 8 link engines",
    ),
    engine(
        "a negative engine", "c0.fold", Engine(COMPUTE, -1), "UnknownEngine", "runs on compute-1"
    ),
    engine(
        "a product on a movement engine",
        "c1.matmul",
        Engine(MOVEMENT, 2),
        "EngineRole",
        "MatmulTiles stage 'c1.matmul' cannot run on movement2; it needs a compute engine",
    ),
    engine(
        "a store on a compute engine",
        "c0.store_c",
        Engine(COMPUTE, 1),
        "EngineRole",
        "Store stage 'c0.store_c' cannot run on compute1",
    ),
    engine(
        "a fold on a link",
        "c0.fold",
        Engine(LINK, 5),
        "EngineRole",
        "Fold stage 'c0.fold' cannot run on link5",
    ),
    engine(
        "a receive on a movement engine",
        "c2.recv_0",
        Engine(MOVEMENT, 2),
        "EngineRole",
        "Recv stage 'c2.recv_0' cannot run on movement2",
    ),
    engine(
        "a switch engine that the site lacks",
        "c2.recv_0",
        Engine(SWITCH, 32),
        "UnknownEngine",
        "runs on switch32, but a site has 32 switch engines",
    ),
    engine(
        "a receive on a switch",
        "c2.recv_0",
        Engine(SWITCH, 0),
        "EngineRole",
        "Recv stage 'c2.recv_0' cannot run on switch0; it needs a link engine",
    ),
    engine(
        "product and fold on one engine",
        "c0.fold",
        Engine(COMPUTE, 0),
        "EngineOversubscribed",
        "stages 'c0.matmul' and 'c0.fold' share compute0 of site (0,0,0)",
    ),
    engine(
        "two receives on one link port",
        "c0.recv_1",
        Engine(LINK, 0),
        "EngineOversubscribed",
        "stages 'c0.recv_0' and 'c0.recv_1' share link0",
    ),
    Mutant(
        "more links than ports",
        route(partitioned(4), TOKEN),
        "LinkPortsExceeded",
        "chip 0",
        "chip 0 holds 2 ends of links, but has 1 ports",
        get("token-mesh", link_ports=1),
    ),
    Mutant(
        "one byte too few",
        FOUR,
        "MemoryExceeded",
        "chip 0",
        f"needs {HOME_BYTES} bytes for tensors and buffers, but has {HOME_BYTES - 1}; use more",
        get("token-mesh", memory_bytes=HOME_BYTES - 1),
    ),
    Mutant(
        "a buffer without a place",
        replace(FOUR, memory=tuple(p for p in FOUR.memory if p.owner != "c1.partial")),
        "MemoryMap",
        "c1.partial",
        "'c1.partial' on chip 1 has no place in memory",
    ),
    Mutant(
        "a place for nobody",
        replace(FOUR, memory=(*FOUR.memory, Allocation("ghost", 0, 2**20, 64))),
        "MemoryMap",
        "ghost",
        "'ghost' on chip 0 has a place in memory, but is no tensor or buffer there",
    ),
    Mutant(
        "a tensor with two places",
        replace(FOUR, memory=(*FOUR.memory, Allocation("c2.a", 2, 2**20, 256))),
        "MemoryMap",
        "c2.a",
        "'c2.a' on chip 2 has 2 places in memory",
    ),
    Mutant(
        "a place on another chip",
        placed("c1.partial", chip=2),
        "MemoryMap",
        "c1.partial",
        "'c1.partial' on chip 1 has no place in memory",
    ),
    Mutant(
        "a place that is too small",
        placed("c1.a", size_bytes=16 * 16 - 1),
        "MemoryMap",
        "c1.a",
        "'c1.a' needs 256 bytes, but has 255 at 0",
    ),
    Mutant(
        "a place before the first byte",
        placed("c1.a", address=-1),
        "MemoryMap",
        "c1.a",
        "'c1.a' needs 256 bytes, but has 256 at -1",
    ),
    Mutant(
        "two places that overlap by a byte",
        placed("c1.b", address=255),
        "MemoryMap",
        "c1.b",
        "'c1.b' overlaps 'c1.a' on chip 1",
    ),
    Mutant(
        "a place that ends behind the last byte",
        placed("c1.partial", address=TOKEN.memory_bytes - 511),
        "MemoryMap",
        "c1.partial",
        "'c1.partial' ends at byte 16777217 of chip 1, which has 16777216",
    ),
)


@parametrize(MUTANTS)
def test_what_a_chip_does_not_have_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_capacity_has_a_mutant():
    assert_every_rule_has_a_mutant("capacity", MUTANTS)


def test_exactly_what_is_needed_is_enough():
    validate(FOUR, get("token-mesh", memory_bytes=HOME_BYTES, link_ports=2))


@pytest.mark.parametrize("chip", range(4))
def test_memory_of_every_chip_is_counted_by_itself(chip):
    """A buffer of ``chip`` is made so deep that this chip alone exceeds the memory."""
    needed = bytes_needed(FOUR, chip)
    buffer = FOUR.buffer_by_name[f"c{chip}.partial"]
    pages = buffer.depth_pages + -(-(HOME_BYTES - needed + 1) // 256)
    program = changed(FOUR, buffer.name, depth=Depth(pages))
    with pytest.raises(ValidationError) as refusal:
        validate(program, get("token-mesh", memory_bytes=HOME_BYTES))
    assert (refusal.value.rule, refusal.value.subject) == ("MemoryExceeded", f"chip {chip}")
    assert f"needs {bytes_needed(program, chip)} bytes" in str(refusal.value)
