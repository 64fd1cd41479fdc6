"""``shardwright fit``: what a model takes on a machine, per number of chips."""

import json
from collections.abc import Iterable
from dataclasses import replace

import click

from compiler import targets
from compiler.errors import ChipCountError
from compiler.fit.model import ELEMENT_BYTES, Model, load_model, parse_layer
from compiler.fit.model_fit import fit_model
from compiler.targets import planning
from report.fit import fit_heading, fit_notes, fit_record, fit_rows
from report.table import aligned
from shardwright.printing import say


@click.command()
@click.argument("model_file", required=False, metavar="[MODEL.toml]", type=click.Path())
@click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="[NAME=]M,N,K",
    help="A product of M x K activations and K x N weights. May be repeated.",
)
@click.option(
    "--target",
    default="token-mesh",
    help=f"Machine: {', '.join((*targets.names(), *planning.names()))}, or a TOML file of yours.  "
    "[default: token-mesh]",
)
@click.option("--chips", default="1,2,4,8,16", help="Numbers of chips.  [default: 1,2,4,8,16]")
@click.option("--batch", type=int, help="Multiplies every M.  [default: the model's, or 1]")
@click.option(
    "--dtype",
    help=f"Element type of every layer: {', '.join(ELEMENT_BYTES)}.  "
    "[default: the model's, or int8]",
)
@click.option("--pad-k", is_flag=True, help="Pad k with zeros where it does not divide over chips.")
@click.option("--uneven", is_flag=True, help="Let slices of k differ by a tile.")
@click.option(
    "--certify-up-to",
    type=click.IntRange(min=0),
    metavar="TILE_PRODUCTS",
    help="Compile no layer of more tile products; 0 compiles none.  [default: compile all]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def fit(
    model_file: str | None,
    layers: tuple[str, ...],
    target: str,
    chips: str,
    batch: int | None,
    dtype: str | None,
    pad_k: bool,
    uneven: bool,
    certify_up_to: int | None,
    as_json: bool,
) -> None:
    """Say how the layers of a model fit a machine: bytes per chip, what bounds them, cycles.

    The layers come from MODEL.toml, from --layer, or from both. Weights are split over the chips
    along k. Where a program can be compiled, it is compiled, sharded and certified.
    """
    machine = targets.find_any(target)
    counts = _counts(chips)
    model = _model(model_file, layers, batch, dtype)
    fits = list(
        fit_model(model, machine, counts, pad_k=pad_k, uneven=uneven, certify_up_to=certify_up_to)
    )
    if as_json:
        say(json.dumps(fit_record(model, machine, fits), indent=2))
        return
    rows, notes = fit_rows(fits), tuple(fit_notes(fits))
    _print(fit_heading(model, machine))
    _print(("", *aligned(rows)))
    _print(("", *notes) if notes else ())


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


def _counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, text.split(",")))
    except ValueError:
        raise ChipCountError(chips=text, rule="positive integers, as 1,2,4") from None


def _model(path: str | None, texts: tuple[str, ...], batch: int | None, dtype: str | None) -> Model:
    stated = tuple(map(parse_layer, texts))
    if path is None:
        name = stated[0].name if len(stated) == 1 else f"{len(stated)} layers"
        model = Model(name, stated)
    else:
        model = load_model(path)
        model = replace(model, layers=(*model.layers, *stated))
    if dtype is not None:
        layers = tuple(replace(layer, dtype=dtype) for layer in model.layers)
        model = replace(model, layers=layers)
    return model if batch is None else replace(model, batch=batch)
