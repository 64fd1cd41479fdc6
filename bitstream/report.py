"""What a build looks like: as a record for machines, as tables for people."""

from collections.abc import Iterator
from dataclasses import asdict
from statistics import median
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bitstream.chip_build import ChipBuild
from bitstream.link_timing import LinkTiming
from bitstream.timing import ClockTiming, Path
from bitstream.usage import COLUMNS, Usage
from report.units import seconds, with_prefix

TITLES = {
    "luts": "LUT4",
    "carries": "carry",
    "flip_flops": "flip-flops",
    "lut_memories": "LUT RAM",
    "multipliers": "multipliers",
    "block_memories": "block RAM",
    "large_memories": "SPRAM",
}
MEGA = 1e6


def record(build: ChipBuild) -> dict[str, Any]:
    """The build of a chip as plain data. Frequencies are in hertz, delays in nanoseconds."""
    best = build.best
    return {
        "chip": build.chip,
        "board": build.board.name,
        "program": build.program.name,
        "tile": build.program.tile,
        "multipliers": _multipliers(build),
        "bitstream": build.bitstream or None,
        "same_as": build.same_as,
        "clock_hz": build.board.clock.target_hz,
        "timing_met": build.met if best else None,
        "cells": asdict(build.total) if build.total else None,
        "components": {name: asdict(usage) for name, usage in build.components.items()},
        "device": [asdict(fill) for fill in best.fills] if best else [],
        "clocks": [asdict(clock) | {"met": clock.met} for clock in best.clocks] if best else [],
        "crossings": [asdict(crossing) for crossing in best.crossings] if best else [],
        "links": [asdict(link) | {"met": link.met} for link in best.links] if best else [],
        "seed": best.seed if best else None,
        "router": best.attempt.router if best else None,
        "seeds": [
            asdict(seed.attempt) | {"clocks": {c.name: c.achieved_hz for c in seed.clocks}}
            for seed in build.seeds
        ],
        "given_up": [asdict(each.attempt) | {"why": each.why} for each in build.given_up],
        "tools": dict(build.tools),
        "cycles": build.cycles,
        "seconds": build.seconds,
        "multiply_accumulates": build.multiply_accumulates,
        "multiply_accumulates_per_second": build.rate,
        "peak_multiply_accumulates_per_second": build.peak_rate,
    }


def _multipliers(build: ChipBuild) -> dict[str, int] | None:
    """How many multipliers of a tile unit are blocks of the device, and how many are logic."""
    plan = build.multipliers
    return {"blocks": plan.block_count, "logic": plan.rest_count} if plan else None


def folder_of(chip: int) -> str:
    """Name of the folder that takes the build of a chip."""
    return f"chip_{chip}"


def summary(build: ChipBuild) -> str:
    """The build of a chip in one line."""
    parts: list[str] = []
    if build.same_as is not None:
        parts.append(f"as chip {build.same_as}")
    if build.total is not None:
        parts.append(_cells(build.total))
    if build.best is not None:
        parts += [_frequency(clock) for clock in build.best.clocks]
        parts += [f"link {link.port} MISSED" for link in build.best.links if not link.met]
        if build.met:
            parts.append(f"{build.cycles} cycles in {seconds(build.seconds)}")
            parts.append(with_prefix(build.rate, "MAC/s"))
    if build.total is None:
        parts.append("project for the vendor's tool prepared, no bitstream made")
    if build.bitstream:
        parts.append(f"{folder_of(build.chip)}/{build.bitstream}")
    return f"chip {build.chip} on {build.board.name}: {', '.join(parts)}"


def pictures(build: ChipBuild) -> RenderableType:
    """The build of a chip as tables."""
    return Group(*_tables(build))


def _tables(build: ChipBuild) -> Iterator[RenderableType]:
    yield Text(f"chip {build.chip} of {build.program.name} on {build.board.title}", style="bold")
    if build.total is None:
        yield Text("The project for the vendor's tool is prepared; no bitstream is made here.")
        return
    yield _components(build)
    if build.best is None:
        return
    yield _device(build)
    yield _clocks(build)
    if build.best.links:
        yield _links(build.best.links)
    yield _performance(build)


