"""A model is a list of products, and says so in TOML or in a few words."""

import re
from dataclasses import astuple

import pytest

from compiler.errors import ModelFileError, ModelValueError, NoLayersError, WorkloadError
from compiler.fit.model import Layer, Model, load_model, parse_layer

TOML = """
name = "two"
source = "a paper"
batch = 4

[[layer]]
name = "up"
m = 2
n = 64
k = 16
count = 3
dtype = "bf16"

[[layer]]
m = 1
n = 8
k = 64
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str | bytes):
        path = tmp_path / "two.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_a_file_describes_a_model(written):
    model = load_model(written(TOML))
    assert (model.name, model.source, model.batch) == ("two", "a paper", 4)
    assert [astuple(layer) for layer in model.layers] == [
        ("up", 2, 64, 16, 3, "bf16"),
        ("layer 1", 1, 8, 64, 1, "int8"),
    ]


def test_the_batch_multiplies_the_rows_and_nothing_else(written):
    products = load_model(written(TOML)).products()
    assert [astuple(layer) for layer in products] == [
        ("up", 8, 64, 16, 3, "bf16"),
        ("layer 1", 4, 8, 64, 1, "int8"),
    ]


@pytest.mark.parametrize("name", ["a\nb", "\udcff", "\x1b[2J", "\u202e"])
def test_a_name_is_one_line_that_can_be_shown(name):
    with pytest.raises(ModelValueError, match="layer: name must be a text of one line that can"):
        parse_layer(f"{name}=1,1,1")


def test_a_model_of_a_strangely_named_file_has_a_name_that_can_be_shown(tmp_path):
    for name, shown in (("a\n\udcff", r"a\n\udcff"), ("größer als", "größer als")):
        path = tmp_path / f"{name}.toml"
        path.write_text("[[layer]]\nm = 1\nn = 2\nk = 3\n")
        assert load_model(path).name == shown


def test_a_model_without_a_name_has_that_of_its_file(written):
    model = load_model(written("[[layer]]\nm = 1\nn = 2\nk = 3\n"))
    assert (model.name, model.source, model.batch) == ("two", "", 1)


@pytest.mark.parametrize(
    ("text", "layer"),
    [
        ("1,2,3", ("1x2x3", 1, 2, 3)),
        ("up=64,256,64", ("up", 64, 256, 64)),
        ("a=b=4,5,6", ("a=b", 4, 5, 6)),
        (" q = 7, 8 ,9", (" q ", 7, 8, 9)),
    ],
)
def test_a_layer_in_a_few_words(text, layer):
    assert astuple(parse_layer(text)) == (*layer, 1, "int8")


@pytest.mark.parametrize("text", ["", "1", "1,2", "1,2,3,4", "1,2,x", "1,2,3=", "up=", "1.5,2,3"])
def test_other_words_are_no_layer(text):
    with pytest.raises(ModelValueError) as refusal:
        parse_layer(text)
    assert str(refusal.value) == (
        f"layer: shape must be M,N,K or NAME=M,N,K in integers, as up=64,256,64, not {text!r}"
    )


@pytest.mark.parametrize("field", ["m", "n", "k", "count"])
@pytest.mark.parametrize("value", [0, -3, 1.0, "8", True, None])
def test_extents_are_positive_integers(field, value):
    with pytest.raises(ModelValueError) as refusal:
        Layer(**{"name": "up", "m": 1, "n": 1, "k": 1} | {field: value})
    assert str(refusal.value) == (f"layer 'up': {field} must be a positive integer, not {value!r}")
    assert (refusal.value.place, refusal.value.field) == ("layer 'up'", field)


def test_extents_stay_where_floats_count_exactly():
    assert Layer("up", 2**53, 1, 1).m == 2**53
    with pytest.raises(ModelValueError) as refusal:
        Layer("up", 1, 1, 2**53 + 1)
    assert str(refusal.value) == (
        "layer 'up': k must be at most 9007199254740992, not 9007199254740993"
    )
    with pytest.raises(ModelValueError, match="layer 'up': m must be at most"):
        Model("two", (Layer("up", 2**30, 1, 1),), batch=2**30).products()


@pytest.mark.parametrize("dtype", ["fp4", "", "INT8", 8])
def test_an_unknown_element_type_is_refused_with_those_that_there_are(dtype):
    with pytest.raises(ModelValueError) as refusal:
        Layer("up", 1, 1, 1, dtype=dtype)
    assert str(refusal.value) == (
        f"layer 'up': dtype must be one of int8, fp8, bf16, fp32, not {dtype!r}"
    )


def test_a_name_is_a_text():
    with pytest.raises(ModelValueError, match="name must be a text of one line that can be shown"):
        Layer(7, 1, 1, 1)


@pytest.mark.parametrize("batch", [0, -1, 2.0, True])
def test_the_batch_is_a_positive_integer(batch):
    with pytest.raises(ModelValueError) as refusal:
        Model("two", (Layer("up", 1, 1, 1),), batch=batch)
    assert str(refusal.value) == f"model 'two': batch must be a positive integer, not {batch!r}"


@pytest.mark.parametrize("text", ["", "name = 'two'\n", "layer = []\n"])
def test_a_model_without_layers_is_refused(written, text):
    with pytest.raises(NoLayersError) as refusal:
        load_model(written(text))
    assert str(refusal.value) == (
        "there is no layer to fit; give --layer M,N,K, or a model file with [[layer]] tables"
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("colour = 1\n", ": field 'colour' is unknown; the fields are batch, layer, name, source"),
        ("layer = 5\n", ": layer must be a list of [[layer]] tables, not 5"),
        ("layer = [5]\n", ": layer must be a list of [[layer]] tables, not 5"),
        ("[layer]\nm = 1\n", ": layer must be a list of [[layer]] tables, not {'m': 1}"),
        ("name = 5\n[[layer]]\nm = 1\nn = 1\nk = 1\n", ": name must be a text, not 5"),
        ("source = []\n[[layer]]\nm = 1\nn = 1\nk = 1\n", ": source must be a text, not []"),
        (
            "[[layer]]\nm = 1\nn = 1\n",
            ", layer 'layer 0': field 'k' is missing; the fields are count, dtype, k, m, n, name",
        ),
        (
            "[[layer]]\nname = 'up'\nm = 1\nn = 1\nk = 1\nq = 1\n",
            ", layer 'up': field 'q' is unknown; the fields are count, dtype, k, m, n, name",
        ),
    ],
)
def test_a_wrong_field_is_named(written, text, fault):
    path = written(text)
    with pytest.raises(ModelFileError) as refusal:
        load_model(path)
    assert str(refusal.value) == f"model file {str(path)!r}{fault}"


@pytest.mark.parametrize(
    ("text", "fault"),
    [("m: 1\n", "is no TOML: .*line 1"), (b"\xff\xfe", "cannot be read: .*utf-8")],
)
def test_what_is_no_toml_is_refused(written, text, fault):
    path = written(text)
    with pytest.raises(ModelFileError, match=f"^model file {re.escape(repr(str(path)))} {fault}"):
        load_model(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match=r"none\.toml' cannot be read: .*No such file"):
        load_model(tmp_path / "none.toml")


@pytest.mark.parametrize("error", [ModelFileError, ModelValueError, NoLayersError])
def test_all_are_errors_of_the_workload(error):
    assert issubclass(error, WorkloadError)
