"""Bench of a whole system: every chip's slice in, one product out, all through AXI4-Lite.

It needs cocotb and cocotbext-axi, and the files that stand beside it: the manifest says what the
ports, the addresses and the expected cycles are, the .hex files hold operands and product.
"""

import json
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

CLOCK_PERIOD_NS = 10
POLL_CYCLES = 16
RUNNING, DONE, FAULT = 1, 2, 3


class TB:
    """The system, its clock, and one bus master for each chip."""

    def __init__(self, dut):
        self.dut = dut
        self.folder = Path(cocotb.plusargs["manifest"]).parent
        self.manifest = json.loads(Path(cocotb.plusargs["manifest"]).read_text())
        self.registers = {
            chip["coordinate"]: json.loads((self.folder / chip["registers"]).read_text())
            for chip in self.manifest["chips"]
        }
        dut.rst.value = 1
        dut.start.value = 0
        cocotb.start_soon(Clock(dut.clk, CLOCK_PERIOD_NS, unit="ns").start())
        self.masters = {
            chip["coordinate"]: AxiLiteMaster(
                AxiLiteBus.from_prefix(dut, chip["host_prefix"]), dut.clk, dut.rst
            )
            for chip in self.manifest["chips"]
        }

    async def reset(self):
        """Reset, and wait until every page slot has been offered."""
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2 + self.manifest["settling_cycles"])

    def offset(self, chip: int, register: str) -> int:
        """The offset of a register by its name."""
        return next(
            entry["offset"]
            for entry in self.registers[chip]["registers"]
            if entry["name"] == register
        )

    async def read_register(self, chip: int, register: str) -> int:
        """The value of a register by its name."""
        return await self.masters[chip].read_dword(self.offset(chip, register))

    async def load(self):
        """Write every operand slice into its chip, all chips at once."""
        await self._together(self._load_chip(chip) for chip in self.masters)

    async def _load_chip(self, chip: int):
        for tensor in self.manifest["tensors"]:
            if tensor["chip"] == chip and tensor["role"] == "input":
                data = b"".join(
                    beat.to_bytes(tensor["beat_bytes"], "little") for beat in self.beats(tensor)
                )
                await self.masters[chip].write(tensor["offset"], data)

    def beats(self, tensor: dict) -> list[int]:
        """The beats of a tensor, from its file."""
        lines = (self.folder / tensor["file"]).read_text().split()
        return [int(line, 16) for line in lines]

    async def run(self) -> int:
        """Start all chips in one cycle, wait until all are done, return the home's cycles."""
        control = {chip: self.offset(chip, "control") for chip in self.masters}
        await self._together(
            master.write_dword(control[chip], 1) for chip, master in self.masters.items()
        )
        await with_timeout(
            self._finished(), 4 * CLOCK_PERIOD_NS * (self.manifest["expected_cycles"] + 2000), "ns"
        )
        for chip in self.masters:
            status = await self.read_register(chip, "status")
            assert not status >> FAULT & 1, f"chip {chip} reports a fault"
            assert not status >> RUNNING & 1, f"chip {chip} still runs"
        (output,) = (t for t in self.manifest["tensors"] if t["role"] == "output")
        return await self.read_register(output["chip"], "cycles")

    async def _finished(self):
        for chip in self.masters:
            while not await self.read_register(chip, "status") >> DONE & 1:
                await ClockCycles(self.dut.clk, POLL_CYCLES)

    async def differences(self) -> list[str]:
        """The elements of the product that are not as expected."""
        wrong = []
        for tensor in self.manifest["tensors"]:
            if tensor["role"] != "output":
                continue
            size, beat_bytes = tensor["beats"] * tensor["beat_bytes"], tensor["beat_bytes"]
            answer = await self.masters[tensor["chip"]].read(tensor["offset"], size)
            element_bytes = tensor["element_bits"] // 8
            for index, beat in enumerate(self.beats(tensor)):
                want = beat.to_bytes(beat_bytes, "little")
                got = answer.data[index * beat_bytes : (index + 1) * beat_bytes]
                for lane in range(tensor["lanes"]):
                    span = slice(lane * element_bytes, (lane + 1) * element_bytes)
                    pair = [int.from_bytes(x[span], "little", signed=True) for x in (got, want)]
                    if pair[0] != pair[1]:
                        wrong.append(f"beat {index} lane {lane} is {pair[0]}, not {pair[1]}")
        return wrong

    async def counters(self) -> dict[str, dict[str, int]]:
        """Every register of every chip that counts something."""
        return {
            str(chip): {
                entry["name"]: await self.read_register(chip, entry["name"])
                for entry in self.registers[chip]["registers"]
                if entry["name"].endswith(("_count", "_last", "cycles"))
            }
            for chip in self.masters
        }

    async def _together(self, coroutines):
        for task in [cocotb.start_soon(coroutine) for coroutine in coroutines]:
            await task


@cocotb.test()
async def product_is_exact_and_on_time(dut):
    """The product equals the expected one, in the expected number of cycles."""
    tb = TB(dut)
    await tb.reset()
    await tb.load()
    cycles = await tb.run()
    wrong = await tb.differences()
    report = {"cycles": cycles, "differences": wrong[:5], "counters": await tb.counters()}
    if "report" in cocotb.plusargs:
        Path(cocotb.plusargs["report"]).write_text(json.dumps(report))
    assert not wrong, f"{len(wrong)} elements differ: {'; '.join(wrong[:5])}"
    assert cycles == tb.manifest["expected_cycles"]


@cocotb.test()
async def runs_again_without_reset(dut):
    """A second run gives the same product in the same number of cycles."""
    tb = TB(dut)
    await tb.reset()
    await tb.load()
    first = await tb.run()
    await ClockCycles(dut.clk, 2 + tb.manifest["settling_cycles"])
    second = await tb.run()
    assert first == second == tb.manifest["expected_cycles"]
    assert not await tb.differences()


@cocotb.test()
async def reset_in_the_middle_leaves_nothing_behind(dut):
    """After a reset in mid-run, a run gives the product as if nothing had been."""
    tb = TB(dut)
    await tb.reset()
    await tb.load()
    for chip, master in tb.masters.items():
        cocotb.start_soon(master.write_dword(tb.offset(chip, "control"), 1))
    await ClockCycles(dut.clk, max(8, tb.manifest["expected_cycles"] // 2))
    await RisingEdge(dut.clk)
    await tb.reset()
    assert await tb.run() == tb.manifest["expected_cycles"]
    assert not await tb.differences()
