"""Fmax and resources of tile units alone, out of context."""

import argparse

from amaranth.hdl import signed
from amaranth.lib import data
from fpga_flow import ECP5_85, ICE40_UP5K, Device, add_options, report, run

from hw.multiplier.ecp5 import Ecp5Multiplier
from hw.multiplier.ice40 import Ice40Multiplier
from hw.multiplier.plan import MultiplierPlan, plan_multipliers
from hw.tile_unit import TileUnit

OPERAND_BITS, SUM_BITS = 8, 32
ECP5_85_BLOCKS, ICE40_UP5K_BLOCKS = 156, 8
UNITS: dict[str, tuple[int, Device, MultiplierPlan]] = {
    "ecp5-8": (8, ECP5_85, plan_multipliers(8, ECP5_85_BLOCKS, block=Ecp5Multiplier)),
    "ice40-2": (2, ICE40_UP5K, plan_multipliers(2, ICE40_UP5K_BLOCKS, block=Ice40Multiplier)),
    "ecp5-16": (16, ECP5_85, plan_multipliers(16, ECP5_85_BLOCKS, block=Ecp5Multiplier)),
}


def tile_unit(tile: int, multipliers: MultiplierPlan) -> TileUnit:
    """A unit whose results are sums of 8 tiles."""
    return TileUnit(
        data.ArrayLayout(signed(OPERAND_BITS), tile),
        data.ArrayLayout(signed(SUM_BITS), tile),
        block_count=8,
        result_pages=2,
        multipliers=multipliers,
    )


def main() -> None:
    """Print the figures of the units that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("units", nargs="*", metavar="UNIT", help=f"of {', '.join(UNITS)}; or all")
    add_options(parser)
    arguments = parser.parse_args()
    for name in arguments.units:
        if name not in UNITS:
            parser.error(f"no unit is named {name!r}; there are {', '.join(UNITS)}")
    for name in arguments.units or UNITS:
        tile, device, plan = UNITS[name]
        kinds = f"{plan.block_count} multiplier blocks and {plan.rest_count} of logic"
        report(
            f"{tile} x {tile}, {kinds}",
            tile_unit(tile, plan),
            device,
            seeds=arguments.seeds,
            router=arguments.router,
        )


if __name__ == "__main__":
    run(main)
