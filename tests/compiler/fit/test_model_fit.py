"""How a model fits: bytes to the byte, the roofline, and certificates that are those of compile."""

from dataclasses import replace

import pytest

from compiler.check import check
from compiler.errors import (
    AxisNotDivisibleError,
    ChipCountError,
    FitError,
    ModelExceedsMemoryError,
    NoCrossChipHandoffError,
    PlanningOnlyError,
    SliceNotTileAlignedError,
    UncertifiableLayerError,
)
from compiler.fit import model_fit as fitting
from compiler.fit.model import Layer, Model
from compiler.fit.model_fit import CERTIFY_CHIPS, ModelFit, fit_model
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import MemoryTier, find_any, get
from compiler.workload import MatmulSpec

TOKEN = get("token-mesh")
SN50 = find_any("sn50")
UP, DOWN = Layer("up", 2, 24, 64, count=3), Layer("down", 2, 8, 128)


def fit_one(layer: Layer, chips: int, target=TOKEN, **options) -> ModelFit:
    (fit,) = fit_model(Model(layer.name, (layer,)), target, (chips,), **options)
    return fit


@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh", "barrier-mesh"])
@pytest.mark.parametrize("chips", [1, 2, 4, 8])
def test_a_certified_layer_is_what_compile_gives(target, chips):
    machine = get(target)
    program = compile(MatmulSpec(5, 20, 128), machine, ShardPlan(chips))
    fit = fit_one(Layer("up", 5, 20, 128), chips, machine)
    assert fit.why_not is None
    assert fit.cycles == program.schedule.cycles
    assert fit.layers[0].program == program
    assert check(fit.layers[0].program).holds
    assert not fit.estimated
    home = [place for place in program.memory if place.chip == 0]
    assert fit.total_bytes == max(place.address + place.size_bytes for place in home)
    # 128 is 16 blocks, 5 x 20 is 1 x 3 tiles of 64.
    assert fit.weight_bytes == 16 // chips * 3 * 64
    assert fit.activation_bytes == 16 // chips * 64 + 3 * 64 * 4
    assert fit.time < fit.cycles


def test_a_model_adds_weights_and_cycles_and_takes_the_largest_of_the_rest():
    (fit,) = fit_model(Model("two", (UP, DOWN), batch=4), TOKEN, (2,))
    up, down = fit.layers
    assert (up.layer.m, down.layer.m) == (8, 8)
    assert fit.weight_bytes == 3 * (4 * 3 * 64) + 8 * 64
    # Activations of 4 blocks and 3 tiles of results, against 8 blocks and 1 tile.
    assert up.footprint.activations == 4 * 64 + 3 * 256
    assert down.footprint.activations == 8 * 64 + 256
    assert (fit.activation_bytes, fit.buffer_bytes) == up.footprint[1:]
    assert fit.total_bytes == fit.weight_bytes + up.footprint.activations + up.footprint.buffers
    cycles = [
        compile(MatmulSpec(8, n, k), TOKEN, ShardPlan(2)).schedule.cycles
        for n, k in ((24, 64), (8, 128))
    ]
    assert fit.cycles == 3 * cycles[0] + cycles[1]
    assert fit.times == {
        "compute": 3 * (3 * 4 * 8) + 8 * 8,
        "memory": 3 * (3 * 4 * 8) + 8 * 8,
        "link": 3 * 3 * 8 + 8,
    }
    assert fit.time == 3 * 3 * 4 * 8 + 64
    assert (fit.bound, fit.undecided) == ("compute", ())


def test_the_bound_is_that_of_the_layers_that_take_most_of_the_time():
    narrow = get("token-mesh", link_width_bits=32)
    shallow, deep = Layer("shallow", 8, 8, 16, count=1), Layer("deep", 8, 8, 1024)
    for count, bound in ((1, "compute"), (7, "compute"), (9, "link")):
        model = Model("two", (replace(shallow, count=count), deep))
        (fit,) = fit_model(model, narrow, (2,))
        # 64 cycles of its link bound each shallow one, 512 of its array the deep one.
        assert fit.time == 64 * count + 512
        assert fit.bound == bound


@pytest.mark.parametrize("chips", [1, 2, 4])
@pytest.mark.parametrize("tile", [2, 8])
def test_it_fits_to_the_byte(chips, tile):
    layer = Layer("up", 5, 20, 128)
    needed = fit_one(layer, chips, get("token-mesh", tile=tile)).total_bytes
    exact = fit_one(layer, chips, get("token-mesh", tile=tile, memory_bytes=needed))
    assert exact.tier == MemoryTier("memory", needed)
    assert exact.why_not is None
    assert exact.cycles is not None
    short = fit_one(layer, chips, get("token-mesh", tile=tile, memory_bytes=needed - 1))
    assert short.tier is None
    assert short.cycles is None
    assert short.layers[0].program is None
    assert (short.total_bytes, short.estimated) == (needed, False)
    assert isinstance(short.why_not, ModelExceedsMemoryError)
    assert str(short.why_not) == (
        f"a chip of {chips} needs {needed:,} bytes, and 'token-mesh' has {needed - 1:,}; "
        "use more chips or a target with more memory"
    )
    assert "Memory" in str(short.layers[0].why_not)


