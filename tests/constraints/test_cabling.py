"""Cables between boards: which ports they take, wire by wire, and what is refused."""

from dataclasses import replace

import pytest

from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from constraints.cabling import Cable, cables_of_program, cables_of_shape, cabling_of
from constraints.description import load_board
from constraints.errors import (
    CablingValueError,
    LinkEndsDifferError,
    OutOfLinkPortsError,
    PortDirectionError,
    PortUsedTwiceError,
    UnknownChipError,
    UnknownLinkPortError,
)
from tests.programs import finished, program_for

ULX3S = load_board("ulx3s-85f")
ECPIX5 = load_board("ecpix5-85")
ICEBREAKER = load_board("icebreaker")


def names(cabling):
    return [cable.name for cable in cabling.cables]


def test_a_star_brings_every_chip_to_the_first():
    assert names(cabling_of(ULX3S, cables_of_shape("star", 5))) == [
        "c1.out0->c0.in0",
        "c2.out0->c0.in1",
        "c3.out0->c0.in2",
        "c4.out0->c0.in3",
    ]


def test_a_tree_pairs_chips_as_the_reduction_does():
    assert names(cabling_of(ULX3S, cables_of_shape("tree", 8))) == [
        "c1.out0->c0.in0",
        "c2.out0->c0.in1",
        "c4.out0->c0.in2",
        "c3.out0->c2.in0",
        "c5.out0->c4.in0",
        "c6.out0->c4.in1",
        "c7.out0->c6.in0",
    ]


@pytest.mark.parametrize("shape", ["star", "tree"])
@pytest.mark.parametrize("chips", [2, 3, 4, 7, 8])
def test_shapes_join_the_chips_that_reductions_of_that_name_join(shape, chips):
    program = program_for(8, 8, 8 * chips, chips=chips, tile=4, reduce=shape)
    needed = {(cable.source, cable.destination) for cable in cables_of_program(program)}
    joined = [(cable.source, cable.destination) for cable in cables_of_shape(shape, chips)]
    assert len(joined) == len(needed)
    assert {*joined} == needed


def test_a_ring_comes_back_to_the_first_chip():
    cables = ["c0.out0->c1.in0", "c1.out0->c2.in0", "c2.out0->c0.in0"]
    assert names(cabling_of(ICEBREAKER, cables_of_shape("ring", 3))) == cables


@pytest.mark.parametrize("shape", ["star", "tree", "ring"])
def test_one_chip_has_no_cables(shape):
    cabling = cabling_of(ICEBREAKER, cables_of_shape(shape, 1))
    assert cabling.boards == (ICEBREAKER,)
    assert list(cabling.wires()) == []


@pytest.mark.parametrize("shape", ["star", "tree"])
@pytest.mark.parametrize("chips", [2, 3, 5])
def test_every_chip_but_the_first_sends_once(shape, chips):
    cables = cables_of_shape(shape, chips)
    assert sorted(cable.source for cable in cables) == list(range(1, chips))
    assert all(cable.destination < cable.source for cable in cables)


def test_sixteen_ulx3s_make_a_tree():
    cabling = cabling_of(ULX3S, cables_of_shape("tree", 16))
    assert [port.name for port in cabling.ports(0)] == ["in0", "in1", "in2", "in3"]
    assert [port.name for port in cabling.ports(15)] == ["out0"]


@pytest.mark.parametrize("board", [ULX3S, ECPIX5, ICEBREAKER], ids=lambda board: board.name)
def test_a_cable_is_listed_wire_by_wire(board):
    """Both ends by connector pin and package pin; only the credits run the other way."""
    wires = list(cabling_of(board, cables_of_shape("tree", 2)).wires())
    sender, receiver = board.link_by_name["out0"], board.link_by_name["in0"]
    data = [f"data[{index}]" for index in range(board.link_pins)]
    assert [wire.name for wire in wires] == ["clock", "valid", *data, "back"]
    package = {(connector, pin): ball for connector, pin, ball in board.pins}
    pins = zip(
        (sender.clock, sender.valid, *sender.data, sender.back),
        (receiver.clock, receiver.valid, *receiver.data, receiver.back),
        strict=True,
    )
    for wire, (out, into) in zip(wires, pins, strict=True):
        at_sender = (1, "out0", sender.connector, out, package[sender.connector, out])
        at_receiver = (0, "in0", receiver.connector, into, package[receiver.connector, into])
        ends = tuple(
            (end.chip, end.port, end.connector, end.pin, end.package_pin)
            for end in (wire.driver, wire.listener)
        )
        forward = (at_sender, at_receiver)
        assert ends == (forward[::-1] if wire.name == "back" else forward)


