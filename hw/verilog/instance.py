"""Verilog text of a module that does nothing but join instances of others."""

from collections.abc import Iterable
from dataclasses import dataclass

from hw.verilog.convert import Port


@dataclass(frozen=True)
class Instance:
    """An instance of ``module``; ``wires`` says what each of its ports is joined to."""

    module: str
    name: str
    ports: tuple[Port, ...]
    wires: dict[str, str]


def module_text(
    name: str, ports: Iterable[Port], instances: Iterable[Instance], assigns: dict[str, str]
) -> str:
    """A module of instances. What is joined to an instance and is no port becomes a wire."""
    ports, instances = tuple(ports), tuple(instances)
    outer = {port.name for port in ports}
    wires: dict[str, int] = {}
    for instance in instances:
        for port in instance.ports:
            wire = instance.wires[port.name]
            if wire not in outer and wire.isidentifier():
                wires.setdefault(wire, port.width)
    lines = [f"module {name} ("]
    lines.append(",\n".join(f"  {_declared(port)}" for port in ports))
    lines.append(");")
    lines += [f"  wire {_range(width)}{wire};" for wire, width in wires.items()]
    lines += [f"  assign {target} = {value};" for target, value in assigns.items()]
    for instance in instances:
        joined = ",\n".join(
            f"    .{port.name}({instance.wires[port.name]})" for port in instance.ports
        )
        lines.append(f"  {instance.module} {instance.name} (\n{joined}\n  );")
    lines.append("endmodule")
    return "\n".join(lines) + "\n"


def _declared(port: Port) -> str:
    return f"{port.direction} wire {_range(port.width)}{port.name}"


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""
