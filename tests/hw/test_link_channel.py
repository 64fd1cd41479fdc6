# amaranth: UnusedElaboratable=no
import random

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import Out

from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature
from hw.link_channel import LinkChannel
from tests.hw.simulation import idle, monitor, simulate


def wires(end) -> dict:
    """The wires of one end of a link, by direction as the sending chip sees it."""
    forward = [end.flit.payload, end.flit.valid]
    if hasattr(end, "credit"):
        return {"forward": forward, "backward": [end.credit]}
    return {"forward": [*forward, end.valid], "backward": [end.ready]}


@pytest.mark.parametrize("latency_cycles", [1, 2, 3, 8])
@pytest.mark.parametrize("signature", [CreditLinkSignature, SemaphoreLinkSignature])
def test_delays_every_wire_by_its_latency_in_its_direction(signature, latency_cycles):
    rng = random.Random(f"{signature.__name__}/{latency_cycles}")
    dut = LinkChannel(signature(11), latency_cycles=latency_cycles)
    sender, receiver = wires(dut.sender), wires(dut.receiver)
    driven = sender["forward"] + receiver["backward"]
    seen = receiver["forward"] + sender["backward"]
    log = []

    async def both_chips(ctx):
        for _ in range(60):
            for wire in driven:
                ctx.set(wire, rng.randrange(1 << len(wire)))
            await ctx.tick()

    simulate(dut, both_chips, monitors=[monitor(log, *driven, *seen)])
    entering = [samples[: len(driven)] for samples in log]
    leaving = [samples[len(driven) :] for samples in log]
    nothing = (0,) * len(driven)
    assert leaving == [nothing] * latency_cycles + entering[:-latency_cycles]


@pytest.mark.parametrize("latency_cycles", [1, 4])
def test_delays_the_ready_of_a_stream_that_waits(latency_cycles):
    link = wiring.Signature({"words": Out(stream.Signature(8))})
    dut = LinkChannel(link, latency_cycles=latency_cycles)

    async def both_chips(ctx):
        ctx.set(dut.sender.words.valid, 1)
        ctx.set(dut.sender.words.payload, 77)
        ctx.set(dut.receiver.words.ready, 1)
        for _ in range(latency_cycles):
            assert not ctx.get(dut.receiver.words.valid)
            assert not ctx.get(dut.sender.words.ready)
            await ctx.tick()
        assert ctx.get(dut.receiver.words.valid)
        assert ctx.get(dut.receiver.words.payload) == 77
        assert ctx.get(dut.sender.words.ready)

    simulate(dut, both_chips)


def test_carries_a_link_that_nothing_comes_back_on():
    dut = LinkChannel(wiring.Signature({"pulse": Out(1)}), latency_cycles=2)
    log = []

    async def sender(ctx):
        ctx.set(dut.sender.pulse, 1)
        await ctx.tick()
        ctx.set(dut.sender.pulse, 0)
        await idle(ctx, 4)

    simulate(dut, sender, monitors=[monitor(log, dut.receiver.pulse)])
    assert [pulse for (pulse,) in log] == [0, 0, 1, 0, 0]


def test_reset_empties_the_channel():
    dut = LinkChannel(CreditLinkSignature(8), latency_cycles=4)
    reset = Signal()
    log = []

    async def both_chips(ctx):
        ctx.set(dut.sender.flit.valid, 1)
        ctx.set(dut.receiver.credit, 1)
        await idle(ctx, 3)
        ctx.set(dut.sender.flit.valid, 0)
        ctx.set(dut.receiver.credit, 0)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await idle(ctx, 8)

    channel = ResetInserter(reset)(dut)
    simulate(
        channel, both_chips, monitors=[monitor(log, dut.receiver.flit.valid, dut.sender.credit)]
    )
    assert set(log) == {(0, 0)}


@pytest.mark.parametrize("latency_cycles", [0, -1, 1.5])
def test_latency_must_be_a_positive_integer(latency_cycles):
    with pytest.raises(TypeError) as error:
        LinkChannel(CreditLinkSignature(8), latency_cycles=latency_cycles)
    assert str(error.value) == f"Link latency must be a positive integer, not {latency_cycles!r}"