def test_more_chips_are_not_suggested_where_the_result_alone_is_too_large():
    layer = Layer("wide", 64, 64, 8)
    for memory_bytes, advice in ((64 * 64 * 4, "use a"), (64 * 64 * 4 + 1, "use more chips or a")):
        fit = fit_one(layer, 1, get("token-mesh", memory_bytes=memory_bytes))
        assert str(fit.why_not).endswith(f"; {advice} target with more memory")


def test_layers_that_fit_alone_need_not_fit_together():
    model = Model("two", (UP, DOWN), batch=4)
    (fit,) = fit_model(model, TOKEN, (2,))
    for memory, fits in ((fit.total_bytes, True), (fit.total_bytes - 1, False)):
        (again,) = fit_model(model, replace(TOKEN, memory_bytes=memory), (2,))
        assert (again.tier is not None) is fits
        assert (again.cycles is not None) is fits
        assert all(layer.program is not None for layer in again.layers)


def test_one_chip_too_small_does_not_keep_several_from_fitting():
    layer = Layer("up", 5, 20, 512)
    machine = replace(TOKEN, memory_bytes=12_000)
    fits = list(fit_model(Model("up", (layer,)), machine, (1, 2, 4)))
    assert [fit.cycles is not None for fit in fits] == [False, True, True]
    assert fits[1].cycles == fit_one(layer, 2).cycles


@pytest.mark.parametrize(
    ("layer", "chips", "options", "error", "text"),
    [
        (Layer("up", 8, 8, 100), 3, {}, AxisNotDivisibleError, "axis k of 100 does not divide ov"),
        (Layer("up", 8, 8, 100), 4, {}, SliceNotTileAlignedError, "axis k of 100 over 4 chips g"),
        (
            Layer("up", 8, 8, 64, dtype="bf16"),
            2,
            {},
            UncertifiableLayerError,
            "layer 'up' is not compiled: 'token-mesh' multiplies int8, not bf16",
        ),
        (
            Layer("up", 8, 16, 64),
            2,
            {"certify_up_to": 15},
            UncertifiableLayerError,
            "layer 'up' is not compiled: it has 16 tile products, more than 15 (--certify-up-to)",
        ),
        (
            Layer("up", 8, 8, 8 * 257),
            257,
            {},
            UncertifiableLayerError,
            "layer 'up' is not compiled: programs of more than 256 chips take long to check",
        ),
    ],
)
def test_what_is_not_compiled_has_its_reason_and_an_estimate(layer, chips, options, error, text):
    fit = fit_one(layer, chips, replace(TOKEN, memory_bytes=10**9), **options)
    assert isinstance(fit.why_not, error)
    assert str(fit.why_not).startswith(text)
    assert fit.cycles is None
    assert fit.estimated
    assert fit.tier is not None
    assert fit.total_bytes > fit.weight_bytes > 0


def test_the_limits_are_those_documented():
    assert CERTIFY_CHIPS == 256
    assert fit_one(Layer("up", 8, 16, 64), 2, certify_up_to=16).cycles is not None
    roomy = replace(TOKEN, memory_bytes=10**9)
    assert fit_one(Layer("up", 8000, 8000, 64), 1, target=roomy).cycles == 64_000_016


def test_a_target_without_a_crossing_hand_off_is_certified_on_one_chip_only():
    fits = list(fit_model(Model("up", (Layer("up", 8, 8, 64),)), get("local-only"), (1, 2)))
    assert fits[0].cycles is not None
    assert isinstance(fits[1].why_not, NoCrossChipHandoffError)


def test_padding_makes_it_divide_and_holds_what_was_estimated():
    layer = Layer("up", 5, 20, 100)
    refused, padded = fit_one(layer, 3), fit_one(layer, 3, pad_k=True)
    spec = MatmulSpec(5, 20, 100).padded_k(3 * 8)
    assert padded.cycles == compile(spec, TOKEN, ShardPlan(3)).schedule.cycles
    assert padded.layers[0].footprint[:2] == refused.layers[0].footprint[:2]
    assert padded.times == refused.times
    assert fit_one(layer, 1, pad_k=True).cycles == fit_one(layer, 1).cycles


