import numpy as np
import pytest
from amaranth.hdl import Shape, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from compiler.ir.buffer import Page
from compiler.ir.dtype import INT8, INT16, INT32
from hw.interfaces import (
    CreditLinkSignature,
    SemaphoreLinkSignature,
    beat_layout,
    element_shape,
    flit_count,
    lane_layout,
    positive,
)


@pytest.mark.parametrize(("dtype", "bits"), [(INT8, 8), (INT16, 16), (INT32, 32)], ids=str)
def test_element_is_signed_and_as_wide_as_its_type(dtype, bits):
    assert element_shape(dtype) == signed(bits)


@pytest.mark.parametrize("lanes", [1, 3, 8])
def test_beat_has_lane_0_in_the_lowest_bits(lanes):
    layout = beat_layout(Page(beats=5, lanes=lanes, dtype=INT16))
    assert layout.size == 16 * lanes
    bits = layout.const([-1] + [0] * (lanes - 1)).as_bits()
    assert bits == 0xFFFF


def test_lane_layout_returns_the_layout_it_was_given():
    layout = data.ArrayLayout(signed(8), 3)
    assert lane_layout(layout, "Beat") is layout


@pytest.mark.parametrize("shape", [8, signed(8), data.StructLayout({"lane": 8}), None], ids=repr)
def test_lane_layout_refuses_what_is_not_an_array(shape):
    with pytest.raises(TypeError) as error:
        lane_layout(shape, "Operand")
    assert str(error.value) == f"Operand must be an ArrayLayout of signed lanes, not {shape!r}"


@pytest.mark.parametrize("value", [1, 2, 1 << 70])
def test_positive_returns_the_integer_it_was_given(value):
    assert positive(value, "Depth") == value


@pytest.mark.parametrize("value", [0, -1, True, False, 1.0, "3", None, np.int64(3)], ids=repr)
def test_positive_refuses_everything_else(value):
    with pytest.raises(TypeError) as error:
        positive(value, "Depth in pages")
    assert str(error.value) == f"Depth in pages must be a positive integer, not {value!r}"


@pytest.mark.parametrize(
    ("beat_bits", "width_bits", "flits"),
    [(8, 8, 1), (8, 9, 1), (8, 7, 2), (8, 1, 8), (96, 32, 3), (97, 32, 4), (95, 32, 3), (1, 64, 1)],
)
def test_flits_hold_a_beat_with_less_than_one_flit_to_spare(beat_bits, width_bits, flits):
    assert flit_count(beat_bits, width_bits) == flits
    assert 0 <= flits * width_bits - beat_bits < width_bits


def test_credit_link_sends_flits_and_gets_credits_back():
    assert leaves(CreditLinkSignature(5)) == {
        ("flit", "payload"): (Out, 5),
        ("flit", "valid"): (Out, 1),
        ("flit", "ready"): (In, 1),
        ("credit",): (In, 1),
    }


def test_semaphore_link_sends_flits_and_valid_and_gets_ready_back():
    assert leaves(SemaphoreLinkSignature(5)) == {
        ("flit", "payload"): (Out, 5),
        ("flit", "valid"): (Out, 1),
        ("flit", "ready"): (In, 1),
        ("valid",): (Out, 1),
        ("ready",): (In, 1),
    }


@pytest.mark.parametrize("signature", [CreditLinkSignature, SemaphoreLinkSignature])
def test_flits_are_never_held_up(signature):
    assert signature(5).members["flit"].signature.always_ready


@pytest.mark.parametrize("signature", [CreditLinkSignature, SemaphoreLinkSignature])
@pytest.mark.parametrize("width_bits", [0, -8, 2.5])
def test_link_width_must_be_a_positive_integer(signature, width_bits):
    with pytest.raises(TypeError) as error:
        signature(width_bits)
    assert str(error.value) == f"Link width must be a positive integer, not {width_bits!r}"


def leaves(signature) -> dict:
    """Flow and width of each wire."""
    return {
        path: (member.flow, Shape.cast(member.shape).width)
        for path, member, _ in signature.flatten(signature.create())
    }


@pytest.mark.parametrize("signature", [CreditLinkSignature, SemaphoreLinkSignature])
def test_link_signatures_are_equal_if_their_widths_are(signature):
    assert signature(8) == signature(8)
    assert signature(8) != signature(16)
    assert CreditLinkSignature(8) != SemaphoreLinkSignature(8)
