"""How a model fits a machine: bytes per chip, the roofline, and a certificate where one can be had.

Weights are split along the contraction axis k alone, as ``--chips`` does it; other layouts are not
looked at. So a chip of N holds ``k/N`` rows of every weight matrix and ``k/N`` columns of every
activation matrix, and computes a partial sum of the full shape. Layers run one after the other: the
weights of all of them stay in memory, while activations and buffers are those of the layer that
needs most.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compiler.errors import (
    ChipCountError,
    ModelExceedsMemoryError,
    PlanningOnlyError,
    ShardwrightError,
    UncertifiableLayerError,
    ValidationError,
)
from compiler.fit.footprint import (
    MemoryFootprint,
    planned_footprint,
    program_footprint,
    tiled_footprint,
)
from compiler.fit.model import SUM_BYTES, Layer, Model
from compiler.fit.roofline import (
    OPERAND,
    Roofline,
    in_cycles,
    in_seconds,
    tiles,
)
from compiler.ir import limits
from compiler.ir.program import Program
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import MemoryTier, PlanningTarget, Target, names
from compiler.workload import MatmulSpec

CERTIFY_CHIPS = 256
"""Chips of a program that is still compiled; checking one takes time with them."""


@dataclass(frozen=True)
class LayerFit:
    """One layer on a number of chips.

    Parameters
    ----------
    layer : Layer
        With the rows of the whole batch.
    footprint : MemoryFootprint
        Of the chip that holds most, for one of the layer's ``count`` products.
    estimated : bool
        Whether the bytes of the buffers are an estimate, and not those of a program.
    roofline : Roofline
        Of one product, in cycles or, for a planning target, in seconds.
    program : Program or None
        The certified program, if there is one.
    why_not : ShardwrightError or None
        Why there is none.
    """

    layer: Layer
    footprint: MemoryFootprint
    estimated: bool
    roofline: Roofline
    program: Program | None = None
    why_not: ShardwrightError | None = None

    @property
    def cycles(self) -> int | None:
        """Predicted cycles of one product, if it is certified."""
        if self.program is None:
            return None
        assert self.program.schedule is not None
        return self.program.schedule.cycles


@dataclass(frozen=True)
class ModelFit:
    """A model on a number of chips. All bytes are those of the chip that holds most."""

    target: Target | PlanningTarget
    chips: int
    layers: tuple[LayerFit, ...]

    @property
    def weight_bytes(self) -> int:
        """Slices of the weights of all layers."""
        return sum(fit.layer.count * fit.footprint.weights for fit in self.layers)

    @property
    def activation_bytes(self) -> int:
        """The layer that needs most, its slice of the activations and its result."""
        return self._largest.footprint.activations

    @property
    def buffer_bytes(self) -> int:
        """Buffers of the same layer."""
        return self._largest.footprint.buffers

    @property
    def total_bytes(self) -> int:
        """What the chip must have room for."""
        return self.weight_bytes + self.activation_bytes + self.buffer_bytes

    @property
    def estimated(self) -> bool:
        """Whether the bytes of the buffers are an estimate."""
        return self._largest.estimated

    @property
    def tier(self) -> MemoryTier | None:
        """The fastest memory that holds all; ``None`` if it does not fit."""
        return fastest(self.target, self.total_bytes)

    @property
    def times(self) -> dict[str, float | None]:
        """Compute, memory and link time of all layers; ``None`` if it is unknown for any."""
        return {name: self._sum(name) for name in ("compute", "memory", "link")}

    @property
    def memory_at_most(self) -> float | None:
        """What limits an unknown memory time, if something does for every layer."""
        return self._sum("memory_at_most")

    @property
    def undecided(self) -> tuple[str, ...]:
        """What is unknown and may bound a layer after all."""
        names = ("compute", "memory", "link")
        return tuple(n for n in names if any(n in fit.roofline.undecided for fit in self.layers))

    @property
    def time(self) -> float:
        """The least time of the layers, one after the other, as far as it is known."""
        return sum(fit.layer.count * fit.roofline.time for fit in self.layers)

    @property
    def bound(self) -> str | None:
        """What bounds the layers that take most of the time."""
        shares: dict[str, float] = {}
        for fit in self.layers:
            bound = fit.roofline.bound
            if bound is not None:
                shares[bound] = shares.get(bound, 0) + fit.layer.count * fit.roofline.time
        return max(shares, key=lambda name: shares[name], default=None)

    @property
    def cycles(self) -> int | None:
        """Predicted cycles of all layers, if each is certified and together they fit."""
        cycles = [fit.cycles for fit in self.layers]
        if self.why_not is not None:
            return None
        return sum(
            fit.layer.count * each
            for fit, each in zip(self.layers, cycles, strict=True)
            if each is not None
        )

    @property
    def why_not(self) -> ShardwrightError | None:
        """Why there is no certificate: it is a planning target, it does not fit, or a layer."""
        if isinstance(self.target, PlanningTarget):
            return PlanningOnlyError(target=self.target.name, executable=names())
        if self.tier is None:
            return ModelExceedsMemoryError(
                chips=self.chips,
                needed=self.total_bytes,
                capacity=self.target.memory_bytes,
                target=self.target.name,
                results=max(fit.layer.m * fit.layer.n * SUM_BYTES for fit in self.layers),
            )
        return next((fit.why_not for fit in self.layers if fit.why_not is not None), None)

    @property
    def _largest(self) -> LayerFit:
        return max(self.layers, key=lambda fit: fit.footprint.activations + fit.footprint.buffers)

    def _sum(self, name: str) -> float | None:
        total = 0
        for fit in self.layers:
            time: float | None = getattr(fit.roofline, name)
            if time is None:
                return None
            total += fit.layer.count * time
        return total


def fit_model(
    model: Model,
    target: Target | PlanningTarget,
    counts: tuple[int, ...],
    *,
    pad_k: bool = False,
    uneven: bool = False,
    certify_up_to: int | None = None,
) -> Iterator[ModelFit]:
    """How ``model`` fits ``target`` on each of ``counts`` chips.

    Parameters
    ----------
    pad_k : bool
        Whether k may be padded with zeros until it divides over the chips.
    uneven : bool
        Whether slices of k may differ by a tile.
    certify_up_to : int, optional
        Layers of more tile products than this are not compiled. 0 compiles none.

    Raises
    ------
    ChipCountError
        If a count is not positive, or more than the target joins.
    """
    for chips in counts:
        if type(chips) is not int or chips < 1:
            raise ChipCountError(chips=chips, rule="positive integers, as 1,2,4")
        if isinstance(target, PlanningTarget) and chips > target.max_chips:
            rule = f"at most {target.max_chips} of {target.name!r}"
            raise ChipCountError(chips=chips, rule=rule)
    if isinstance(target, PlanningTarget):
        for chips in counts:
            yield _planned(model, target, chips)
    else:
        compiler = _Compiler(target, pad_k, uneven, certify_up_to)
        for chips in counts:
            layers = tuple(compiler.fit(layer, chips) for layer in model.products())
            yield ModelFit(target, chips, layers)


def fastest(target: Target | PlanningTarget, needed: int) -> MemoryTier | None:
    """The first of the target's memories that holds ``needed`` bytes."""
    return next((tier for tier in memories(target) if tier.capacity_bytes >= needed), None)


