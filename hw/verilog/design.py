"""The Verilog design of a program: its distinct modules, and the system that instantiates them."""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.lib import wiring

from compiler.ir.edge import Barrier, Edge, Link
from compiler.ir.program import Program
from hw.barrier import BarrierNetwork
from hw.chip import Chip
from hw.distinct import distinct_chips
from hw.link_channel import LinkChannel
from hw.link_ports import constants, link_signature, receiver_port, sender_port
from hw.names import link_name, module_name, top_name
from hw.register_map import RegisterMap
from hw.start_guard import StartGuard
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
    top: Module
    modules: tuple[Module, ...]

    def chip_module(self, chip: int) -> Module:
        """The module of a chip."""
        return next(module for module in self.modules if chip in module.chips)


def design(program: Program) -> Design:
    """The Verilog of a program: each distinct chip, channel and barrier once, and the system."""
    program = program.canonical
    chips = _chip_modules(program)
    joints = dict(_joints(program))
    guard = _converted(StartGuard(), "start_guard", {"chips": program.chip_count})
    modules = (*chips, *joints.values(), guard)
    top = _system(program, chips, joints, guard)
    return Design(program, top, modules)


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


def _joints(program: Program) -> Iterator[tuple[str, Module]]:
    """Channels and barriers by name, each kind once."""
    done: set[str] = set()
    for edge, link in _crossings(program):
        name = _channel_name(program, edge, link)
        if name not in done:
            done.add(name)
            signature, latency_cycles = link_signature(program, edge), link.latency_cycles
            channel = LinkChannel(signature, latency_cycles=latency_cycles)
            parameters = {"width_bits": signature.width_bits, "latency_cycles": latency_cycles}
            yield name, _converted(channel, name, parameters)
    for handoff, edges in _barriers(program).items():
        name = f"barrier_{module_name(handoff.group)}"
        parameters = {"receivers": len(edges), "depth_pages": _deepest(program, edges)}
        yield name, _converted(BarrierNetwork(**parameters), name, parameters)


def _converted(component: wiring.Component, name: str, parameters: dict[str, int]) -> Module:
    ports = tuple(port for port, _ in component_ports(component))
    return Module(name, CLOCK_AND_RESET + ports, to_verilog(component, name), parameters)


def _crossings(program: Program) -> Iterator[tuple[Edge, Link]]:
    for edge in program.edges:
        for name in edge.route or ():
            yield edge, program.link_by_name[name]


def _barriers(program: Program) -> dict[Barrier, list[Edge]]:
    groups: dict[Barrier, list[Edge]] = {}
    for edge in program.edges:
        if isinstance(edge.handoff, Barrier):
            groups.setdefault(edge.handoff, []).append(edge)
    return groups


def _deepest(program: Program, edges: list[Edge]) -> int:
    landings = [program.stage_by_name[edge.destination].outs[0] for edge in edges]
    return max(program.buffer_by_name[name].depth_pages or 0 for name in landings)


def _channel_name(program: Program, edge: Edge, link: Link) -> str:
    kind = type(edge.handoff).__name__.lower()
    return f"channel_{kind}_{link.width_bits}_bits_{link.latency_cycles}_cycles"


def _system(
    program: Program, chips: tuple[Module, ...], joints: dict[str, Module], guard: Module
) -> Module:
    """The system: chips and channels joined as the program says."""
    ports = [*CLOCK_AND_RESET, Port("start", "input", 1), Port("done", "output", 1)]
    instances = [
        Instance(guard.name, "run_guard", guard.ports, {p.name: p.name for p in guard.ports})
    ]
    of_chip = {chip: module for module in chips for chip in module.chips}
    for chip in range(program.chip_count):
        wires = {"clk": "clk", "rst": "rst", "start": "starts"}
        told = constants(program, chip)
        for port in of_chip[chip].ports:
            if port.path and port.path[0] == "host":
                outer = Port(f"c{chip}_{port.name}", port.direction, port.width)
                ports.append(outer)
                wires[port.name] = outer.name
            elif port.name in told:
                wires[port.name] = f"{port.width}'d{told[port.name]}"
            else:
                wires.setdefault(port.name, f"c{chip}_{port.name}")
        instances.append(Instance(of_chip[chip].name, f"c{chip}", of_chip[chip].ports, wires))
    barriers = _barriers(program)
    for edge, link in _crossings(program):
        module = joints[_channel_name(program, edge, link)]
        ends = {
            "sender": f"c{link.source_chip}_{sender_port(edge)}",
            "receiver": f"c{link.destination_chip}_{receiver_port(edge)}",
        }
        wires = {"clk": "clk", "rst": "rst"}
        for port in module.ports:
            if port.path:
                end, *rest = port.path
                wires[port.name] = "__".join([ends[str(end)], *map(str, rest)])
        if isinstance(edge.handoff, Barrier):
            wires["receiver__ready"] = f"barrier_{module_name(edge.handoff.group)}_go"
        instances.append(Instance(module.name, link_name(link.name), module.ports, wires))
    for handoff, edges in barriers.items():
        name = f"barrier_{module_name(handoff.group)}"
        offers = [
            f"c{program.link_by_name[(edge.route or ('',))[0]].destination_chip}_"
            f"{receiver_port(edge)}__ready"
            for edge in reversed(edges)
        ]
        wires = {"clk": "clk", "rst": "rst", "ready": f"{{{', '.join(offers)}}}"}
        wires["go"] = f"{name}_go"
        instances.append(Instance(name, f"{name}_network", joints[name].ports, wires))
    done = " & ".join(f"c{chip}_done" for chip in range(program.chip_count))
    name = top_name(program.name)
    text = module_text(name, ports, instances, {"done": done})
    return Module(name, tuple(ports), text, {"chips": program.chip_count})
