"""The result of a run from what the host ports of its chips report."""

from collections.abc import Mapping

import numpy as np

from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Stage
from compiler.ir.tensor import TensorRole
from hw.link_ports import sender_port
from hw.names import local_name
from sim import reference
from sim.operands import assembled
from sim.result import ChipActivity, LinkActivity, RunResult
from sim.window_images import matrix_of_beats


def reported_result(
    program: Program,
    contents: dict[str, np.ndarray],
    *,
    product: list[bytes],
    cycles: int,
    counters: Mapping[int, Mapping[str, int]],
) -> RunResult:
    """The result of a run, without timelines of activity.

    Parameters
    ----------
    contents : dict
        Contents of every input tensor by name.
    product : list of bytes
        Beats of the output's window.
    cycles : int
        Cycles of the chip that has the output.
    counters : mapping
        Counters of each chip, by name.
    """
    program = program.canonical
    claim = program.claim
    (output,) = (tensor for tensor in program.tensors if tensor.role is TensorRole.OUTPUT)
    return RunResult(
        program=program,
        c=matrix_of_beats(product, output),
        reference=reference.claimed(
            claim,
            assembled(program, contents, claim.left),
            assembled(program, contents, claim.right),
        ),
        cycles=cycles,
        links=tuple(_links(program, counters)),
        chips=tuple(_chip(program, chip, counters[chip]) for chip in range(program.chip_count)),
    )


def _links(program: Program, counters: Mapping[int, Mapping[str, int]]) -> list[LinkActivity]:
    links: list[LinkActivity] = []
    for chip in range(program.chip_count):
        for edge in program.edges:
            source = program.stage_by_name[edge.source].site
            if not program.crosses(edge) or source is None or source.chip != chip:
                continue
            port = sender_port(edge)
            beats, busy, stalled = (
                counters[chip][f"{port}_{event}_count"] for event in ("beats", "busy", "stalled")
            )
            assert edge.route
            links.append(LinkActivity(edge.route[0], beats, busy, stalled))
    return links


def _chip(program: Program, chip: int, counters: Mapping[str, int]) -> ChipActivity:
    products = [
        local_name(stage.name)
        for stage in program.stages
        if isinstance(stage.kind, MatmulTiles) and _chip_of(stage) == chip
    ]
    return ChipActivity(
        chip=chip,
        active_cycles=sum(counters[f"{product}_active_count"] for product in products),
        last_active_cycle=max(counters[f"{product}_active_last"] for product in products),
    )


def _chip_of(stage: Stage) -> int | None:
    return stage.site.chip if stage.site else None
