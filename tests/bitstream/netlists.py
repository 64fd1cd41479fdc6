"""Netlists and reports as the tools write them, of a few cells."""

from typing import Any


def cell(
    kind: str, *, origin: str | None = None, output: int | None = None, **inputs: int
) -> dict[str, Any]:
    """A cell. ``output`` is the bit that it drives, ``inputs`` are those that it reads."""
    src = "/share/cells_map.v:1.1-2.2"
    connections = {name: [bit] for name, bit in inputs.items()}
    directions = dict.fromkeys(inputs, "input")
    if output is not None:
        connections["Q"], directions["Q"] = [output], "output"
    return {
        "type": kind,
        "attributes": {"src": src if origin is None else f"component={origin}|{src}"},
        "connections": connections,
        "port_directions": directions,
    }


def netlist(cells: dict[str, dict[str, Any]], nets: dict[str, list[int]]) -> dict[str, Any]:
    """A module of cells and nets, with the scopes that the names of its cells lie in."""
    scopes: set[str] = set()
    for name, entry in cells.items():
        for source in entry["attributes"]["src"].split("|"):
            if source.startswith("component="):
                scopes.add(source.removeprefix("component="))
        path = name.split(".")[:-1]
        scopes |= {".".join(path[:end]) for end in range(1, len(path) + 1)}
    return {
        "cells": cells | {scope: cell("$scopeinfo") for scope in scopes if scope},
        "netnames": {name: {"bits": bits} for name, bits in nets.items()},
    }


CHIP = netlist(
    {
        # A register that is named after the port that it drives, not after its own component.
        "board.chip.bus__rdata_TRELLIS_FF_Q_3": cell(
            "TRELLIS_FF", origin="board.chip.host_port", output=1
        ),
        "board.chip.bus__rdata_TRELLIS_FF_Q_3_DI_LUT4_Z": cell("LUT4", A=1),
        "board.chip.matmul.products_0_TRELLIS_FF_Q_DI_MULT18X18D_P0": cell(
            "MULT18X18D", origin="board.chip.matmul", output=2
        ),
        "board.chip.matmul.sums_0_TRELLIS_FF_Q_5": cell(
            "TRELLIS_FF", origin="board.chip.matmul", output=3
        ),
        "board.chip.matmul.sums_0_TRELLIS_FF_Q_5_DI_CCU2C_S0": cell(
            "CCU2C", origin="board.chip.matmul", output=4
        ),
        # Memories do not say where they come from, but have names of their own.
        "board.chip.load_a.walk.storage.0.1": cell("TRELLIS_DPR16X4", output=5),
        "board.bridge.state_TRELLIS_FF_Q": cell("TRELLIS_FF", origin="board.bridge", output=6),
        "board.links_up_TRELLIS_FF_Q": cell("TRELLIS_FF", origin="board", output=7),
        "pin_uart_tx.buf0": cell("TRELLIS_IO", origin="pin_uart_tx"),
        "clock.elapsed_LUT4_A": cell("LUT4"),
        "board.chip.matmul.sums_0_LUT4_A": cell("LUT4"),
        "board.chip.matmul.sums_0_LUT4_B_PFUMX_ALUT_LUT4_Z": cell("LUT4"),
    },
    {
        "board.chip.bus__rdata": [1],
        "board.chip.matmul.sums_0": [3],
        "clk": [9],
        "board.chip.matmul.clk": [9],
        "board.in0_receiver.fifo.cdc.pins_clk": [10],
        "pins.in0.clock": [10],
        "capture_clk": [11],
    },
)
"""A chip of a few cells."""


def step(kind: str, delay: float, source: str, destination: str) -> dict[str, Any]:
    """A step of a critical path."""
    return {
        "type": kind,
        "delay": delay,
        "from": {"cell": source, "port": "Q"},
        "to": {"cell": destination, "port": "DI"},
    }


SOURCE = "board.chip.bus__rdata_TRELLIS_FF_Q_3"
MIDDLE = "board.bridge.state_LUT4_A"
DESTINATION = "board.chip.matmul.sums_0_TRELLIS_FF_Q_5"
PATH = [
    step("clk-to-q", 0.5, SOURCE, SOURCE),
    step("routing", 1.5, SOURCE, MIDDLE),
    step("logic", 0.25, MIDDLE, MIDDLE),
    step("routing", 2.0, MIDDLE, DESTINATION),
    step("setup", 0.125, DESTINATION, DESTINATION),
]


def report(sync_mhz: float = 90.0, *, wanted_mhz: float = 80.0) -> dict[str, Any]:
    """What nextpnr reports of a design of two clocks."""
    clock = "posedge $glbnet$board.chip.matmul.clk"
    return {
        "fmax": {
            "pins.in0.clock": {"achieved": 200.0, "constraint": 40.0},
            "$glbnet$board.chip.matmul.clk": {"achieved": sync_mhz, "constraint": wanted_mhz},
        },
        "utilization": {
            "TRELLIS_COMB": {"used": 100, "available": 1000},
            "MULT18X18D": {"used": 4, "available": 16},
            "DP16KD": {"used": 0, "available": 8},
        },
        "critical_paths": [
            {"from": clock, "to": clock, "path": PATH},
            {"from": "<async>", "to": clock, "path": PATH[1:]},
            {"from": clock, "to": "<async>", "path": PATH[:2]},
            {"from": "posedge pins.in0.clock", "to": clock, "path": PATH[1:]},
        ],
        "detailed_net_timings": [],
    }
