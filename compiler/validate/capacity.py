"""Capacity: engines, link ports and memory of every chip."""

from collections import Counter

from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.ir.stage import Engine, EngineKind, Load, Recv, Site, StageRole, Store
from compiler.targets import Target


def check_capacity(program: Program, target: Target) -> None:
    """No chip uses more than the target has."""
    _chips(program)
    _engines(program, target)
    _link_ports(program, target)
    _memory(program, target)


def _chips(program: Program) -> None:
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
    counts = {
        EngineKind.COMPUTE: target.compute_engines,
        EngineKind.MOVEMENT: target.movement_engines,
        EngineKind.LINK: target.link_ports,
    }
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
        fits = {
            EngineKind.LINK: isinstance(stage.kind, Recv),
            EngineKind.COMPUTE: stage.role is StageRole.COMPUTE,
            EngineKind.MOVEMENT: isinstance(stage.kind, Load | Store),
        }
        if not fits[engine.kind]:
            raise ValidationError(
                "EngineRole",
                stage.name,
                f"{type(stage.kind).__name__} stage {stage.name!r} cannot run on {engine}",
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
    for link in program.links or ():
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
    for tensor in program.tensors:
        used[tensor.chip] += tensor.page_count * tensor.tile**2 * tensor.dtype.bits // 8
    for buffer in program.buffers:
        if buffer.site and buffer.depth_pages:
            page = buffer.page
            used[buffer.site.chip] += buffer.depth_pages * page.beats * page.beat_bits // 8
    for chip, needed in sorted(used.items()):
        if needed > target.memory_bytes:
            raise ValidationError(
                "MemoryExceeded",
                f"chip {chip}",
                f"chip {chip} needs {needed} bytes for tensors and buffers, but has "
                f"{target.memory_bytes}; use more chips or a target with more memory",
            )
