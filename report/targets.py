"""What targets provide: as records for machines, as tables for people."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from compiler.targets import PlanningTarget, Target
from compiler.targets.catalogue import LINK_TABLES
from report.units import with_prefix

UNKNOWN = "unknown"


def target_record(target: Target | PlanningTarget) -> dict[str, Any]:
    """A target as plain data: the fields of its file, and whether it is for planning only."""
    if isinstance(target, Target):
        fields = asdict(target)
        links = fields.pop("link_kinds")
        return {**fields, LINK_TABLES: list(links), "planning_only": False}
    peaks, sources = dict(target.peak_operations_per_second), dict(target.sources)
    return {**asdict(target), "peak_operations_per_second": peaks, "sources": sources}


def target_rows(targets: Sequence[Target]) -> list[Sequence[str]]:
    """A row for each target that programs are compiled for, below the names of the columns."""
    head = ("target", "tile", "hand-offs", "link", "ports", "engines", "memory")
    return [head, *map(_row, targets)]


def _row(target: Target) -> tuple[str, ...]:
    return (
        target.name,
        str(target.tile),
        ", ".join(target.handoffs),
        _link(target),
        str(target.link_ports),
        f"{target.compute_engines} + {target.movement_engines}",
        with_prefix(target.memory_bytes, "B"),
    )


def _link(target: Target) -> str:
    pace = f" every {target.link_flit_cycles} cycles" if target.link_flit_cycles > 1 else ""
    more = f", and {len(target.link_kinds)} more" if target.link_kinds else ""
    return f"{target.link_width_bits} bits{pace}, {target.link_latency_cycles} cycles{more}"


def planning_rows(targets: Sequence[PlanningTarget]) -> list[Sequence[str]]:
    """A row for each planning target, below the names of the columns."""
    head = ("for planning only", "chips", "peak per chip", "link", "memory")
    return [head, *map(_planning_row, targets)]


def _planning_row(target: PlanningTarget) -> tuple[str, ...]:
    return (
        target.name,
        str(target.max_chips),
        ", ".join(
            f"{with_prefix(peak, 'op/s')} {dtype}"
            for dtype, peak in target.peak_operations_per_second
        ),
        _figure("link_bytes_per_second", target.link_bytes_per_second),
        ", ".join(f"{with_prefix(t.capacity_bytes, 'B')} {t.name}" for t in target.memory),
    )


def target_lines(target: Target | PlanningTarget) -> Iterator[str]:
    """All that is known of one target; for a planning target, each figure with its source."""
    yield f"{target.name}: {target.description}"
    if isinstance(target, Target):
        fields = asdict(target)
        del fields["description"], fields["link_kinds"]
        width = max(map(len, fields))
        for key, value in fields.items():
            shown = ", ".join(value) if isinstance(value, tuple) else value
            yield f"  {key:{width}}  {shown if isinstance(shown, str) else f'{shown:,}'}"
        for kind in target.link_kinds:
            yield f"  {'link ' + kind.name:{width}}  {kind}"
        return
    yield "for planning only: shardwright fit reads these figures, and no program is compiled"
    sources = dict(target.sources)
    for name, figure in target.figures().items():
        yield f"  {name}: {_figure(name, figure)}"
        yield f"      {sources[name]}"


def _figure(name: str, figure: int | None) -> str:
    """A figure in the unit that its name states."""
    if figure is None:
        return UNKNOWN
    if name.endswith("bytes_per_second"):
        return with_prefix(figure, "B/s")
    if name.endswith("capacity_bytes"):
        return with_prefix(figure, "B")
    if name.startswith("peak_operations_per_second"):
        return with_prefix(figure, "op/s")
    return f"{figure:,}"
