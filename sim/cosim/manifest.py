"""The manifest of a Verilog design: what its files, ports, addresses and cycles are."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from compiler.ir.program import Program
from compiler.ir.tensor import Tensor
from hw.names import link_name, local_name
from hw.register_map import Register, RegisterMap, Window
from hw.system import settling_cycles
from hw.verilog.convert import Port
from hw.verilog.design import Design, Module

FORMAT = "shardwright verilog"
VERSION = 2

MEANINGS = {
    "clk": "clock; all ports are sampled at its rising edge",
    "rst": "synchronous reset, active high",
    "start": "asserted for one cycle to begin a run; ignored during a run",
    "starts": "asserted for one cycle when a run begins",
    "done": "whether the run has ended",
    "coordinate": "coordinate of the chip, which the host can read",
}
LINK_MEANINGS = {
    "flit__payload": "bits that cross the link in this cycle",
    "flit__valid": "whether a flit crosses",
    "link_credits": "pages that fit into the landing buffer at the other end; it does not change",
    "credit": "asserted for one cycle for each page slot that the receiver has freed",
    "valid": "asserted for one cycle when a whole page has crossed",
    "ready": "asserted for one cycle for each page slot that the receiver offers",
    "go": "asserted for one cycle for each round of the barrier that may begin",
}


def manifest(design: Design, *, chips: tuple[int, ...], with_top: bool) -> dict[str, Any]:
    """The manifest as plain data. Widths are in bits, offsets and sizes in bytes."""
    program = design.program
    assert program.schedule is not None
    modules = [m for m in design.modules if not m.chips or set(m.chips) & set(chips)]
    if not with_top:
        modules = [module for module in modules if module.chips]
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": "program.json",
        "top": _module(design.top) if with_top else None,
        "modules": [_module(module) for module in modules],
        "chips": [_chip(design, chip, with_top) for chip in chips],
        "links": [
            {
                "name": link.name,
                "instance": link_name(link.name),
                "from_chip": link.source_chip,
                "to_chip": link.destination_chip,
                "width_bits": link.width_bits,
                "latency_cycles": link.latency_cycles,
                "flit_cycles": link.flit_cycles,
            }
            for link in program.links
            if with_top or {link.source_chip, link.destination_chip} & set(chips)
        ],
        "tensors": [
            _tensor(program, tensor, _map(design, tensor.chip))
            for tensor in program.tensors
            if tensor.chip in chips
        ],
        "settling_cycles": settling_cycles(program),
        "expected_cycles": program.schedule.cycles,
    }


def registers(register_map: RegisterMap) -> dict[str, Any]:
    """A register map as plain data."""
    return {
        "address_bits": register_map.address_bits,
        "registers": [
            {
                "name": register.name,
                "offset": register.offset,
                "access": str(register.access),
                "meaning": register.meaning,
                "value": register.value,
                "bits": {name: bit for bit, name in register.bits},
            }
            for register in register_map.registers
        ],
        "windows": [
            {**asdict(window), "access": str(window.access), "span_bytes": window.span_bytes}
            for window in register_map.windows
        ],
    }


def registers_page(name: str, register_map: RegisterMap, *, heading: str = "#") -> str:
    """A register map as a Markdown page, or as a part of one under another heading."""
    lines = [
        f"{heading} Registers of {name}",
        "",
        "AXI4-Lite, 32 bits. An access that is not aligned, meets nothing, is not allowed there, "
        "or touches a window or starts a run during a run, is answered SLVERR and changes nothing.",
        "",
        *register_table(register_map.registers),
    ]
    lines += ["", "| offset | window | access | beats | bytes a beat | layout |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    lines += [
        f"| {w.offset:#06x} | {w.tensor} | {w.access} | {w.beats} | {w.beat_bytes} | "
        f"{w.layout}; {w.lanes} elements of {w.element_bits} bits, lane 0 first |"
        for w in register_map.windows
    ]
    return "\n".join(lines) + "\n"


def register_table(registers: Iterable[Register]) -> list[str]:
    """The lines of a Markdown table of registers."""
    lines = ["| offset | register | access | meaning |", "| --- | --- | --- | --- |"]
    for register in registers:
        meaning = register.meaning
        if register.value is not None:
            hexadecimal = register.value >= 1 << 16
            meaning += f"; always {register.value:{'#x' if hexadecimal else 'd'}}"
        if register.bits:
            meaning += "; " + ", ".join(f"bit {bit} {name}" for bit, name in register.bits)
        lines.append(
            f"| {register.offset:#06x} | {register.name} | {register.access} | {meaning} |"
        )
    return lines


def window_of(design: Design, tensor: Tensor) -> Window:
    """The window of a tensor on its chip's bus."""
    return _map(design, tensor.chip).window(local_name(tensor.name))


def _map(design: Design, chip: int) -> RegisterMap:
    register_map = design.chip_module(chip).register_map
    assert register_map is not None
    return register_map


def _module(module: Module) -> dict[str, Any]:
    return {
        "name": module.name,
        "file": f"{module.name}.v",
        "chips": list(module.chips),
        "parameters": module.parameters,
        "ports": [
            {
                "name": port.name,
                "direction": port.direction,
                "width": port.width,
                "meaning": _meaning(port),
            }
            for port in module.ports
        ],
    }


def _meaning(port: Port) -> str:
    if port.name in MEANINGS:
        return MEANINGS[port.name]
    if "host__" in port.name:
        return f"AXI4-Lite {port.name.rpartition('__')[2]} of the host port"
    suffix = next((s for s in LINK_MEANINGS if port.name.endswith(s)), "")
    return LINK_MEANINGS.get(suffix, "")


def _chip(design: Design, chip: int, with_top: bool) -> dict[str, Any]:
    module = design.chip_module(chip)
    return {
        "coordinate": chip,
        "module": module.name,
        "instance": f"c{chip}",
        "host_prefix": f"c{chip}_host_" if with_top else "host_",
        "constants": design.topology.constants[chip],
        "registers": f"{module.name}.registers.json",
    }


def _tensor(program: Program, tensor: Tensor, register_map: RegisterMap) -> dict[str, Any]:
    window = register_map.window(local_name(tensor.name))
    return {
        "name": tensor.name,
        "chip": tensor.chip,
        "role": str(tensor.role),
        "value": tensor.value,
        "row": tensor.part.row,
        "col": tensor.part.col,
        "rows": tensor.rows,
        "cols": tensor.cols,
        "tile": tensor.tile,
        "dtype": tensor.dtype.name,
        "offset": window.offset,
        "beats": window.beats,
        "beat_bytes": window.beat_bytes,
        "lanes": window.lanes,
        "element_bits": window.element_bits,
        "layout": window.layout,
        "file": f"{tensor.name}.hex",
    }
