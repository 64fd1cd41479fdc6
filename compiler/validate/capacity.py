"""Capacity: engines, link ports and memory of every chip."""

from collections import Counter

from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.ir.stage import Engine, Load, Site, Store
from compiler.ir.tensor import TensorRole
from compiler.targets import Target


def check_capacity(program: Program, target: Target) -> None:
    """No chip uses more than the target has."""
    check_chips(program)
    _engines(program, target)
    _link_ports(program, target)
    _memory(program, target)
    _allocations(program, target)


def check_chips(program: Program) -> None:
    """Stages are on chips that exist, and use tensors of their own chip."""
    for stage in program.stages:
        if stage.site and not 0 <= stage.site.chip < program.chip_count:
            raise ValidationError(
                "UnknownChip",
                stage.name,
                f"stage {stage.name!r} is on chip {stage.site.chip} of {program.chip_count}",
            )
        if stage.site and isinstance(stage.kind, Load | Store):
            tensor = program.tensor_by_name[stage.kind.tensor]
            if tensor.chip != stage.site.chip:
                raise ValidationError(
                    "RemoteTensor",
                    stage.name,
                    f"stage {stage.name!r} on chip {stage.site.chip} uses tensor {tensor.name!r} "
                    f"in the memory of chip {tensor.chip}",
                )


def _engines(program: Program, target: Target) -> None:
    counts = target.engine_counts
    users: dict[tuple[Site | None, Engine], str] = {}
    for stage in program.stages:
        engine = stage.engine
        if engine is None:
            continue
        if not 0 <= engine.index < counts[engine.kind]:
            raise ValidationError(
                "UnknownEngine",
                stage.name,
                f"stage {stage.name!r} runs on {engine}, but a site has {counts[engine.kind]} "
                f"{engine.kind} engines",
            )
        if engine.kind is not stage.kind.engine:
            raise ValidationError(
                "EngineRole",
                stage.name,
                f"{type(stage.kind).__name__} stage {stage.name!r} cannot run on {engine}; "
                f"it needs a {stage.kind.engine} engine",
            )
        other = users.setdefault((stage.site, engine), stage.name)
        if other != stage.name:
            raise ValidationError(
                "EngineOversubscribed",
                stage.name,
                f"stages {other!r} and {stage.name!r} share {engine} of site {stage.site}",
            )


def _link_ports(program: Program, target: Target) -> None:
    ports = Counter[int]()
    for link in program.links:
        ports.update((link.source_chip, link.destination_chip))
    for chip, needed in sorted(ports.items()):
        if needed > target.link_ports:
            raise ValidationError(
                "LinkPortsExceeded",
                f"chip {chip}",
                f"chip {chip} holds {needed} ends of links, but has {target.link_ports} ports",
            )


def _memory(program: Program, target: Target) -> None:
    used = Counter[int]()
    for (_, chip), size in owners(program).items():
        used[chip] += size
    inputs = {t.name for t in program.tensors if t.role is TensorRole.INPUT}
    for chip, needed in sorted(used.items()):
        if needed > target.memory_bytes:
            shared = sum(
                size
                for (name, where), size in owners(program).items()
                if where == chip and name in inputs
            )
            fewer = "more chips or " if needed - shared < target.memory_bytes else ""
            raise ValidationError(
                "MemoryExceeded",
                f"chip {chip}",
                f"chip {chip} needs {needed} bytes for tensors and buffers, but has "
                f"{target.memory_bytes}; use {fewer}a target with more memory",
            )


def owners(program: Program) -> dict[tuple[str, int], int]:
    """Bytes that each tensor and each buffer of known depth takes, by its name and chip."""
    sizes = {
        (tensor.name, tensor.chip): -(-tensor.page_count * tensor.tile**2 * tensor.dtype.bits // 8)
        for tensor in program.tensors
    }
    for buffer in program.buffers:
        if buffer.site and buffer.depth_pages:
            page = buffer.page
            bits = buffer.depth_pages * page.beats * page.beat_bits
            sizes[buffer.name, buffer.site.chip] = -(-bits // 8)
    return sizes


def _allocations(program: Program, target: Target) -> None:
    """The memory map, once there is one: a place for every owner, and no two in one place."""
    if not program.memory:
        return
    sizes = owners(program)
    mapped = {(place.owner, place.chip): place for place in program.memory}
    for owner, chip in sorted(sizes.keys() ^ mapped.keys()):
        raise ValidationError(
            "MemoryMap",
            owner,
            f"{owner!r} on chip {chip} "
            + (
                "has no place in memory"
                if (owner, chip) in sizes
                else "has a place in memory, but is no tensor or buffer there"
            ),
        )
    if len(program.memory) > len(mapped):
        places = Counter((place.owner, place.chip) for place in program.memory)
        (owner, chip), count = max(places.items(), key=lambda item: item[1])
        raise ValidationError(
            "MemoryMap", owner, f"{owner!r} on chip {chip} has {count} places in memory"
        )
    ends: dict[int, tuple[int, str]] = {}
    for place in sorted(program.memory, key=lambda place: (place.chip, place.address)):
        end, before = ends.get(place.chip, (0, ""))
        needed = sizes[place.owner, place.chip]
        if place.size_bytes < needed or place.address < 0:
            raise ValidationError(
                "MemoryMap",
                place.owner,
                f"{place.owner!r} needs {needed} bytes, but has {place.size_bytes} at "
                f"{place.address}",
            )
        if place.address < end:
            raise ValidationError(
                "MemoryMap",
                place.owner,
                f"{place.owner!r} overlaps {before!r} on chip {place.chip}",
            )
        ends[place.chip] = (place.address + place.size_bytes, place.owner)
    for chip, (end, owner) in ends.items():
        if end > target.memory_bytes:
            raise ValidationError(
                "MemoryMap",
                owner,
                f"{owner!r} ends at byte {end} of chip {chip}, which has {target.memory_bytes}",
            )
