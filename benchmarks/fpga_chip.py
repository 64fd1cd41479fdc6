"""Fmax of a whole chip out of context, and what each of its parts adds to the bare tile unit.

The chip is the one of a tree over 4 chips that both receives and sends: loads, memories, buffers,
tile unit, fold, two links, counters and host port.
"""

import argparse

from fpga_flow import ECP5_85, ICE40_UP5K, Device, Flow, add_options, report, run

import shardwright as sw
from hw.chip import Chip
from hw.multiplier.ecp5 import Ecp5Multiplier
from hw.multiplier.ice40 import Ice40Multiplier
from hw.multiplier.plan import MultiplierPlan, plan_multipliers

LINK_BITS = 8
CHIPS, INNER_CHIP = 4, 2
SHOWN = {
    "ecp5": ("LUT4", "CCU2C", "TRELLIS_FF", "TRELLIS_DPR16X4", "MULT18X18D", "DP16KD"),
    "ice40": ("SB_LUT4", "SB_CARRY", "SB_DFF*", "SB_RAM40_4K", "SB_MAC16"),
}
DEVICES: dict[str, tuple[Device, MultiplierPlan, tuple[int, int, int]]] = {
    "ecp5": (ECP5_85, plan_multipliers(8, 156, block=Ecp5Multiplier), (32, 32, 128)),
    "ice40": (ICE40_UP5K, plan_multipliers(2, 8, block=Ice40Multiplier), (16, 16, 64)),
}


def chip(tile: int, extents: tuple[int, int, int], multipliers: MultiplierPlan) -> Chip:
    """The chip that has an incoming and an outgoing link."""
    target = sw.targets.get("token-mesh", tile=tile, link_width_bits=LINK_BITS)
    plan = sw.ShardPlan.row_parallel(CHIPS)
    sharded = sw.compile(sw.MatmulSpec(*extents), target, plan)
    return Chip(sharded, INNER_CHIP, host=True, multipliers=multipliers)


def count(cells: dict[str, int], name: str) -> int:
    """Cells of a type, or of all that begin alike."""
    if name.endswith("*"):
        return sum(n for cell, n in cells.items() if cell.startswith(name[:-1]))
    return cells.get(name, 0)


def main() -> None:
    """Print the figures for the devices that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=DEVICES, default="ecp5")
    add_options(parser)
    arguments = parser.parse_args()
    device, plan, extents = DEVICES[arguments.device]
    shown = SHOWN[arguments.device]
    with Flow(chip(plan.tile, extents, plan), device) as flow:
        parts = flow.synthesize_parts()
    print(f"{'part':32}" + "".join(f"{cell:>16}" for cell in shown))
    for name, cells in sorted(parts.items()):
        print(f"{name:32}" + "".join(f"{count(cells, cell):16,}" for cell in shown))
    report(
        f"chip with a {plan.tile} x {plan.tile} tile unit",
        chip(plan.tile, extents, plan),
        device,
        seeds=arguments.seeds,
        router=arguments.router,
    )


if __name__ == "__main__":
    run(main)
