"""How long a link takes to cross the pins between two boards."""


def pin_latency_cycles(flit_cycles: int) -> int:
    """Most cycles from a flit at the sender to the flit at the receiver. A credit takes no more,
    unless it waits for one before it; see :data:`hw.board.back_wire.CREDIT_PERIOD_CYCLES`.

    A flit waits for a period to begin, and for the middle of it; is written one period later; and
    is seen three cycles of the receiver after that. Wires of less than a cycle are accounted for.
    """
    return 2 * flit_cycles + (flit_cycles + 1) // 2 + 3
