"""One chip of a partitioned program: what it has of the template, under names of its own."""

from dataclasses import replace

from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.edge import Edge, Handoff
from compiler.ir.layout import Layout, Partial, Replicate
from compiler.ir.program import Program
from compiler.ir.stage import Load, Map, MatmulTiles, Site, Stage, StageKind, Store


class ChipTemplate:
    """A one-chip program without decisions of passes, as one of several chips has it.

    Parameters
    ----------
    template : Program
        The one-chip program.
    chip : int
        Coordinate of the chip.
    names : dict
        Names of the chip's tensors by those of the template.
    layouts : dict
        Layout of each value of the template's graph.
    axis : int or None
        Which placement of a layout is that of the axis of k, if contractions are cut.
    """

    def __init__(
        self,
        template: Program,
        chip: int,
        *,
        names: dict[str, str],
        layouts: dict[str, Layout],
        axis: int | None,
    ):
        self.template, self.chip, self.names = template, chip, names
        self.layouts, self.axis = layouts, axis
        (self.product,) = (s for s in template.stages if isinstance(s.kind, MatmulTiles))
        (self.partial,) = self.product.outs
        self.maps = [stage for stage in template.stages if isinstance(stage.kind, Map)]
        (self.store,) = (s for s in template.stages if isinstance(s.kind, Store))
        self._prefix = f"c{chip}." if template.mesh.chip_count > 1 else ""

    def name(self, local: str) -> str:
        """A name of the template as it is on this chip."""
        return f"{self._prefix}{local}"

    def _site(self) -> Site:
        """The site of the chip's product, and so of all that it has."""
        return replace(self.product.site or Site(0), chip=self.chip)

    def _stage(
        self,
        local: str,
        kind: StageKind,
        *,
        ins: tuple[str, ...] = (),
        outs: tuple[str, ...] = (),
    ) -> Stage:
        names = tuple(map(self.name, ins)), tuple(map(self.name, outs))
        return Stage(self.name(local), kind, *names, site=self._site())

    def _copied(self, stage: Stage, ins: tuple[str, ...] | None = None) -> Stage:
        kind = stage.kind
        if isinstance(kind, Load | Store):
            kind = replace(kind, tensor=self.names[kind.tensor])
        return replace(
            stage,
            name=self.name(stage.name),
            kind=kind,
            ins=tuple(map(self.name, stage.ins if ins is None else ins)),
            outs=tuple(map(self.name, stage.outs)),
            site=replace(stage.site or self._site(), chip=self.chip),
        )

    def _buffer(self, local: str, like: Buffer, holds: Layout, *, leaves: bool = False) -> Buffer:
        kind = BufferKind.INTERM if leaves else BufferKind.FIFO
        return replace(like, name=self.name(local), kind=kind, holds=(holds,), site=None)

    def _edge(
        self,
        source: str,
        buffer: str,
        destination: str,
        handoff: Handoff | None = None,
        *,
        away: bool = False,
        label: str = "",
    ) -> Edge:
        """An edge, named by its ends, or by the buffer where several may run between them."""
        source = self.name(source)
        destination = destination if away else self.name(destination)
        name = f"{self.name(label) if label else source}->{destination}"
        return Edge(name, source, self.name(buffer), destination, handoff)

    def _operand_layout(self, buffer: Buffer) -> Layout:
        """What an operand's buffer holds: what the tensor that it is loaded from does."""
        for stage in self.template.stages:
            if isinstance(stage.kind, Load) and buffer.name in stage.outs:
                return self.layouts[self.template.tensor_by_name[stage.kind.tensor].value]
        return ()

    def _sum_layout(self, placement: Partial | Replicate) -> Layout:
        """The layout of a sum: the output's, with this placement along the axis of k."""
        output = self.layouts[self.template.claim.output]
        if self.axis is None:
            return output
        return (*output[: self.axis], placement, *output[self.axis + 1 :])