def test_slices_may_be_uneven():
    layer = Layer("up", 5, 20, 100)  # 13 tiles over 3 chips: 5, 4 and 4
    uneven, plan = fit_one(layer, 3, uneven=True), ShardPlan(3, uneven=True)
    assert uneven.cycles == compile(MatmulSpec(5, 20, 100), TOKEN, plan).schedule.cycles
    assert uneven.times == fit_one(layer, 3, pad_k=True).times


def test_layers_of_one_shape_are_compiled_once_for_each_number_of_chips(monkeypatch):
    compiled = []
    monkeypatch.setattr(fitting, "compile", lambda *a: compiled.append(a) or compile(*a))
    model = Model("two", (Layer("q", 8, 8, 64), Layer("k", 8, 8, 64, count=7)))
    fits = list(fit_model(model, TOKEN, (2, 4)))
    assert [plan.chips for _, _, plan in compiled] == [2, 4]
    assert all(fit.cycles is not None for fit in fits)


def test_a_planned_model_by_hand():
    # Weights 2 GB, 1 GB of which on each of 2 chips; partial sums of 4 x 10^5 bytes.
    layer = Layer("up", 10, 10_000, 100_000, count=1, dtype="bf16")
    one, two, eight = fit_model(Model("up", (layer,), batch=1), SN50, (1, 2, 8))
    assert (one.weight_bytes, two.weight_bytes) == (2 * 10**9, 10**9)
    assert (one.activation_bytes, two.activation_bytes) == (2 * 10**6, 10**6)
    assert (one.buffer_bytes, two.buffer_bytes) == (4 * 10**5, 8 * 10**5)
    assert (one.tier.name, two.tier.name, eight.tier.name) == ("HBM2E", "HBM2E", "SRAM")
    assert one.estimated
    assert one.times == {
        "compute": 2 * 10**10 / 1.6e15,
        "memory": (2 * 10**9 + 2 * 10**6 + 4 * 10**5) / 1.8e12,
        "link": 0,
    }
    assert two.times["link"] == 4 * 10**5 / 1e12
    assert (one.bound, one.undecided) == ("memory", ())
    assert eight.times["memory"] is None
    assert eight.memory_at_most == (25 * 10**7 + 25 * 10**4 + 4 * 10**5) / 1.8e12
    assert (eight.bound, eight.undecided) == ("compute", ("memory",))


def test_a_planned_model_fits_to_the_byte():
    # Weights of 1 byte for each n, and a partial sum of 4 bytes for each, and 1 activation.
    capacity = SN50.memory[0].capacity_bytes
    n = (capacity - 1) // 5
    assert fit_one(Layer("up", 1, n, 1, dtype="fp8"), 1, SN50).total_bytes == 5 * n + 1
    for tier, name in ((5 * n + 1, "SRAM"), (5 * n, "HBM2E")):
        memory = (replace(SN50.memory[0], capacity_bytes=tier), *SN50.memory[1:])
        fit = fit_one(Layer("up", 1, n, 1, dtype="fp8"), 1, replace(SN50, memory=memory))
        assert fit.tier.name == name


def test_what_no_memory_holds_does_not_fit():
    fit = fit_one(Layer("up", 1, 10**8, 10**6, dtype="fp8"), 1, SN50)
    assert fit.tier is None
    assert fit.times["memory"] is None
    assert fit.memory_at_most is None


def test_a_planned_model_is_never_certified():
    fit = fit_one(Layer("up", 8, 8, 64), 2, SN50)
    assert isinstance(fit.why_not, PlanningOnlyError)
    assert fit.cycles is None
    assert fit.times["compute"] is None
    assert fit.undecided == ("compute", "memory")


@pytest.mark.parametrize("target", [TOKEN, SN50], ids=lambda target: target.name)
def test_more_chips_never_hold_more_weights(target):
    model = Model("two", (UP, DOWN, Layer("odd", 3, 7, 101)))
    fits = list(fit_model(model, target, tuple(range(1, 20)), certify_up_to=0))
    weights = [fit.weight_bytes for fit in fits]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > weights[-1]
    assert [fit.chips for fit in fits] == list(range(1, 20))


@pytest.mark.parametrize("chips", [0, -2, 1.5, "2", True])
def test_a_number_of_chips_is_a_positive_integer(chips):
    with pytest.raises(ChipCountError) as refusal:
        list(fit_model(Model("up", (UP,)), TOKEN, (1, chips)))
    assert str(refusal.value) == f"chips must be positive integers, as 1,2,4, not {chips!r}"


def test_a_planning_target_joins_no_more_chips_than_it_says():
    assert fit_one(UP, 256, SN50).chips == 256
    with pytest.raises(ChipCountError) as refusal:
        fit_one(UP, 257, SN50)
    assert str(refusal.value) == "chips must be at most 256 of 'sn50', not 257"


def test_all_refusals_can_be_caught_as_one():
    for error in (ChipCountError, ModelExceedsMemoryError, UncertifiableLayerError):
        assert issubclass(error, FitError)