def _components(build: ChipBuild) -> Table:
    assert build.total is not None
    shown = [column for column in COLUMNS if getattr(build.total, column)]
    table = Table(show_footer=True)
    table.add_column("component", footer="all")
    for column in shown:
        footer = f"{getattr(build.total, column):,}"
        table.add_column(TITLES[column], justify="right", footer=footer)
    for name, usage in build.components.items():
        counts = [getattr(usage, column) for column in shown]
        if any(counts):
            table.add_row(name, *(f"{count:,}" if count else "" for count in counts))
    return table


def _device(build: ChipBuild) -> Table:
    assert build.best is not None
    table = Table("cells of the device", "used", "there are", "full")
    for column in table.columns[1:]:
        column.justify = "right"
    for fill in build.best.fills:
        share = f"{fill.used / fill.available:.0%}"
        table.add_row(fill.kind, f"{fill.used:,}", f"{fill.available:,}", share)
    return table


def _clocks(build: ChipBuild) -> Table:
    assert build.best is not None
    chosen = f"reached, seed {build.best.seed} by {build.best.attempt.router}"
    table = Table("clock", "wanted", chosen, "", "slowest path")
    if len(build.seeds) > 1:
        table.add_column(f"least, median, most of {len(build.seeds)} seeds")
    for clock in build.best.clocks:
        cells = [
            clock.name,
            f"{clock.wanted_hz / MEGA:.2f} MHz",
            f"{clock.achieved_hz / MEGA:.2f} MHz",
            _verdict(clock.met),
            _path(clock.path),
        ]
        if len(build.seeds) > 1:
            cells.append(_spread(build, clock.name))
        table.add_row(*cells)
    for crossing in build.best.crossings:
        name = f"{crossing.source} to {crossing.destination}"
        table.add_row(name, "", "", "", _path(crossing.path))
    return table


def _verdict(met: bool) -> Text:
    return Text("met") if met else Text("MISSED", style="bold red")


def _links(links: tuple[LinkTiming, ...]) -> Table:
    table = Table("link", "between pin and register", "half of its window", "")
    for link in links:
        way = f"{link.way_ns:.1f} ns" if link.way_ns else "nothing: it is in the cell of the pin"
        table.add_row(link.port, way, f"{link.window_ns:.1f} ns", _verdict(link.met))
    return table


def _path(path: Path | None) -> str:
    if path is None:
        return "no path from a register to a register"
    return (
        f"{path.source} to {path.destination}: {path.logic_ns:.1f} ns of logic, "
        f"{path.routing_ns:.1f} ns of routing, through {', '.join(path.through)}"
    )


def _spread(build: ChipBuild, name: str) -> str:
    reached = sorted(
        clock.achieved_hz / MEGA
        for seed in build.seeds
        for clock in seed.clocks
        if clock.name == name
    )
    return f"{reached[0]:.2f}, {median(reached):.2f}, {reached[-1]:.2f} MHz"


def _performance(build: ChipBuild) -> Table:
    table = Table(show_header=False)
    table.add_row("tools", ", ".join(f"{tool} {version}" for tool, version in build.tools))
    for each in build.given_up:
        table.add_row("given up", each.why)
    clock_mhz = build.board.clock.target_hz / MEGA
    multipliers = _multipliers(build)
    if multipliers:
        kinds = f"{multipliers['blocks']} are blocks, {multipliers['logic']} are logic"
        table.add_row("multipliers", f"{build.program.tile**2} in the tile unit: {kinds}")
    table.add_row(
        "a product", f"{build.cycles:,} cycles at {clock_mhz:g} MHz: {seconds(build.seconds)}"
    )
    table.add_row(
        "this chip",
        f"{build.multiply_accumulates:,} multiply-accumulates: {with_prefix(build.rate, 'MAC/s')}, "
        f"{build.rate / build.peak_rate:.0%} of the {with_prefix(build.peak_rate, 'MAC/s')} of its "
        "tile unit",
    )
    if not build.met:
        table.add_row("timing", Text("MISSED: it will not work at this clock", style="bold red"))
    return table


def _cells(total: Usage) -> str:
    counts = ((TITLES[column], getattr(total, column)) for column in COLUMNS)
    return ", ".join(f"{count:,} {title}" for title, count in counts if count)


def _frequency(clock: ClockTiming) -> str:
    reached, wanted = clock.achieved_hz / MEGA, clock.wanted_hz / MEGA
    return f"{clock.name} {reached:.2f} of {wanted:.2f} MHz{'' if clock.met else ' MISSED'}"
