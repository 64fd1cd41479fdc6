"""The machine: what the hardware, the engines and the host make of a program, and no more."""

from collections import Counter

from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.ir.stage import Load, Site, Store
from compiler.validate.fall_through import check_fall_through
from compiler.validate.names import check_distinct_names


def check_machine(program: Program) -> None:
    """Each chip can be built: one site with a product, memories with one port, names of its own."""
    _tensors(program)
    _sites(program)
    _products(program)
    check_fall_through(program)
    check_distinct_names(program)


def _tensors(program: Program) -> None:
    """A tensor is on a chip, and one stage moves it: its memory has one port beside the host's."""
    users = Counter(s.kind.tensor for s in program.stages if isinstance(s.kind, Load | Store))
    for tensor in program.tensors:
        if not 0 <= tensor.chip < program.chip_count:
            raise ValidationError(
                "TensorChip",
                tensor.name,
                f"tensor {tensor.name!r} is on chip {tensor.chip} of {program.chip_count}",
            )
        if users[tensor.name] != 1:
            raise ValidationError(
                "TensorUse",
                tensor.name,
                f"tensor {tensor.name!r} is loaded or stored by {users[tensor.name]} stages; it "
                f"must be by one",
            )


def _sites(program: Program) -> None:
    """A chip is one site: its stages are joined by wires, whatever their coordinates."""
    sites: dict[int, Site] = {}
    for stage in program.stages:
        if stage.site is None:
            continue
        first = sites.setdefault(stage.site.chip, stage.site)
        if first != stage.site:
            raise ValidationError(
                "SiteCount",
                stage.name,
                f"stage {stage.name!r} is at site {stage.site} and others of its chip at {first}; "
                f"a chip has one site",
            )


def _products(program: Program) -> None:
    """Every chip multiplies: its activity, and the use that is made of it, are its products'."""
    if program.graph.product is None or any(stage.site is None for stage in program.stages):
        return
    for view in program.chips:
        if not view.products:
            raise ValidationError(
                "IdleChip",
                f"chip {view.chip}",
                f"chip {view.chip} of {program.chip_count} has no product",
            )