def test_stated_ports_are_taken_before_free_ones():
    """A cable that leaves its port open gets none that a later cable states."""
    cables = (Cable(1, 0), Cable(2, 0, "out0", "in0"), Cable(3, 0, None, "in2"), Cable(4, 0))
    assert names(cabling_of(ULX3S, cables)) == [
        "c1.out0->c0.in1",
        "c2.out0->c0.in0",
        "c3.out0->c0.in2",
        "c4.out0->c0.in3",
    ]


def test_a_star_of_too_many_suggests_a_tree():
    with pytest.raises(OutOfLinkPortsError) as error:
        cabling_of(ULX3S, cables_of_shape("star", 8))
    assert str(error.value) == (
        "chip c0 needs 7 'in' links, and board 'ulx3s-85f' carries 4; a tree needs 3 "
        "(--reduce tree)"
    )


@pytest.mark.parametrize("shape", ["star", "tree"])
def test_where_a_tree_does_not_help_it_is_not_suggested(shape):
    with pytest.raises(OutOfLinkPortsError) as error:
        cabling_of(ICEBREAKER, cables_of_shape(shape, 3))
    assert str(error.value) == (
        "chip c0 needs 2 'in' links, and board 'icebreaker' carries 1; take fewer chips, or boards "
        "with more links"
    )


def test_a_tree_is_suggested_only_if_every_board_can_be_in_it():
    """Chip 2 of a tree of four receives from chip 3; in a star nobody but chip 0 receives."""
    narrow = replace(ULX3S, links=tuple(each for each in ULX3S.links if each.name != "in3"))
    sends_only = replace(ULX3S, links=tuple(ULX3S.ports("out")))
    sender = replace(narrow, links=(*narrow.ports("out"), *narrow.ports("in")[:2]))
    for second, way_out in (
        (ULX3S, "a tree needs 2 (--reduce tree)"),
        (sends_only, "take fewer chips, or boards with more links"),
    ):
        with pytest.raises(OutOfLinkPortsError) as error:
            cabling_of((sender, ULX3S, second, ULX3S), cables_of_shape("star", 4))
        assert str(error.value) == (
            f"chip c0 needs 3 'in' links, and board 'ulx3s-85f' carries 2; {way_out}"
        )


def test_cables_that_lead_back_stand_beside_those_that_lead_forth():
    assert names(cabling_of(ULX3S, cables_of_shape("star", 2, back=True))) == [
        "c1.out0->c0.in0",
        "c0.out0->c1.in0",
    ]
    pairs = [(cable.source, cable.destination) for cable in cables_of_shape("tree", 8, back=True)]
    forth = [(cable.source, cable.destination) for cable in cables_of_shape("tree", 8)]
    assert sorted(pairs) == sorted(forth + [pair[::-1] for pair in forth])


def test_where_boards_cannot_send_back_a_sum_may_stay_at_its_home():
    with pytest.raises(OutOfLinkPortsError) as error:
        cabling_of((ULX3S,) * 3, cables_of_shape("tree", 3, back=True))
    assert str(error.value) == (
        "chip c0 needs 2 'out' links, and board 'ulx3s-85f' carries 1; a sum that stays at its "
        "home needs no cables back (--result home)"
    )


def test_a_tree_with_cables_back_is_suggested_if_every_board_can_be_in_it():
    """Chip 0 of a tree of four sends to two; in a star to three, and a board has two."""
    outs = tuple(replace(port, name=f"{port.name}s") for port in ULX3S.ports("out"))
    board = replace(ULX3S, links=(*ULX3S.links, *outs))
    with pytest.raises(OutOfLinkPortsError) as error:
        cabling_of((board,) * 4, cables_of_shape("star", 4, back=True))
    assert error.value.way_out == "a tree needs 2 (--reduce tree)"
    cabling_of((board,) * 4, cables_of_shape("tree", 4, back=True))


@pytest.mark.parametrize(("reduce", "chips"), [("star", 4), ("tree", 7), ("tree", 3)])
def test_cables_of_a_sum_on_every_chip_are_those_that_its_programs_link(reduce, chips):
    program = finished(
        MatmulSpec(2, 2, 2 * chips), plan=ShardPlan(chips, reduce, result="all"), tile=2
    )
    needed = {(cable.source, cable.destination) for cable in cables_of_program(program)}
    shape = cables_of_shape(reduce, chips, back=True)
    assert {(cable.source, cable.destination) for cable in shape} == needed


