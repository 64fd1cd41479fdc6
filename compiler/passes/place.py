"""Place: give every stage a site and an engine, and every buffer the site of its producer."""

from collections import defaultdict
from dataclasses import replace

from compiler.errors import NoEngineError
from compiler.ir.choice import Chooser
from compiler.ir.program import Program
from compiler.ir.stage import Engine, EngineKind, Site, Stage
from compiler.targets import Target


def place(program: Program, target: Target) -> Program:
    """Place what has no place yet; keep every site and engine that is there.

    A stage without a site goes to the first site of chip 0. It takes the lowest free engine of the
    kind that its own kind runs on.

    Raises
    ------
    NoEngineError
        If a site has no free engine of the kind that a stage needs.
    """
    counts = target.engine_counts
    sited = [replace(stage, site=stage.site or Site(0)) for stage in program.stages]
    taken: defaultdict[tuple[Site | None, EngineKind], set[int]] = defaultdict(set)
    for stage in sited:
        if stage.engine:
            taken[stage.site, stage.engine.kind].add(stage.engine.index)
    stages: list[Stage] = []
    for stage in sited:
        if stage.engine is None:
            kind = stage.kind.engine
            used = taken[stage.site, kind]
            index = next((index for index in range(counts[kind]) if index not in used), None)
            if index is None:
                raise NoEngineError(
                    stage=stage.name, kind=kind, site=str(stage.site), count=counts[kind]
                )
            used.add(index)
            stage = replace(stage, engine=Engine(kind, index, by=Chooser.COMPILER))
        stages.append(stage)

    site_of = {buffer: stage.site for stage in stages for buffer in stage.outs}
    buffers = tuple(
        replace(buffer, site=buffer.site or site_of.get(buffer.name)) for buffer in program.buffers
    )
    return replace(program, stages=tuple(stages), buffers=buffers)
