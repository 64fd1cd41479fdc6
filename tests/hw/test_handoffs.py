# amaranth: UnusedElaboratable=no
"""Each hand-off between chips has its protocol, whose parts fit each other."""

import pytest

from compiler.ir.edge import HANDOFFS, Edge
from hw.handoffs import PROTOCOLS, protocol_of
from tests.hw.hand_built import crossing
from tests.hw.simulation import lanes

pytestmark = pytest.mark.usefixtures("never_built")
BEAT = lanes(4, 32)
CROSSING = [name for name, kind in HANDOFFS.items() if kind.crosses]
each_handoff = pytest.mark.parametrize("name", CROSSING)


def edge_by(name: str) -> Edge:
    edge = Edge("over", "c1.matmul", "c1.partial", "c0.recv", link="c1->c0")
    return Edge(edge.name, edge.source, edge.buffer, edge.destination, crossing(name, edge))


def test_the_hand_offs_that_cross_have_a_protocol_and_no_others():
    assert {kind.__name__ for kind in PROTOCOLS} == {*CROSSING}


@each_handoff
@pytest.mark.parametrize("width_bits", [8, 128])
def test_both_ends_have_the_signature_of_the_link(name, width_bits):
    protocol = protocol_of(edge_by(name))
    sender = protocol.transmitter(BEAT, page_beats=4, width_bits=width_bits, credits=3)
    receiver = protocol.receiver(BEAT, width_bits=width_bits, depth_pages=3)
    signature = protocol.signature(width_bits)
    assert signature.width_bits == width_bits
    assert sender.signature.members["link"].signature == signature
    assert receiver.signature.members["link"].signature.flip() == signature


@each_handoff
def test_a_receiver_commits_pages_if_they_are_there_as_a_whole(name):
    edge = edge_by(name)
    receiver = protocol_of(edge).receiver(BEAT, width_bits=8, depth_pages=3)
    assert ("commit" in receiver.signature.members) == edge.handoff.by_page


@each_handoff
def test_a_depth_comes_from_a_port_where_no_receiver_offers_it(name):
    protocol = protocol_of(edge_by(name))
    offers = "ready" in protocol.signature(8).members
    assert protocol.depth_from_port == (not offers)
    assert not (protocol.meets and not offers), "only offers meet"
