"""How a model fits a machine: as a record for machines, as a table for people."""

from collections.abc import Iterator, Sequence
from typing import Any

from compiler.fit.model import Model
from compiler.fit.model_fit import LayerFit, ModelFit, memories
from compiler.targets import PlanningTarget, Target
from report.units import seconds, with_prefix

UNKNOWN = "unknown"
HEAD = (
    "chips",
    "weights",
    "activations",
    "buffers",
    "total",
    "fits",
    "compute",
    "memory",
    "link",
    "bound by",
)


def fit_record(
    model: Model, target: Target | PlanningTarget, fits: Sequence[ModelFit]
) -> dict[str, Any]:
    """Everything as plain data: bytes, and times in the unit that ``time_unit`` names."""
    planning = isinstance(target, PlanningTarget)
    return {
        "model": model.name,
        "source": model.source,
        "batch": model.batch,
        "target": target.name,
        "planning_only": planning,
        "time_unit": "seconds" if planning else "cycles",
        "memory": [
            {"name": tier.name, "capacity_bytes": tier.capacity_bytes} for tier in memories(target)
        ],
        "fits": [_fit(fit) for fit in fits],
    }


def _fit(fit: ModelFit) -> dict[str, Any]:
    return {
        "chips": fit.chips,
        "weight_bytes": fit.weight_bytes,
        "activation_bytes": fit.activation_bytes,
        "buffer_bytes": fit.buffer_bytes,
        "buffers_estimated": fit.estimated,
        "total_bytes": fit.total_bytes,
        "fits": fit.tier is not None,
        "memory": fit.tier.name if fit.tier else None,
        "times": fit.times,
        "memory_at_most": fit.memory_at_most,
        "time": fit.time,
        "bound": fit.bound,
        "undecided": list(fit.undecided),
        "certified": fit.cycles is not None,
        "predicted_cycles": fit.cycles,
        "why_not_certified": _text(fit.why_not),
        "layers": [_layer(layer) for layer in fit.layers],
    }


def _layer(fit: LayerFit) -> dict[str, Any]:
    layer = fit.layer
    return {
        "name": layer.name,
        "m": layer.m,
        "n": layer.n,
        "k": layer.k,
        "count": layer.count,
        "dtype": layer.dtype,
        "weight_bytes": fit.footprint.weights,
        "activation_bytes": fit.footprint.activations,
        "buffer_bytes": fit.footprint.buffers,
        "buffers_estimated": fit.estimated,
        "times": fit.roofline.times,
        "memory_at_most": fit.roofline.memory_at_most,
        "bound": fit.roofline.bound,
        "undecided": list(fit.roofline.undecided),
        "certified": fit.program is not None,
        "predicted_cycles": fit.cycles,
        "why_not_certified": _text(fit.why_not),
    }


def _text(error: Exception | None) -> str | None:
    return None if error is None else str(error)


def fit_heading(model: Model, target: Target | PlanningTarget) -> Iterator[str]:
    """What is fitted to what."""
    products = sum(layer.count for layer in model.layers)
    batch = f", batch {model.batch}" if model.batch > 1 else ""
    capacity = ", ".join(
        f"{with_prefix(tier.capacity_bytes, 'B')} {tier.name}" for tier in memories(target)
    )
    yield f"{model.name}: {products} matrix product{'s' if products > 1 else ''}{batch}"
    if isinstance(target, PlanningTarget):
        yield f"{target.name}, for planning only, per chip: {capacity}"
        yield "figures as published, unmeasured: shardwright targets names their sources"
    else:
        yield f"{target.name}, per chip: {capacity}; times in cycles"


def fit_rows(fits: Sequence[ModelFit]) -> list[Sequence[str]]:
    """A row for each number of chips, below the names of the columns."""
    planning = isinstance(fits[0].target, PlanningTarget)
    head = HEAD if planning else (*HEAD, "certified")
    return [head, *(_row(fit, planning) for fit in fits)]


def _row(fit: ModelFit, planning: bool) -> tuple[str, ...]:
    held = "no" if fit.tier is None else fit.tier.name if planning else "yes"
    about = "~" if fit.estimated else ""
    row = (
        str(fit.chips),
        with_prefix(fit.weight_bytes, "B"),
        with_prefix(fit.activation_bytes, "B"),
        about + with_prefix(fit.buffer_bytes, "B"),
        about + with_prefix(fit.total_bytes, "B"),
        held,
        *(_time(fit, name) for name in fit.times),
        _bound(fit),
    )
    if planning:
        return row
    return (*row, "no" if fit.cycles is None else f"{fit.cycles:,} cycles")


def _time(fit: ModelFit, name: str) -> str:
    time, about = fit.times[name], ""
    if time is None and name == "memory":
        time, about = fit.memory_at_most, "<"
    if time is None:
        return UNKNOWN
    return about + (seconds(time) if isinstance(fit.target, PlanningTarget) else f"{time:,}")


def _bound(fit: ModelFit) -> str:
    """What bounds, and what is unknown and may bound instead."""
    return " or ".join(filter(None, (fit.bound, *fit.undecided)))


def fit_notes(fits: Sequence[ModelFit]) -> Iterator[str]:
    """Why some figures are estimates, and why some programs have no certificate."""
    if any(fit.estimated for fit in fits):
        how = (
            "whole partial sums"
            if isinstance(fits[0].target, PlanningTarget)
            else "two pages each where no program was compiled"
        )
        yield f"~ buffers are estimated: {how}"
    if isinstance(fits[0].target, PlanningTarget):
        yield from _planning_notes(fits, fits[0].target)
        return
    reasons: dict[str, list[ModelFit]] = {}
    for fit in fits:
        if fit.why_not is not None:
            reasons.setdefault(str(fit.why_not), []).append(fit)
    for reason, those in reasons.items():
        counts = ", ".join(str(fit.chips) for fit in those)
        noun = "chip" if those[-1].chips == 1 else "chips"
        yield f"{counts} {noun}, not certified: {reason}"


def _planning_notes(fits: Sequence[ModelFit], target: PlanningTarget) -> Iterator[str]:
    if any(fit.times["memory"] is None and fit.memory_at_most is not None for fit in fits):
        yield "< the memory's rate is unknown: at most as long as the next slower one takes"
    peaks = [dtype for dtype, _ in target.peak_operations_per_second]
    for dtype in sorted({layer.layer.dtype for layer in fits[0].layers} - {*peaks}):
        yield f"no peak is known for {dtype}, only for {', '.join(peaks)} (--dtype)"
    for fit in fits:
        if fit.tier is None:
            noun = "chip" if fit.chips == 1 else "chips"
            yield f"{fit.chips} {noun}: no memory of a chip holds {fit.total_bytes:,} bytes"
