"""Planning targets: what is published of a machine, and where.

They answer what a chip can hold and what bounds a product on it, and nothing else: no program is
compiled for them. A figure that nobody has published is unknown (``None``), and its entry in
``sources`` says so.
"""

from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from compiler.errors import TargetError, TargetValueError, UnsourcedFigureError
from compiler.toml_file import check_fields, parse, read

KIND = "target file"


@dataclass(frozen=True)
class MemoryTier:
    """One of the memories of a chip.

    Parameters
    ----------
    capacity_bytes : int
        Bytes that one chip has of it.
    bytes_per_second : int or None
        Bytes that cross its interface in a second, reads and writes together.
    """

    name: str
    capacity_bytes: int
    bytes_per_second: int | None = None


@dataclass(frozen=True)
class PlanningTarget:
    """Published figures of a machine of equal chips: capacities and rates.

    Parameters
    ----------
    memory : tuple of MemoryTier
        Memories of a chip, the fastest first.
    peak_operations_per_second : tuple of (str, int)
        By element type, multiplications and additions that one chip does in a second.
    link_bytes_per_second : int or None
        Bytes that one chip sends to other chips in a second, over all its links; it receives as
        many at the same time.
    max_chips : int
        Chips that work on one model.
    sources : tuple of (str, str)
        For each of :meth:`figures`, where it was published, or what is published in its place.
    planning_only : bool
        Always true.

    Raises
    ------
    TargetValueError
        If a field is out of its range.
    UnsourcedFigureError
        If a figure has no source, or a source no figure.
    """

    name: str
    description: str
    memory: tuple[MemoryTier, ...]
    peak_operations_per_second: tuple[tuple[str, int], ...]
    link_bytes_per_second: int | None
    max_chips: int
    sources: tuple[tuple[str, str], ...]
    planning_only: bool = True

    def __post_init__(self) -> None:
        for name in ("name", "description"):
            self._require(name, "a string", isinstance(getattr(self, name), str))
        self._require("planning_only", "true", self.planning_only is True)
        self._require("memory", "a list of at least one [[memory]] table", bool(self.memory))
        tiers = [tier.name for tier in self.memory]
        named = all(isinstance(cast(object, name), str) for name in tiers)
        self._require("memory", "of different names", named and len({*tiers}) == len(tiers))
        for figure, value in self.figures().items():
            unknown = value is None and figure.endswith("bytes_per_second")
            positive = type(value) is int and value >= 1
            self._require(figure, "a positive integer", unknown or positive, value)
        sources = dict(self.sources)
        for figure in sorted(self.figures().keys() ^ sources.keys()):
            why = "is not stated" if figure in sources else "has no source"
            raise UnsourcedFigureError(target=self.name, figure=figure, why=why)
        for figure, source in self.sources:
            stated = isinstance(cast(object, source), str) and bool(source)
            self._require(f"sources.{figure}", "a text", stated, source)

    def _require(self, field: str, rule: str, holds: bool, value: object = None) -> None:
        if not holds:
            value = getattr(self, field, value)
            raise TargetValueError(target=str(self.name), field=field, rule=rule, value=value)

    def figures(self) -> dict[str, int | None]:
        """Every figure by the name that ``sources`` uses; ``None`` where it is unknown."""
        named: dict[str, int | None] = {
            "max_chips": self.max_chips,
            "link_bytes_per_second": self.link_bytes_per_second,
        }
        for dtype, peak in self.peak_operations_per_second:
            named[f"peak_operations_per_second.{dtype}"] = peak
        for tier in self.memory:
            named[f"memory.{tier.name}.capacity_bytes"] = tier.capacity_bytes
            named[f"memory.{tier.name}.bytes_per_second"] = tier.bytes_per_second
        return named

    def peak(self, dtype: str) -> int | None:
        """Operations per second of one chip on ``dtype``, or ``None`` if unknown."""
        return dict(self.peak_operations_per_second).get(dtype)


def names() -> tuple[str, ...]:
    """Names of the built-in planning targets, sorted."""
    entries = _folder().iterdir()
    return tuple(sorted(e.name.removesuffix(".toml") for e in entries if e.name.endswith(".toml")))


def get(name: str) -> PlanningTarget:
    """The built-in planning target ``name``, which must be one of :func:`names`."""
    text = _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8")
    source = f"{name}.toml"
    return build(parse(text, source=source, kind=KIND, error=TargetError), source=source)


def load(path: str | Path) -> PlanningTarget:
    """The planning target that the TOML file at ``path`` describes.

    Raises
    ------
    TargetError
        If the file cannot be read, is no TOML, or does not describe a planning target.
    """
    return build(read(path, kind=KIND, error=TargetError), source=str(path))


def build(entries: dict[str, Any], *, source: str) -> PlanningTarget:
    """The planning target that the entries of a TOML file describe."""
    place = f"{KIND} {source!r}"
    known = [field.name for field in fields(PlanningTarget)]
    optional = ("link_bytes_per_second",)
    check_fields(
        entries,
        place=place,
        required=tuple(name for name in known if name not in optional),
        optional=optional,
        error=TargetError,
    )
    tables = {"peak_operations_per_second": dict, "sources": dict, "memory": list}
    for name, kind in tables.items():
        if not isinstance(entries[name], kind):
            wanted = "a table" if kind is dict else "a list of [[memory]] tables"
            raise TargetError(f"{place}: field {name!r} must be {wanted}, not {entries[name]!r}")
    return PlanningTarget(
        name=entries["name"],
        description=entries["description"],
        memory=tuple(_tier(tier, place) for tier in cast(list[object], entries["memory"])),
        peak_operations_per_second=_pairs(entries["peak_operations_per_second"]),
        link_bytes_per_second=entries.get("link_bytes_per_second"),
        max_chips=entries["max_chips"],
        sources=_pairs(entries["sources"]),
        planning_only=entries["planning_only"],
    )


def _tier(entries: object, place: str) -> MemoryTier:
    if not isinstance(entries, dict):
        raise TargetError(f"{place}: memory must be a list of [[memory]] tables, not {entries!r}")
    table = cast(dict[str, Any], entries)
    check_fields(
        table,
        place=f"{place}, memory",
        required=("name", "capacity_bytes"),
        optional=("bytes_per_second",),
        error=TargetError,
    )
    return MemoryTier(table["name"], table["capacity_bytes"], table.get("bytes_per_second"))


def _pairs(table: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(table.items())


def _folder() -> Traversable:
    return files("compiler.targets").joinpath("published")
