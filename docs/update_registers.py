"""Write the registers of a board, and of the chips of a small program, into ``docs/registers.md``.

Run it after a change of ``hw/register_map.py`` or ``hw/board/board_registers.py``, and read the
difference.
"""

from pathlib import Path

from compiler import targets
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw.board.board_registers import board_registers
from hw.verilog.design import design
from sim.cosim.manifest import register_table, registers_page

PAGE = Path(__file__).with_name("registers.md")
INTRODUCTION = """\
# Registers

Each chip has an AXI4-Lite subordinate of 32 bits. Its map follows from the program:
`shardwright verilog` writes it into `<module>.registers.md` and `<module>.registers.json` next
to the Verilog, and the hardware decodes its addresses from the same description. This page
shows the maps of a 16 x 16 x 64 product with 4 x 4 tiles on two chips; `python
docs/update_registers.py` makes it.

A host writes its slice of the operands into the windows, writes 1 to `control`, reads `status`
until bit 2 is set, and reads the product from the windows of outputs, on the chips that have
them. A next run needs no reset, but every chip to be done with the last one: a chip knows of its
own run alone, and refuses a start during that. It needs as many cycles of rest as the page slots
take to come back over the links if it is to take the predicted cycles. The `start` pin of the
system begins a run on all chips, and is ignored until all are done. A fault stays until reset: a
beat came without room, which the hand-offs rule out.

One access is under way at a time. A write is answered in the cycle after its address and data
are both there, a read three cycles after its address. Byte strobes count. Words of a window
that are no part of an element read as zero and ignore what is written. Elements of an output
are sign-extended to 32 bits.

`coordinate` and, for each outgoing link, the depth of the landing buffer at its other end
(`<link>_credits`) are input ports, so that chips that differ in nothing else share a module.
The manifest says what to tie them to.
"""
BOARD = """\
## Registers of a board

A board has a serial port to its host ([host.md](host.md)), and beside its chip the registers
below; all other addresses lead to the chip. An access that neither knows is answered SLVERR, and
so is every access of a chip that is held. Over the serial port an error has no answer of its own:
it is counted, and a word that was to be read comes as 0xffffffff. Boards whose registers are of an
older version answer so where `version` stands. The checksum is that of zlib and Ethernet.
"""


def text() -> str:
    """The page."""
    machine = targets.get("token-mesh", tile=4)
    program = compile(MatmulSpec(16, 16, 64), machine, ShardPlan(2, "tree"))
    parts = [INTRODUCTION, BOARD, "\n".join(register_table(board_registers())) + "\n"]
    for module in design(program).modules:
        if module.register_map is not None:
            parts.append(registers_page(module.name, module.register_map, heading="##"))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
