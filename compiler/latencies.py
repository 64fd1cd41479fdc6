"""Latencies of the hardware components, in cycles: facts that the performance model and the checker
both start from. Tests of the components hold them."""

LOAD_CYCLES = 1
"""From ``start`` to the first beat on a load's stream."""
FIFO_CYCLES = 1
"""From the cycle in which a beat is written to the first in which it can be read."""
TILE_CYCLES = 7
"""From the cycle in which a result's last pair of beats is taken to its first row."""
LINK_REGISTER_CYCLES = 1
"""From the cycle in which a flit is taken to the one in which it is on the link."""
VALID_CYCLES = 1
"""From the cycle in which a page's last flit is on the link to the one of its ``valid``."""
OFFER_CYCLES = 1
"""From the cycle in which a page leaves a buffer to the one in which its slot is offered."""
OPERATION_CYCLES = 1
"""Through one operation of a fold or a map."""
