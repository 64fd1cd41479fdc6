"""``shardwright collective``: a collective by itself, on data that already lies in the chips."""

import json
import sys

import click
import numpy as np

from compiler import targets
from compiler.collective_choice import Choice, choices
from compiler.collective_payload import payload_shape
from compiler.collective_spec import CHANGES, COMBINATIONS, CollectiveSpec
from compiler.ir import limits
from compiler.ir.dtype import SUM_BITS, integer
from compiler.ir.mesh import mesh_of
from compiler.ir.program import Program
from compiler.passes.page_ways import HOPS
from compiler.pipeline import compile_collective
from compiler.targets import Target
from report.collective import record, text
from shardwright.paths import check_outputs
from shardwright.printing import say
from shardwright.programs import write_program
from sim.simulate import ENGINES, simulate

MOST_CHIPS = 64
"""Chips of a group: wires all to all are many more."""
TYPES = tuple(f"int{bits}" for bits in SUM_BITS)


@click.command()
@click.argument("kind", type=click.Choice(list(CHANGES)))
@click.option(
    "--bytes",
    "size_bytes",
    type=click.IntRange(1, limits.MEMORY_BYTES),
    required=True,
    help="Bytes of the whole value; a last page that it does not fill is filled with zeros.",
)
@click.option("--chips", type=click.IntRange(2, MOST_CHIPS), required=True, help="Chips.")
@click.option(
    "--algorithm",
    type=click.Choice(sorted(HOPS)),
    help="How pages go.  [default: the one that is predicted to be fastest]",
)
@click.option(
    "--combine",
    type=click.Choice(COMBINATIONS),
    default=COMBINATIONS[0],
    help=f"How contributions are combined.  [default: {COMBINATIONS[0]}]",
)
@click.option(
    "--home",
    type=click.IntRange(min=0),
    default=0,
    help="The chip that has all, where one has.  [default: 0]",
)
@click.option("--dtype", type=click.Choice(TYPES), default="int32", help="Elements.  [int32]")
@click.option(
    "--tile",
    type=click.IntRange(1, limits.TILE),
    default=4,
    help="Edge of a page.  [default: 4]",
)
@click.option(
    "--link-width",
    type=click.IntRange(1, limits.LINK),
    default=64,
    help="Bits of a flit on a link.  [default: 64]",
)
@click.option(
    "--link-latency",
    type=click.IntRange(1, limits.LINK),
    default=10,
    help="Cycles on the way, each way.  [default: 10]",
)
@click.option(
    "--link-ports",
    type=click.IntRange(2, limits.LINK_PORTS),
    help="Ends of links at a chip.  [default: those of wires all to all]",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    help="What simulates the chips; compiled is hundreds of times as fast, and needs g++.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the data.  [0]")
@click.option(
    "-o", "--output", metavar="PROGRAM.json", type=click.Path(), help="Write the program too."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def collective(
    kind: str,
    size_bytes: int,
    chips: int,
    algorithm: str | None,
    combine: str,
    home: int,
    dtype: str,
    tile: int,
    link_width: int,
    link_latency: int,
    link_ports: int | None,
    engine: str,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Run a collective on random data that lies in the chips, and compare with numpy.

    Prints its cycles beside those that its busiest link needs, and the use of every link. Without
    an algorithm, says what each would take.
    """
    check_outputs(files={"-o": output})
    elements = integer(int(dtype.removeprefix("int")))
    target = _machine(chips, tile, link_width, link_latency, link_ports)
    rows, cols = payload_shape(kind, size_bytes, chips, elements, target)
    first = algorithm or next(iter(HOPS))
    mesh = mesh_of(chips)
    spec = CollectiveSpec(
        kind, mesh, rows, cols, mesh.names[0], first, combine, home=home, dtype=elements
    )
    program, compared = _compiled(spec, target, algorithm)
    if output is not None:
        write_program(output, program)
    result = simulate(program, _data(program, seed), engine=engine)
    if as_json:
        say(json.dumps(record(result, size_bytes, compared), indent=2))
    else:
        say(text(result, size_bytes, compared))
    if not result.exact:
        sys.exit(1)


def _machine(
    chips: int, tile: int, link_width: int, link_latency: int, link_ports: int | None
) -> Target:
    """Chips that hold what a collective needs, and are joined by such links."""
    return targets.get(
        "token-mesh",
        tile=tile,
        link_width_bits=link_width,
        link_latency_cycles=link_latency,
        link_ports=link_ports or 2 * (chips - 1),
        compute_engines=chips,
    )


def _compiled(
    spec: CollectiveSpec, target: Target, algorithm: str | None
) -> tuple[Program, list[Choice]]:
    """The program of the algorithm that is stated, or of the fastest, and what each would take."""
    if algorithm is not None:
        return compile_collective(spec, target), []
    compared = choices(spec, target)
    if compared[0].program is None:
        assert compared[0].refusal is not None
        raise compared[0].refusal
    return compared[0].program, compared


def _data(program: Program, seed: int) -> np.ndarray:
    """Random elements of which no sum leaves the type."""
    graph = program.graph
    (given,) = graph.inputs
    value, (tensor, *_) = graph.value_by_name[given], program.tensors_of[given]
    low, high = tensor.value_range.low, tensor.value_range.high
    return np.random.default_rng(seed).integers(low, high + 1, (value.rows, value.cols))
