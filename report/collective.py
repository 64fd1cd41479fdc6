"""What is told of a collective that was run by itself."""

from collections.abc import Sequence
from typing import Any

from compiler.collective_choice import Choice
from report.table import aligned
from sim.result import RunResult


def record(result: RunResult, size_bytes: int, choices: Sequence[Choice]) -> dict[str, Any]:
    """A run as a JSON object; ``choices`` are the algorithms that were compared, if any were."""
    (collective, *_) = result.program.collectives
    told: dict[str, Any] = {
        "kind": collective.kind,
        "algorithm": collective.algorithm,
        "chips": len(collective.chips),
        "bytes": size_bytes,
        "cycles": result.cycles,
        "bound_cycles": result.ideal_cycles,
        "exact": result.exact,
        "links": [
            {
                "link": link.link,
                "busy_cycles": link.busy_cycles,
                "occupancy": round(link.busy_cycles / result.cycles, 4),
            }
            for link in result.links
        ],
    }
    if choices:
        told["choices"] = [
            {"algorithm": choice.algorithm, "cycles": choice.cycles}
            if choice.refusal is None
            else {"algorithm": choice.algorithm, "refused": str(choice.refusal)}
            for choice in choices
        ]
    return told


def text(result: RunResult, size_bytes: int, choices: Sequence[Choice]) -> str:
    """A run in a few lines: the collective, its links, and what other algorithms would take."""
    told = record(result, size_bytes, choices)
    columns = ("kind", "algorithm", "chips", "bytes", "cycles", "bound_cycles", "exact")
    row = [str(told[name]).lower() if name == "exact" else str(told[name]) for name in columns]
    tables: list[list[tuple[str, ...]]] = [[columns, tuple(row)]]
    tables.append([("link", "busy cycles", "occupancy")])
    tables[-1] += [
        (each["link"], str(each["busy_cycles"]), f"{each['occupancy']:.1%}")
        for each in told["links"]
    ]
    if choices:
        tables.append([("algorithm", "predicted cycles")])
        tables[-1] += [
            (choice.algorithm, str(choice.cycles) if choice.refusal is None else "refused")
            for choice in choices
        ]
    return "\n\n".join("\n".join(aligned(rows)) for rows in tables)