def test_a_chip_that_sends_twice_needs_two_ports():
    with pytest.raises(OutOfLinkPortsError, match=r"^chip c0 needs 2 'out' links, and board "):
        cabling_of(ULX3S, (Cable(0, 1), Cable(0, 2)))


def test_an_unknown_shape_lists_those_there_are():
    with pytest.raises(CablingValueError, match=r"^shape must be one of star, tree, ring, not 'x'"):
        cables_of_shape("x", 2)


def test_there_must_be_a_chip():
    with pytest.raises(CablingValueError, match=r"^chips must be a positive integer, not 0$"):
        cables_of_shape("star", 0)


@pytest.mark.parametrize(
    ("chips", "boards"), [(1, "c0 is the only board"), (3, "the boards are c0 to c2")]
)
def test_a_cable_to_no_chip_is_refused(chips, boards):
    with pytest.raises(UnknownChipError) as error:
        cabling_of((ULX3S,) * chips, (Cable(4, 0, "out0", "in0"),))
    assert str(error.value) == (
        f"cable c4.out0->c0.in0 ends at chip c4, which has no board; {boards}"
    )


def test_a_cable_to_no_port_lists_those_there_are():
    with pytest.raises(UnknownLinkPortError) as error:
        cabling_of(ULX3S, (Cable(1, 0, "out1", "in0"),))
    assert str(error.value) == (
        "cable c1.out1->c0.in0: board 'ulx3s-85f' of chip c1 has no link port 'out1'; it has out0, "
        "in0, in1, in2, in3"
    )


@pytest.mark.parametrize(
    ("cable", "clash"),
    [
        (Cable(1, 0, "in1", "in0"), "starts at port 'in1' of chip c1"),
        (Cable(1, 0, "out0", "out0"), "ends at port 'out0' of chip c0"),
    ],
)
def test_a_cable_runs_from_out_to_in(cable, clash):
    with pytest.raises(PortDirectionError) as error:
        cabling_of(ULX3S, (cable,))
    direction = "in" if "starts" in clash else "out"
    assert str(error.value) == (
        f"cable {cable.name} {clash} (board 'ulx3s-85f'), whose direction is {direction!r}; a "
        f"cable runs from an 'out' port to an 'in' port"
    )


def test_a_port_has_one_cable():
    with pytest.raises(PortUsedTwiceError) as error:
        cabling_of(ULX3S, (Cable(1, 0, "out0", "in2"), Cable(2, 0, "out0", "in2")))
    assert str(error.value) == (
        "cables c1.out0->c0.in2 and c2.out0->c0.in2 both end at port 'in2' of chip c0 (board "
        "'ulx3s-85f'); give each a port of its own"
    )


def timed(board, *, target_hz=60_000_000, flit_cycles=2):
    return replace(
        board,
        clock=replace(board.clock, target_hz=target_hz),
        link=replace(board.link, flit_cycles=flit_cycles),
    )


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        (
            (ULX3S, ECPIX5),
            "number of data pins is 4 at its start and 8 at its end; describe the wider board with "
            "fewer, in a file of your own",
        ),
        (
            (ECPIX5, replace(ECPIX5, io_standard="LVCMOS25")),
            "io_standard is 'LVCMOS25' at its start and 'LVCMOS33' at its end; set both boards' "
            "connectors to one voltage, and say so in their files",
        ),
        (
            (ECPIX5, timed(ECPIX5)),
            "clock.target_hz is 60000000 at its start and 80000000 at its end; give the faster "
            "board the target_hz of the slower, in a file of your own",
        ),
        (
            (ECPIX5, timed(ECPIX5, target_hz=120_000_000, flit_cycles=3)),
            "clock.target_hz is 120000000 at its start and 80000000 at its end; give the faster "
            "board the target_hz of the slower, in a file of your own",
        ),
        (
            (ECPIX5, timed(ECPIX5, target_hz=80_000_000, flit_cycles=4)),
            "link.flit_cycles is 4 at its start and 2 at its end; give the board with fewer the "
            "flit_cycles of the other, in a file of your own",
        ),
    ],
)
def test_boards_of_two_kinds_must_understand_each_other(boards, message):
    with pytest.raises(LinkEndsDifferError) as error:
        cabling_of(boards, cables_of_shape("tree", 2))
    assert str(error.value) == f"cable c1.out0->c0.in0: {message}"


def test_boards_of_two_kinds_that_do_are_cabled():
    cabling = cabling_of((ECPIX5, replace(ECPIX5, name="other")), cables_of_shape("tree", 2))
    assert names(cabling) == ["c1.out0->c0.in0"]
