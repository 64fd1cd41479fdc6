"""Every error that the compiler raises.

Each one carries the values that it names as attributes, and its message ends with the way out
where there is one. All derive from :class:`ShardwrightError`, which is what a caller catches.
"""


class ShardwrightError(Exception):
    """Base of every error that this project raises on purpose."""


# --- The workload and the target ----------------------------------------------------------------


class WorkloadError(ShardwrightError):
    """The matrix product that was asked for cannot be stated."""


class EmptyMatrixError(WorkloadError):
    """A dimension of the product is zero."""

    def __init__(self, *, m: int, n: int, k: int):
        self.m, self.n, self.k = m, n, k
        name = next(name for name, extent in (("m", m), ("n", n), ("k", k)) if extent == 0)
        super().__init__(
            f"the product {m}x{k} . {k}x{n} is empty: {name} is 0; "
            f"every dimension must be at least 1"
        )


class AccumulatorOverflowError(WorkloadError):
    """The sum of the products may leave the accumulator's range.

    ``k_max`` is the longest contraction whose sums do not, ``most_bits`` the widest sum there is.
    """

    def __init__(self, *, k: int, low: int, high: int, dtype: str, k_max: int, most_bits: int):
        self.k, self.low, self.high, self.dtype, self.k_max = k, low, high, dtype, k_max
        bits = 1 + max((~low).bit_length(), high.bit_length())
        ways = ["declare narrower operand ranges (compile --a-range, --b-range)"]
        if k_max:
            ways.insert(0, "multiply in parts along k and add those")
        if bits <= most_bits:
            ways.append(f"use more bits for sums (--sum-bits {bits})")
        limit = f"k may be at most {k_max}" if k_max else "no k is small enough"
        super().__init__(
            f"a contraction of k = {k} can reach sums in [{low}, {high}], which {dtype} does not "
            f"hold; with these operand ranges {limit}: {', or '.join(ways)}"
        )


class ModelValueError(WorkloadError):
    """A field of a model, or of one of its layers, has a value that it cannot have.

    ``place`` names the model or the layer.
    """

    def __init__(self, *, place: str, field: str, rule: str, value: object):
        self.place, self.field, self.rule, self.value = place, field, rule, value
        super().__init__(f"{place}: {field} must be {rule}, not {value!r}")


class ModelFileError(WorkloadError):
    """A model description cannot be read or does not have the form that it must have."""


class NoLayersError(WorkloadError):
    """A model has no layers."""

    def __init__(self) -> None:
        super().__init__(
            "there is no layer to fit; give --layer M,N,K, or a model file with [[layer]] tables"
        )


class TargetError(ShardwrightError):
    """A target is unknown or its description is wrong."""


class UnknownTargetError(TargetError):
    """No target has this name."""

    def __init__(self, *, name: str, known: tuple[str, ...]):
        self.name, self.known = name, known
        super().__init__(
            f"no target is named {name!r}; the targets are {', '.join(known)}; "
            f"a target of your own is a file whose name ends in .toml"
        )


class TargetValueError(TargetError):
    """A field of a target has a value that it cannot have."""

    def __init__(self, *, target: str, field: str, rule: str, value: object):
        self.target, self.field, self.rule, self.value = target, field, rule, value
        super().__init__(f"target {target!r}: {field} must be {rule}, not {value!r}")


class PlanningOnlyError(TargetError):
    """A target is a set of published figures, and no machine that programs are compiled for."""

    def __init__(self, *, target: str, executable: tuple[str, ...]):
        self.target, self.executable = target, executable
        super().__init__(
            f"target {target!r} is for planning only (shardwright fit): it states published "
            f"figures, not a machine that programs run on; those are {', '.join(executable)}"
        )


class UnsourcedFigureError(TargetError):
    """A planning target states a figure without its source, or a source without its figure."""

    def __init__(self, *, target: str, figure: str, why: str):
        self.target, self.figure, self.why = target, figure, why
        super().__init__(
            f"target {target!r}: figure {figure!r} {why}; every figure, known or unknown, has "
            f"one entry in [sources] that says where it comes from"
        )


# --- Planning -----------------------------------------------------------------------------------


class FitError(ShardwrightError):
    """It cannot be said, or not be certified, how a model fits a target."""


class ChipCountError(FitError):
    """A number of chips is none, or more than a target joins."""

    def __init__(self, *, chips: object, rule: str):
        self.chips, self.rule = chips, rule
        super().__init__(f"chips must be {rule}, not {chips!r}")


