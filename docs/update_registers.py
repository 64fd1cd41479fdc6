"""Write the register maps of a small program into ``docs/registers.md``.

Run it after a change of ``hw/register_map.py``, and read the difference.
"""

from pathlib import Path

from compiler import targets
from compiler.passes.shard import ShardPlan
from compiler.pipeline import compile, shard
from compiler.workload import MatmulSpec
from hw.verilog.design import design
from sim.cosim.manifest import registers_page

PAGE = Path(__file__).with_name("registers.md")
INTRODUCTION = """\
# Registers

Each chip has an AXI4-Lite subordinate of 32 bits. Its map follows from the program:
`shardwright verilog` writes it into `<module>.registers.md` and `<module>.registers.json` next
to the Verilog, and the hardware decodes its addresses from the same description. This page
shows the maps of a 16 x 16 x 64 product with 4 x 4 tiles on two chips; `python
docs/update_registers.py` makes it.

A host writes its slice of the operands into the windows, writes 1 to `control`, reads `status`
until bit 2 is set, and reads the product from the window of the output, which one chip has. A
next run needs no reset; it needs as many cycles of rest as the page slots take to come back
over the links if it is to take the predicted cycles. A fault stays until reset: a beat came
without room, which the hand-offs rule out.

One access is under way at a time. A write is answered in the cycle after its address and data
are both there, a read three cycles after its address. Byte strobes count. Words of a window
that are no part of an element read as zero and ignore what is written. Elements of an output
are sign-extended to 32 bits.

`coordinate` and, for each outgoing link, the depth of the landing buffer at its other end
(`<link>_credits`) are input ports, so that chips that differ in nothing else share a module.
The manifest says what to tie them to.
"""


def text() -> str:
    """The page."""
    machine = targets.get("token-mesh", tile=4)
    program = shard(compile(MatmulSpec(16, 16, 64), machine), ShardPlan(2, "tree"), machine)
    parts = [INTRODUCTION]
    for module in design(program).modules:
        if module.register_map is not None:
            parts.append(registers_page(module.name, module.register_map, heading="##"))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
