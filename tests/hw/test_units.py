# amaranth: UnusedElaboratable=no
"""Each kind of stage has a component, whose ports are joined as its stage says."""

import pytest
from amaranth.lib import stream

from compiler.ir.stage import KINDS
from hw.chip import Chip
from hw.units import UNITS, unit_kind
from tests.hw.hand_built import relay, shared_link
from tests.programs import ShardPlan, program_for

PROGRAMS = {
    "copies": program_for(4, 4, 16, plan=ShardPlan(4, "tree", result="all"), tile=2),
    "pages": program_for(4, 4, 8, chips=2, target="semaphore-mesh", tile=2),
    "relay": relay(),
    "turns": shared_link(),
}
UNITS_MADE = [
    pytest.param(stage, chip.units[stage.name], id=f"{name} {stage.name}")
    for name, program in PROGRAMS.items()
    for chip in (Chip(program, index) for index in range(program.chip_count))
    for stage in chip.stages
]
each_unit = pytest.mark.parametrize(("stage", "unit"), UNITS_MADE)


def test_every_kind_of_stage_has_a_component():
    assert {*UNITS} == {*KINDS}


@each_unit
def test_a_unit_has_a_stream_for_each_buffer_of_its_stage(stage, unit):
    kind = unit_kind(stage)
    assert len(kind.streams_in(unit)) == len(stage.ins)
    assert len(kind.streams_out(unit)) == len(stage.outs)
    for port in kind.streams_in(unit) + kind.streams_out(unit):
        assert isinstance(port, stream.Interface) or hasattr(port, "payload")


@each_unit
def test_a_unit_has_a_port_to_a_memory_if_its_stage_has_a_tensor(stage, unit):
    has_tensor = hasattr(stage.kind, "tensor")
    assert bool(unit_kind(stage).memory) == has_tensor
    assert ("memory" in unit.signature.members) == has_tensor


@each_unit
def test_beats_wait_on_streams_that_can_make_them_wait(stage, unit):
    kind = unit_kind(stage)
    streams = kind.streams_in(unit) + kind.streams_out(unit)
    waiting = kind.stalling(unit)
    assert waiting
    for port in streams:
        assert (port in waiting) == (not port.signature.always_ready)


@each_unit
def test_a_unit_that_loses_what_finds_no_room_says_how_room_is_kept(stage, unit):
    """By a page that leaves its buffer, or at the sender's end of a link."""
    kept = "page_release" in unit.signature.members
    received = unit_kind(stage).ins == () and not unit_kind(stage).memory
    assert unit_kind(stage).waits_for_room == (not kept and not received)
