"""The I/O ports of a link: those of a platform, or those that a simulation reads and drives."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import io
from amaranth.lib.wiring import PureInterface

from hw.interfaces import positive


@dataclass(frozen=True)
class LinkPads:
    """The I/O port of each wire of a link, of ``data`` as wide as a flit.

    A platform's resource of a link (:func:`hw.board.resources.link_resource`) has the same members.
    """

    clock: io.PortLike
    valid: io.PortLike
    data: io.PortLike
    back: io.PortLike


def simulation_pads(m: Module, pins: PureInterface, *, data_pins: int, sends: bool) -> LinkPads:
    """Pads that are joined to the wires ``pins``, of the sending or the receiving end of a link."""
    widths = {"clock": 1, "valid": 1, "data": positive(data_pins, "Data pins"), "back": 1}
    ports: dict[str, io.SimulationPort] = {}
    for name, width in widths.items():
        drives = sends != (name == "back")
        port = io.SimulationPort("o" if drives else "i", width, name=name)
        wire = getattr(pins, name)
        m.d.comb += wire.eq(port.o) if drives else port.i.eq(wire)
        ports[name] = port
    return LinkPads(**ports)
