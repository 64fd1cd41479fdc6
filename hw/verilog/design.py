"""The Verilog design of a program: its distinct modules, and the system that instantiates them."""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.lib import wiring

from compiler.ir.program import Program
from hw.barrier import BarrierNetwork
from hw.chip import Chip
from hw.distinct import distinct_chips
from hw.link_channel import LinkChannel
from hw.names import top_name
from hw.register_map import RegisterMap
from hw.start_guard import StartGuard
from hw.topology import Channel, MeetingPoint, Topology, topology_of
from hw.verilog.convert import Port, component_ports, to_verilog
from hw.verilog.instance import Instance, module_text

CLOCK_AND_RESET = (Port("clk", "input", 1), Port("rst", "input", 1))


@dataclass(frozen=True)
class Module:
    """A Verilog module. ``chips`` are the coordinates that it stands for, if it is a chip.

    ``parameters`` say what it was made for; they are no parameters in the Verilog.
    """

    name: str
    ports: tuple[Port, ...]
    text: str
    parameters: dict[str, int]
    chips: tuple[int, ...] = ()
    register_map: RegisterMap | None = None


@dataclass(frozen=True)
class Design:
    """All modules of a program; ``top`` is the system. Inner modules come with their chip."""

    program: Program
    topology: Topology
    top: Module
    modules: tuple[Module, ...]

    def chip_module(self, chip: int) -> Module:
        """The module of a chip."""
        return next(module for module in self.modules if chip in module.chips)


def design(program: Program) -> Design:
    """The Verilog of a program: each distinct chip, channel and barrier once, and the system."""
    program = program.canonical
    topology = topology_of(program)
    chips = _chip_modules(program)
    joints = dict(_joints(topology))
    guard = _converted(StartGuard(), "start_guard", {"chips": program.chip_count})
    modules = (*chips, *joints.values(), guard)
    top = _system(program.name, topology, chips, joints, guard)
    return Design(program, topology, top, modules)


def _chip_modules(program: Program) -> tuple[Module, ...]:
    groups: dict[int, list[int]] = {}
    for chip, first in distinct_chips(program, host=True).items():
        groups.setdefault(first, []).append(chip)
    modules: list[Module] = []
    for first, members in groups.items():
        chip = Chip(program, first, host=True)
        name = f"chip_{first}"
        ports = tuple(port for port, _ in component_ports(chip))
        modules.append(
            Module(
                name=name,
                ports=CLOCK_AND_RESET + ports,
                text=to_verilog(chip, name),
                parameters={
                    register.name: register.value
                    for register in chip.register_map.registers
                    if register.value is not None and register.name not in ("identity", "version")
                },
                chips=tuple(members),
                register_map=chip.register_map,
            )
        )
    return tuple(modules)


def _joints(topology: Topology) -> Iterator[tuple[str, Module]]:
    """The modules between chips by name, each kind once."""
    kinds = {channel.kind_name: channel for channel in topology.channels}
    for name, channel in kinds.items():
        component = LinkChannel(channel.signature, latency_cycles=channel.latency_cycles)
        parameters = {
            "width_bits": channel.link.width_bits,
            "latency_cycles": channel.latency_cycles,
        }
        yield name, _converted(component, name, parameters)
    for point in topology.meeting_points:
        network = BarrierNetwork(**point.parameters)
        yield point.name, _converted(network, point.name, point.parameters)


def _converted(component: wiring.Component, name: str, parameters: dict[str, int]) -> Module:
    ports = tuple(port for port, _ in component_ports(component))
    return Module(name, CLOCK_AND_RESET + ports, to_verilog(component, name), parameters)


def _system(
    name: str,
    topology: Topology,
    chips: tuple[Module, ...],
    joints: dict[str, Module],
    guard: Module,
) -> Module:
    """The system: chips and channels joined as the program says."""
    ports = [*CLOCK_AND_RESET, Port("start", "input", 1), Port("done", "output", 1)]
    instances = [
        Instance(guard.name, "run_guard", guard.ports, {p.name: p.name for p in guard.ports})
    ]
    of_chip = {chip: module for module in chips for chip in module.chips}
    for chip, constants in enumerate(topology.constants):
        instance, outer = _chip_instance(chip, of_chip[chip], constants)
        instances.append(instance)
        ports += outer
    for channel in topology.channels:
        point = topology.meeting_point(channel)
        instances.append(_channel_instance(channel, joints[channel.kind_name], point))
    for point in topology.meeting_points:
        instances.append(_meeting_instance(point, joints[point.name]))
    done = " & ".join(f"c{chip}_done" for chip in range(len(of_chip)))
    name = top_name(name)
    text = module_text(name, ports, instances, {"done": done})
    return Module(name, tuple(ports), text, {"chips": len(of_chip)})


def _chip_instance(
    chip: int, module: Module, constants: dict[str, int]
) -> tuple[Instance, list[Port]]:
    """A chip, and the ports that the system has for its host."""
    wires = {"clk": "clk", "rst": "rst", "start": "starts"}
    outer: list[Port] = []
    for port in module.ports:
        if port.path and port.path[0] == "host":
            outer.append(Port(f"c{chip}_{port.name}", port.direction, port.width))
            wires[port.name] = outer[-1].name
        elif port.name in constants:
            wires[port.name] = f"{port.width}'d{constants[port.name]}"
        else:
            wires.setdefault(port.name, f"c{chip}_{port.name}")
    return Instance(module.name, f"c{chip}", module.ports, wires), outer


def _channel_instance(channel: Channel, module: Module, point: MeetingPoint | None) -> Instance:
    ends = {
        "sender": f"c{channel.source}_{channel.sender_port}",
        "receiver": f"c{channel.destination}_{channel.receiver_port}",
    }
    wires = {"clk": "clk", "rst": "rst"}
    for port in module.ports:
        if port.path:
            end, *rest = port.path
            wires[port.name] = "__".join([ends[str(end)], *map(str, rest)])
    if point is not None:
        wires["receiver__ready"] = f"{point.name}_go"
    return Instance(module.name, channel.name, module.ports, wires)


def _meeting_instance(point: MeetingPoint, module: Module) -> Instance:
    offers = [
        f"c{channel.destination}_{channel.receiver_port}__ready"
        for channel in reversed(point.channels)
    ]
    wires = {"clk": "clk", "rst": "rst", "ready": f"{{{', '.join(offers)}}}"}
    wires["go"] = f"{point.name}_go"
    return Instance(module.name, f"{point.name}_network", module.ports, wires)