def memories(target: Target | PlanningTarget) -> tuple[MemoryTier, ...]:
    """The memories of a chip, the fastest first."""
    if isinstance(target, PlanningTarget):
        return target.memory
    return (MemoryTier("memory", target.memory_bytes),)


def _planned(model: Model, target: PlanningTarget, chips: int) -> ModelFit:
    """Bytes first, since the memory that holds them sets the time of reading them."""
    layers = model.products()
    held = ModelFit(
        target,
        chips,
        tuple(
            LayerFit(layer, planned_footprint(layer, chips), True, Roofline(None, None, None))
            for layer in layers
        ),
    )
    return replace(
        held,
        layers=tuple(
            replace(fit, roofline=in_seconds(fit.layer, chips, target, held.tier))
            for fit in held.layers
        ),
    )


class _Compiler:
    """Compiles layers, each shape once."""

    def __init__(self, target: Target, pad_k: bool, uneven: bool, certify_up_to: int | None):
        self.target = target
        self.roomy = replace(target, memory_bytes=limits.MEMORY_BYTES)
        self.pad_k, self.uneven = pad_k, uneven
        self.certify_up_to = certify_up_to
        self.fits: dict[tuple[MatmulSpec, int], tuple[Program, ShardwrightError | None]] = {}

    def fit(self, layer: Layer, chips: int) -> LayerFit:
        """The layer on ``chips`` chips, with its program or the reason why there is none."""
        roofline = in_cycles(layer, chips, self.target)
        try:
            program, too_large = self._compiled(layer, chips)
        except ShardwrightError as error:
            footprint = tiled_footprint(layer, chips, self.target.tile)
            return LayerFit(layer, footprint, True, roofline, why_not=error)
        footprint = program_footprint(program)
        certified = program if too_large is None else None
        return LayerFit(layer, footprint, False, roofline, certified, too_large)

    def _compiled(self, layer: Layer, chips: int) -> tuple[Program, ShardwrightError | None]:
        """The program, and the error if only memory is too small for it."""
        if layer.dtype != OPERAND:
            why = f"{self.target.name!r} multiplies {OPERAND}, not {layer.dtype}"
            raise UncertifiableLayerError(layer=layer.name, why=why)
        edge = self.target.tile
        products = tiles(layer.m, edge) * tiles(layer.n, edge) * tiles(layer.k, edge)
        if self.certify_up_to is not None and products > self.certify_up_to:
            why = (
                f"it has {products:,} tile products, more than {self.certify_up_to:,} "
                f"(--certify-up-to)"
            )
            raise UncertifiableLayerError(layer=layer.name, why=why)
        if chips > CERTIFY_CHIPS:
            why = f"programs of more than {CERTIFY_CHIPS} chips take long to check"
            raise UncertifiableLayerError(layer=layer.name, why=why)
        spec = MatmulSpec(layer.m, layer.n, layer.k)
        if self.pad_k and chips > 1:
            spec = spec.padded_k(chips * edge)
        if (spec, chips) not in self.fits:
            self.fits[spec, chips] = self._sharded(spec, chips)
        return self.fits[spec, chips]

    def _sharded(self, spec: MatmulSpec, chips: int) -> tuple[Program, ShardwrightError | None]:
        plan = ShardPlan(chips, uneven=self.uneven)
        try:
            return compile(spec, self.target, plan), None
        except ValidationError as error:
            return compile(spec, self.roomy, plan), error
