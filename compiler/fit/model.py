"""What is to fit on a machine: the matrix products of a model, one after the other."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from compiler.errors import ModelFileError, ModelValueError, NoLayersError
from compiler.ir.dtype import BF16, FP8, FP32, INT8, INT32
from compiler.toml_file import check_fields, is_one_line, read

ELEMENT_BYTES = {dtype.name: dtype.bytes for dtype in (INT8, FP8, BF16, FP32)}
"""Bytes of one weight or activation, by element type."""

SUM_BYTES = INT32.bytes
"""Bytes of one partial sum or result: int32 for integers, fp32 for the others."""

MOST = 1 << 53
"""Largest extent, count and batch: beyond it, a float no longer tells neighbours apart."""

KIND = "model file"


@dataclass(frozen=True)
class Layer:
    """``count`` products ``C (m x n) = A (m x k) . B (k x n)``: A activations, B weights.

    Raises
    ------
    ModelValueError
        If a field is out of its range.
    """

    name: str
    m: int
    n: int
    k: int
    count: int = 1
    dtype: str = "int8"

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.name), str) or not is_one_line(self.name):
            rule = "a text of one line that can be shown"
            raise ModelValueError(place="layer", field="name", rule=rule, value=self.name)
        place = f"layer {self.name!r}"
        for field in ("m", "n", "k", "count"):
            _check_positive(getattr(self, field), field, place)
        if not isinstance(cast(object, self.dtype), str) or self.dtype not in ELEMENT_BYTES:
            rule = f"one of {', '.join(ELEMENT_BYTES)}"
            raise ModelValueError(place=place, field="dtype", rule=rule, value=self.dtype)


@dataclass(frozen=True)
class Model:
    """Layers that run one after the other.

    Parameters
    ----------
    name : str
    layers : tuple of Layer
    batch : int
        How many sequences run at once: a layer of ``m`` rows has ``batch * m``.
    source : str
        Where the shapes come from.

    Raises
    ------
    NoLayersError
        If there is no layer.
    ModelValueError
        If ``batch`` is no positive integer.
    """

    name: str
    layers: tuple[Layer, ...]
    batch: int = 1
    source: str = ""

    def __post_init__(self) -> None:
        if not self.layers:
            raise NoLayersError
        _check_positive(self.batch, "batch", f"model {self.name!r}")

    def products(self) -> tuple[Layer, ...]:
        """The layers with the rows that they have for the whole batch."""
        return tuple(replace(layer, m=layer.m * self.batch) for layer in self.layers)


def load_model(path: str | Path) -> Model:
    """The model that the TOML file at ``path`` describes.

    Its tables ``[[layer]]`` have ``m``, ``n`` and ``k``, and may have ``name``, ``count`` and
    ``dtype``; beside them may stand ``name``, ``batch`` and ``source`` of the model.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is no TOML, or has a field that is missing or unknown.
    ModelValueError
        If a field is out of its range.
    NoLayersError
        If there is no layer.
    """
    place = f"{KIND} {str(path)!r}"
    entries = read(path, kind=KIND, error=ModelFileError)
    known = ("name", "batch", "source", "layer")
    check_fields(entries, place=place, required=(), optional=known, error=ModelFileError)
    layers = entries.get("layer", [])
    if not isinstance(layers, list):
        raise ModelFileError(f"{place}: layer must be a list of [[layer]] tables, not {layers!r}")
    for field in ("name", "source"):
        if not isinstance(entries.get(field, ""), str):
            raise ModelFileError(f"{place}: {field} must be a text, not {entries[field]!r}")
    stem = Path(path).stem
    return Model(
        name=entries.get("name", stem if is_one_line(stem) else ascii(stem)[1:-1]),
        layers=tuple(
            _layer(layer, index, place) for index, layer in enumerate(cast(list[object], layers))
        ),
        batch=entries.get("batch", 1),
        source=entries.get("source", ""),
    )


def parse_layer(text: str) -> Layer:
    """The layer that ``M,N,K`` or ``NAME=M,N,K`` states. Without a name it is called ``MxNxK``.

    Raises
    ------
    ModelValueError
        If it is not of that form, or an extent is not positive.
    """
    name, _, extents = text.rpartition("=")
    try:
        m, n, k = map(int, extents.split(","))
    except ValueError:
        rule = "M,N,K or NAME=M,N,K in integers, as up=64,256,64"
        raise ModelValueError(place="layer", field="shape", rule=rule, value=text) from None
    return Layer(name or f"{m}x{n}x{k}", m, n, k)


def _layer(entries: object, index: int, place: str) -> Layer:
    if not isinstance(entries, dict):
        raise ModelFileError(f"{place}: layer must be a list of [[layer]] tables, not {entries!r}")
    table = cast(dict[str, Any], entries)
    name = table.get("name", f"layer {index}")
    required = ("m", "n", "k")
    check_fields(
        table,
        place=f"{place}, layer {name!r}",
        required=required,
        optional=tuple(field.name for field in fields(Layer) if field.name not in required),
        error=ModelFileError,
    )
    return Layer(**{"name": name} | table)


def _check_positive(value: object, field: str, place: str) -> None:
    if type(value) is not int or value < 1:
        raise ModelValueError(place=place, field=field, rule="a positive integer", value=value)
    if value > MOST:
        raise ModelValueError(place=place, field=field, rule=f"at most {MOST}", value=value)
