"""Bench of a whole system: every chip's part in, every chip's results out, through AXI4-Lite.

It needs cocotb and cocotbext-axi, and the files that stand beside it: the manifest says what the
ports, the addresses and the expected cycles are, the .hex files hold operands and results.
"""

import json
import logging
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, SimTimeoutError, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

CLOCK_PERIOD_NS = 10
POLL_CYCLES = 16
RUNNING, DONE, FAULT = 1, 2, 3


class TB:
    """The system, its clock, and one bus master for each chip."""

    def __init__(self, dut):
        self.dut = dut
        stated = Path(str(cocotb.plusargs["manifest"]))
        self.folder = stated.parent
        self.manifest = json.loads(stated.read_text())
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
        for master in self.masters.values():
            for interface in (master.write_if, master.read_if):
                assert interface is not None
                interface.log.setLevel(logging.WARNING)  # it says every byte otherwise

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

    async def load(self, *, zeros: bool = False):
        """Write every operand slice, or zeros, into its chip, all chips at once."""
        await self._together(self._load_chip(chip, zeros) for chip in self.masters)

    async def _load_chip(self, chip: int, zeros: bool):
        for tensor in self.tensors("input"):
            if tensor["chip"] == chip:
                beats = [0] * tensor["beats"] if zeros else self.beats(tensor)
                data = b"".join(beat.to_bytes(tensor["beat_bytes"], "little") for beat in beats)
                answer = await self.masters[chip].write(tensor["offset"], data)
                assert answer.resp == AxiResp.OKAY, (
                    f"chip {chip} refused a word of {tensor['name']}"
                )

    def tensors(self, role: str) -> list[dict]:
        """The tensors of all chips that are inputs, or outputs."""
        return [tensor for tensor in self.manifest["tensors"] if tensor["role"] == role]

    def beats(self, tensor: dict) -> list[int]:
        """The beats of a tensor, from its file."""
        lines = (self.folder / tensor["file"]).read_text().split()
        return [int(line, 16) for line in lines]

    async def run(self) -> int:
        """Start all chips in one cycle, wait until all are done, and return the cycles."""
        control = {chip: self.offset(chip, "control") for chip in self.masters}
        await self._together(
            master.write_dword(control[chip], 1) for chip, master in self.masters.items()
        )
        limit = 2 * self.manifest["expected_cycles"] + 1000
        try:
            await with_timeout(self._finished(), limit * CLOCK_PERIOD_NS, "ns")
        except SimTimeoutError:
            raise AssertionError(f"the chips are not all done after {limit} cycles") from None
        return await self._cycles()

    async def run_by_pin(self) -> int:
        """Start all chips by the system's pin, in every cycle until all are done, as often."""
        limit = 2 * self.manifest["expected_cycles"] + 1000
        await FallingEdge(self.dut.clk)
        self.dut.start.value = 1
        await FallingEdge(self.dut.clk)
        for _ in range(limit):
            if self.dut.done.value == 1:
                break
            await FallingEdge(self.dut.clk)
        self.dut.start.value = 0
        assert self.dut.done.value == 1, f"the chips are not all done after {limit} cycles"
        await RisingEdge(self.dut.clk)
        return await self._cycles()

    async def _cycles(self) -> int:
        """Cycles of the run that has ended: the most that a chip with results has counted."""
        for chip in self.masters:
            status = await self.read_register(chip, "status")
            assert not status >> FAULT & 1, f"chip {chip} reports a fault"
            assert not status >> RUNNING & 1, f"chip {chip} still runs"
        chips = {output["chip"] for output in self.tensors("output")}
        return max([await self.read_register(chip, "cycles") for chip in chips])

    async def _finished(self):
        for chip in self.masters:
            while not await self.read_register(chip, "status") >> DONE & 1:
                await ClockCycles(self.dut.clk, POLL_CYCLES)

    async def outputs(self) -> dict[str, list[bytes]]:
        """The beats of every result of every chip, read back, by the names of the tensors."""
        return {output["name"]: await self._output(output) for output in self.tensors("output")}

    async def _output(self, output: dict) -> list[bytes]:
        size, chip = output["beat_bytes"], output["chip"]
        answer = await self.masters[chip].read(output["offset"], output["beats"] * size)
        assert answer.resp == AxiResp.OKAY, f"chip {chip} refused to show a word of its result"
        return [answer.data[beat * size : (beat + 1) * size] for beat in range(output["beats"])]

    def check_outputs(self, outputs: dict[str, list[bytes]]):
        """Fail with the first elements of any chip that are not as expected."""
        wrong = []
        for output in self.tensors("output"):
            element_bytes = output["element_bits"] // 8
            got_beats = outputs[output["name"]]
            for index, (beat, got) in enumerate(zip(self.beats(output), got_beats, strict=True)):
                want = beat.to_bytes(output["beat_bytes"], "little")
                for lane in range(output["lanes"]):
                    span = slice(lane * element_bytes, (lane + 1) * element_bytes)
                    pair = [int.from_bytes(x[span], "little", signed=True) for x in (got, want)]
                    if pair[0] != pair[1]:
                        place = f"chip {output['chip']} beat {index} lane {lane}"
                        wrong.append(f"{place} is {pair[0]}, not {pair[1]}")
        assert not wrong, f"{len(wrong)} elements differ: {'; '.join(wrong[:5])}"

    def check_cycles(self, cycles: int):
        """Fail if a run did not take as long as the program says."""
        expected = self.manifest["expected_cycles"]
        assert cycles == expected, f"the run took {cycles} cycles, not {expected}"

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
    """Every chip's results equal the expected ones, in the expected number of cycles."""
    tb = TB(dut)
    await tb.reset()
    await tb.load()
    cycles = await tb.run()
    outputs = await tb.outputs()
    if "report" in cocotb.plusargs:
        report = {
            "outputs": {name: [beat.hex() for beat in beats] for name, beats in outputs.items()},
            "counters": await tb.counters(),
        }
        Path(str(cocotb.plusargs["report"])).write_text(json.dumps(report))
    tb.check_outputs(outputs)
    tb.check_cycles(cycles)


@cocotb.test()
async def runs_again_without_reset(dut):
    """Runs of other operands in between change neither the results nor their cycles."""
    tb = TB(dut)
    await tb.reset()
    for zeros in (False, True, False):
        await tb.load(zeros=zeros)
        tb.check_cycles(await tb.run())
        outputs = await tb.outputs()
        if not zeros:
            tb.check_outputs(outputs)


@cocotb.test()
async def starts_in_the_middle_are_ignored(dut):
    """A start by the pin begins a run if none is under way, and changes nothing otherwise."""
    tb = TB(dut)
    await tb.reset()
    for zeros in (False, True, False):
        await tb.load(zeros=zeros)
        tb.check_cycles(await tb.run_by_pin())
        outputs = await tb.outputs()
        if not zeros:
            tb.check_outputs(outputs)


@cocotb.test()
async def reset_in_the_middle_leaves_nothing_behind(dut):
    """After a reset in mid-run, a run gives its results as if nothing had been."""
    tb = TB(dut)
    await tb.reset()
    await tb.load()
    for chip, master in tb.masters.items():
        cocotb.start_soon(master.write_dword(tb.offset(chip, "control"), 1))
    await ClockCycles(dut.clk, max(8, tb.manifest["expected_cycles"] // 2))
    await RisingEdge(dut.clk)
    await tb.reset()
    tb.check_cycles(await tb.run())
    tb.check_outputs(await tb.outputs())
