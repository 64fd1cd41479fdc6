"""The result of a run from what the host ports of its chips report."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from compiler.ir.program import Program
from compiler.ir.tensor import Tensor, TensorRole
from hw.link_ports import sender_port
from hw.names import local_name
from sim import reference
from sim.parts import assembled
from sim.result import ChipActivity, LinkActivity, RunResult
from sim.window_images import matrix_of_window

Counters = Mapping[int, Mapping[str, int]]
"""Counters of each chip, by name."""


def output_tensors(program: Program) -> tuple[Tensor, ...]:
    """What chips hold of the outputs of a program."""
    return tuple(t for t in program.canonical.tensors if t.role is TensorRole.OUTPUT)


def reported_result(
    program: Program,
    contents: Mapping[str, np.ndarray],
    *,
    windows: Mapping[str, Sequence[bytes]],
    counters: Counters,
) -> RunResult:
    """The result of a run, without timelines of activity.

    Its cycles are the most of the chips that have a part of an output, each from its own start.

    Parameters
    ----------
    contents : mapping
        Contents of every input tensor by name.
    windows : mapping
        Beats of the window of every output tensor, by the tensor's name.
    """
    program = program.canonical
    outputs = output_tensors(program)
    return RunResult(
        program=program,
        stored={
            tensor.name: matrix_of_window(list(windows[tensor.name]), tensor) for tensor in outputs
        },
        references=reference.claimed(
            program.graph,
            {name: assembled(program, contents, name) for name in program.graph.inputs},
        ),
        cycles=max(counters[tensor.chip]["cycles"] for tensor in outputs),
        links=tuple(_links(program, counters)),
        chips=tuple(_chip(program, chip, counters[chip]) for chip in range(program.chip_count)),
    )


def _links(program: Program, counters: Counters) -> Iterator[LinkActivity]:
    for view in program.chips:
        for edge in view.outgoing:
            port = sender_port(edge)
            beats, busy, stalled = (
                counters[view.chip][f"{port}_{event}_count"]
                for event in ("beats", "busy", "stalled")
            )
            assert edge.link is not None
            yield LinkActivity(edge.link, beats, busy, stalled)


def _chip(program: Program, chip: int, counters: Mapping[str, int]) -> ChipActivity:
    products = [local_name(stage.name) for stage in program.chips[chip].products]
    return ChipActivity(
        chip=chip,
        active_cycles=sum(counters[f"{product}_active_count"] for product in products),
        last_active_cycle=max(
            (counters[f"{product}_active_last"] for product in products), default=0
        ),
    )
