"""What a router says of what is left, and when it is taken to stall."""

import pytest

from bitstream.router import ROUTERS, STALL_ROWS, RouterStalled, Routing, routers

TABLE = """\
Info: Routing..
Info: Setting up routing queue.
Info: Routing 2116 arcs.
Info:            |   (re-)routed arcs  |   delta    | remaining|       time spent     |
Info:    IterCnt |  w/ripup   wo/ripup |  w/r  wo/r |      arcs| batch(sec) total(sec)|
Info:       1000 |       69        768 |   69   768 |      1190|       0.24       0.24|
Info:       2000 |      177       1658 |  108   890 |         1|       0.11       0.35|
Info:       2395 |      230       2001 |   53   343 |         0|       0.18       0.52|
Info: Routing complete.
"""
PASSES = """\
Info: Running router2...
Info: Running main router loop...
Info:     iter=1 wires=6915 overused=184 overuse=184 archfail=NA
Info:     iter=10 wires=6959 overused=1 overuse=2 archfail=NA
Info:     iter=11 wires=6962 overused=0 overuse=0 archfail=0
"""
"""What nextpnr 0.11.1 says of a tile unit of 2 x 2."""


def heard(log: str) -> list[str]:
    routing = Routing()
    return [routing.left for line in log.splitlines() if routing.hear(line)]


def test_the_arcs_that_are_left_are_told_of_all():
    assert heard(TABLE) == [f"{left} of 2,116 arcs left" for left in ("1,190", "1", "0")]


def test_the_wires_that_are_used_twice_are_told():
    assert heard(PASSES) == [
        "184 overused wires left",
        "1 overused wire left",
        "0 overused wires left",
    ]


def row(left: int) -> str:
    return f"Info:       1000 |       69        768 |   69   768 | {left:9}|       0.24       0.24|"


def test_a_router_without_a_new_least_for_long_stalls():
    routing = Routing()
    routing.hear("Info: Routing 5012 arcs.")
    routing.hear(row(7))
    for _ in range(STALL_ROWS - 1):
        routing.hear(row(9))
    with pytest.raises(RouterStalled, match=r"^8 of 5,012 arcs left$"):
        routing.hear(row(8))


def test_a_new_least_and_a_new_router_start_the_count_again():
    routing = Routing()
    for left in (*[9] * STALL_ROWS, *[8] * STALL_ROWS):
        routing.hear(row(left))
    routing.hear("Info: Routing 8 arcs.")
    for left in [8] * STALL_ROWS:
        routing.hear(row(left))


def test_auto_is_each_router_in_turn():
    assert routers("auto") == ROUTERS
    assert routers("router2") == ("router2",)
