"""Place: give every stage a site and an engine, and every buffer the site of its producer."""

from dataclasses import replace

from compiler.errors import NoEngineError
from compiler.ir.program import Program
from compiler.ir.stage import Engine, EngineKind, Recv, Site, Stage, StageRole
from compiler.targets import Target


def place(program: Program, target: Target) -> Program:
    """Place what has no place yet; keep every site and engine that is there.

    A stage without a site goes to the first site of chip 0. It takes the lowest free engine of
    its kind: a receive runs on a link port's engine, any other stage on one of its role.

    Raises
    ------
    NoEngineError
        If a site has no free engine of the kind that a stage needs.
    """
    sited = [replace(stage, site=stage.site or Site(0)) for stage in program.stages]
    taken = {(stage.site, stage.engine) for stage in sited if stage.engine}
    stages: list[Stage] = []
    for stage in sited:
        if stage.engine is None:
            engine = _free_engine(stage, taken, target)
            taken.add((stage.site, engine))
            stage = replace(stage, engine=engine)
        stages.append(stage)

    site_of = {buffer: stage.site for stage in stages for buffer in stage.outs}
    buffers = tuple(
        replace(buffer, site=buffer.site or site_of.get(buffer.name)) for buffer in program.buffers
    )
    return replace(program, stages=tuple(stages), buffers=buffers)


def engine_counts(target: Target) -> dict[EngineKind, int]:
    """Engines of each kind at one site."""
    return {
        EngineKind.COMPUTE: target.compute_engines,
        EngineKind.MOVEMENT: target.movement_engines,
        EngineKind.LINK: target.link_ports,
    }


def engine_kind(stage: Stage) -> EngineKind:
    """The kind of engine that a stage runs on."""
    if isinstance(stage.kind, Recv):
        return EngineKind.LINK
    return EngineKind.COMPUTE if stage.role is StageRole.COMPUTE else EngineKind.MOVEMENT


def _free_engine(stage: Stage, taken: set[tuple[Site | None, Engine]], target: Target) -> Engine:
    kind = engine_kind(stage)
    count = engine_counts(target)[kind]
    for index in range(count):
        engine = Engine(kind, index)
        if (stage.site, engine) not in taken:
            return engine
    raise NoEngineError(stage=stage.name, kind=kind, site=str(stage.site), count=count)