class ModelExceedsMemoryError(FitError):
    """No memory of a chip holds its share of a model.

    ``results`` are the bytes of the largest product, which more chips do not share.
    """

    def __init__(self, *, chips: int, needed: int, capacity: int, target: str, results: int):
        self.chips, self.needed, self.capacity, self.target = chips, needed, capacity, target
        self.results = results
        more = "more chips or " if results < capacity else ""
        super().__init__(
            f"a chip of {chips} needs {needed:,} bytes, and {target!r} has {capacity:,}; "
            f"use {more}a target with more memory"
        )


class UncertifiableLayerError(FitError):
    """A layer is not compiled, so it has no certificate."""

    def __init__(self, *, layer: str, why: str):
        self.layer, self.why = layer, why
        super().__init__(f"layer {layer!r} is not compiled: {why}")


# --- Sharding -----------------------------------------------------------------------------------


class ShardError(ShardwrightError):
    """A program cannot be sharded as asked."""


class MeshError(ShardError):
    """A mesh is none, or has no such axis."""

    def __init__(self, *, field: str, rule: str, value: object):
        self.field, self.rule, self.value = field, rule, value
        super().__init__(f"mesh: {field} must be {rule}, not {value!r}")


class NothingToShardError(ShardError):
    """The program has no matrix product over loaded operands."""

    def __init__(self, *, program: str, why: str):
        self.program, self.why = program, why
        super().__init__(
            f"program {program!r} has nothing to shard: {why}; "
            f"a shard splits a matrix product of two loaded tensors"
        )


class AlreadyShardedError(ShardError):
    """The program already spans several chips."""

    def __init__(self, *, program: str, chips: int):
        self.program, self.chips = program, chips
        super().__init__(
            f"program {program!r} is sharded over {chips} chips already; "
            f"shard the one-chip program that it came from"
        )


class AxisNotDivisibleError(ShardError):
    """An axis of the product does not divide by the number of chips along its mesh axis."""

    def __init__(self, *, axis: str, extent: int, chips: int):
        self.axis, self.extent, self.chips = axis, extent, chips
        super().__init__(
            f"axis {axis} of {extent} does not divide over {chips} chips "
            f"({extent % chips} left over); choose a chip count that divides it, "
            f"or {_evened(axis)}"
        )


class SliceNotTileAlignedError(ShardError):
    """A chip's slice of an axis of the product is not a whole number of tiles."""

    def __init__(self, *, axis: str, extent: int, chips: int, tile: int):
        self.axis, self.extent, self.chips, self.tile = axis, extent, chips, tile
        super().__init__(
            f"axis {axis} of {extent} over {chips} chips gives slices of {extent // chips}, "
            f"which is not a multiple of the tile {tile}; choose a smaller tile or fewer chips, "
            f"or {_evened(axis)}"
        )


