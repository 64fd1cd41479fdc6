"""A target says what a machine provides, and cannot say what no machine has."""

from dataclasses import replace

import pytest

from compiler.errors import ShardwrightError, TargetError, TargetValueError
from compiler.ir.target import MOST
from compiler.targets import Target
from tests.compiler.programs import TOKEN

COUNTS = (
    "tile",
    "link_width_bits",
    "link_latency_cycles",
    "compute_engines",
    "movement_engines",
    "memory_bytes",
)


def refused(**changes: object) -> TargetValueError:
    with pytest.raises(TargetValueError) as refusal:
        replace(TOKEN, **changes)
    assert issubclass(TargetValueError, TargetError)
    assert issubclass(TargetError, ShardwrightError)
    ((field, value),) = changes.items()
    assert (refusal.value.field, refusal.value.value) == (field, value)
    return refusal.value


@pytest.mark.parametrize("value", [0, -1, 1.5, "8", True, None])
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_positive_integers(name, value):
    error = refused(**{name: value})
    assert error.target == "token-mesh"
    assert error.rule == "an integer of at least 1"
    assert str(error) == (
        f"target 'token-mesh': {name} must be an integer of at least 1, not {value!r}"
    )


@pytest.mark.parametrize("value", [-1, 0.5, "0", False])
def test_a_chip_may_have_no_link_ports_but_not_fewer(value):
    assert replace(TOKEN, link_ports=0).link_ports == 0
    error = refused(link_ports=value)
    assert error.rule == "an integer of at least 0"


@pytest.mark.parametrize("name", COUNTS)
def test_one_is_enough(name):
    assert getattr(replace(TOKEN, **{name: 1}), name) == 1


@pytest.mark.parametrize("name", [*COUNTS, "link_ports"])
def test_counts_have_an_end(name):
    most = MOST[name]
    assert getattr(replace(TOKEN, **{name: most}), name) == most
    for value in (most + 1, 10**11, 10**30):
        if value > most:
            assert str(refused(**{name: value})) == (
                f"target 'token-mesh': {name} must be at most {most}, not {value}"
            )


@pytest.mark.parametrize("value", ["", "a b", "a\nb", "../a", 'a"', "a" * 129, "\ud800"])
def test_a_name_keeps_to_the_grammar_of_names(value):
    assert str(refused(name=value)).endswith(
        f": name must be at most 128 letters, digits and underscores of ASCII, beginning with a "
        f"letter, in words joined by '.', '-' or '->', not {value!r}"
    )


@pytest.mark.parametrize("value", ["two\nlines", "\x1b[2J", "a" * 4097])
def test_a_description_is_one_line(value):
    assert refused(description=value).rule == "one line of at most 4096 printable characters"


@pytest.mark.parametrize("name", ["name", "description"])
@pytest.mark.parametrize("value", [3, None, ("a",)])
def test_names_are_strings(name, value):
    assert str(refused(**{name: value})).endswith(f": {name} must be a string, not {value!r}")


@pytest.mark.parametrize("value", ["Token", 5, None, {"Token": 1}])
def test_handoffs_are_a_list(value):
    error = refused(handoffs=value)
    assert str(error) == (
        f"target 'token-mesh': handoffs must be a list of hand-offs, not {value!r}"
    )


@pytest.mark.parametrize("unknown", ["token", "Rendezvous", "", 7, ["Token"]])
def test_unknown_handoffs_are_refused(unknown):
    with pytest.raises(TargetValueError) as refusal:
        replace(TOKEN, handoffs=("ValidReady", unknown))
    assert refusal.value.value == unknown
    assert str(refusal.value) == (
        "target 'token-mesh': handoffs must be of ValidReady, Fifo, Token, Semaphore, Barrier, "
        f"not {unknown!r}"
    )


@pytest.mark.parametrize(
    ("handoffs", "local", "crossing"),
    [
        ((), None, None),
        (("Fifo",), "Fifo", None),
        (("Fifo", "ValidReady"), "ValidReady", None),
        (("Barrier",), None, "Barrier"),
        (("Barrier", "Semaphore"), None, "Semaphore"),
        (("Barrier", "Semaphore", "Token"), None, "Token"),
        (("Semaphore", "Fifo", "Token", "ValidReady"), "ValidReady", "Token"),
    ],
)
def test_the_preferred_handoff_does_not_depend_on_the_order_of_the_list(handoffs, local, crossing):
    for listed in (handoffs, handoffs[::-1]):
        target: Target = replace(TOKEN, handoffs=listed)
        assert (target.local_handoff, target.crossing_handoff) == (local, crossing)