class TooFewTilesError(ShardError):
    """An axis has fewer tiles than there are chips to deal them out to."""

    def __init__(self, *, axis: str, extent: int, chips: int, tile: int):
        self.axis, self.extent, self.chips, self.tile = axis, extent, chips, tile
        tiles = -(-extent // tile)
        padded = ", or pad it with zeros (--pad-k)" if axis == "k" else ""
        super().__init__(
            f"axis {axis} of {extent} has {tiles} tile{'s' * (tiles != 1)} of {tile}, fewer than "
            f"the {chips} chips that are to share them; choose fewer chips or a smaller tile"
            f"{padded}"
        )


def _evened(axis: str) -> str:
    """What lets an axis be cut that does not divide."""
    uneven = "let slices differ by a tile (--uneven)"
    return f"pad it with zeros (--pad-k), or {uneven}" if axis == "k" else uneven


class UnsliceableFillError(ShardError):
    """A tensor's initial values cannot be sliced faithfully."""

    def __init__(self, *, tensor: str, why: str):
        self.tensor, self.why = tensor, why
        super().__init__(
            f"tensor {tensor!r} cannot be sliced: {why}; give its values explicitly (Values), "
            f"or leave it External and let the host supply each slice"
        )


class NoCrossChipHandoffError(ShardError):
    """The target has no hand-off that crosses a chip boundary."""

    def __init__(self, *, target: str, provided: tuple[str, ...]):
        self.target, self.provided = target, provided
        super().__init__(
            f"target {target!r} has no hand-off between chips (it provides "
            f"{', '.join(provided) or 'none'}); a reduction needs Token, Semaphore or Barrier: "
            f"choose another target, or one chip"
        )


class LinkPortsExceededError(ShardError):
    """A chip would need more links than it has ports."""

    def __init__(self, *, chip: int, needed: int, ports: int, algorithm: str | None, way_out: str):
        self.chip, self.needed, self.ports, self.algorithm = chip, needed, ports, algorithm
        what = "the program" if algorithm is None else f"a {algorithm}"
        super().__init__(
            f"{what} needs {needed} links at chip {chip}, which has {ports} link ports; {way_out}"
        )


class ShardPlanError(ShardError):
    """A shard plan states a chip count or an algorithm that does not exist."""

    def __init__(self, *, field: str, rule: str, value: object):
        self.field, self.rule, self.value = field, rule, value
        super().__init__(f"shard plan: {field} must be {rule}, not {value!r}")


class CollectiveSpecError(ShardwrightError):
    """A collective is stated with something that it cannot have."""

    def __init__(self, *, field: str, rule: str, value: object):
        self.field, self.rule, self.value = field, rule, value
        super().__init__(f"collective: {field} must be {rule}, not {value!r}")


# --- Passes -------------------------------------------------------------------------------------


class PassError(ShardwrightError):
    """A pass cannot fill in what is missing."""


class NoEngineError(PassError):
    """A site has no free engine for a stage."""

    def __init__(self, *, stage: str, kind: str, site: str, count: int):
        self.stage, self.kind, self.site, self.count = stage, kind, site, count
        super().__init__(
            f"stage {stage!r} finds no free {kind} engine at site {site}, which has {count}; "
            f"give the target more {kind} engines or move the stage"
        )


class RouteError(PassError):
    """An edge cannot take the way over the chips that it is said to pass."""

    def __init__(self, *, edge: str, chip: int, why: str):
        self.edge, self.chip = edge, chip
        super().__init__(
            f"edge {edge!r} is to pass chip {chip}, which is {why}; name each chip between its "
            f"ends once (via)"
        )


class SharedLinkCircleError(PassError):
    """Edges were to share a link, and what one of them carries is made of what another does."""

    def __init__(self, *, edges: tuple[str, ...], source: int, destination: int):
        self.edges, self.source, self.destination = edges, source, destination
        super().__init__(
            f"edges {', '.join(map(repr, edges))} were to share a link from chip {source} to chip "
            f"{destination}, but then stages feed each other in a circle, since pages of one are "
            f"made of those of another; let them take other ways (via)"
        )


class StalledPagesError(PassError):
    """Buffers are so shallow that pages wait for each other in a circle."""

    def __init__(self, *, buffers: tuple[str, ...]):
        self.buffers = buffers
        listed = ", ".join(map(repr, buffers[:8]))
        super().__init__(
            f"pages wait for room in {listed}, which those behind them would make; give these "
            f"buffers more pages, or let the compiler choose their depths"
        )


class SharedLinkBarrierError(PassError):
    """Edges that share a link were to meet others at a barrier, which counts rounds of one page."""

    def __init__(self, *, edge: str, target: str):
        self.edge, self.target = edge, target
        super().__init__(
            f"edge {edge!r} carries the pages of several over one link, and target {target!r} "
            f"hands pages off at barriers, where each edge has one in a round; let the edges take "
            f"other ways, or use a target with tokens or semaphores"
        )


class NoHandoffError(PassError):
    """The target has no hand-off for an edge inside a site."""

    def __init__(self, *, target: str, edge: str):
        self.target, self.edge = target, edge
        super().__init__(
            f"target {target!r} has no local hand-off for edge {edge!r}; it must provide "
            f"Fifo or ValidReady"
        )


# --- The validator ------------------------------------------------------------------------------


class ValidationError(ShardwrightError):
    """A program breaks a rule of the program representation.

    ``rule`` is the rule's name, ``subject`` the name of the thing that breaks it.
    """

    def __init__(self, rule: str, subject: str, message: str):
        self.rule, self.subject = rule, subject
        self.after_pass: str | None = None
        super().__init__(message)

    def __str__(self) -> str:
        where = f" (after pass {self.after_pass})" if self.after_pass else ""
        return f"{self.rule}: {self.args[0]}{where}"


# --- Saved programs and certificates ------------------------------------------------------------


class ProgramFormatError(ShardwrightError):
    """A saved program does not have the form that it must have."""

    def __init__(self, *, place: str, why: str):
        self.place, self.why = place, why
        super().__init__(f"program file: {place}: {why}")


class UncertifiedProgramError(ShardwrightError):
    """A program does not meet its obligations, so it is neither returned nor run.

    ``violations`` holds the name of each violated obligation with what speaks against it.
    """

    def __init__(self, *, program: str, violations: tuple[tuple[str, str], ...]):
        self.program, self.violations = program, violations
        listed = "; ".join(f"{name}: {why}" for name, why in violations)
        super().__init__(f"program {program!r} is not certified: {listed}")
