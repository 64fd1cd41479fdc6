"""The mesh: how the chips of a program are counted along named axes."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from compiler.errors import MeshError
from compiler.ir import limits
from compiler.ir.names import AXIS, AXIS_RULE


@dataclass(frozen=True)
class MeshAxis:
    """One axis of a mesh: its name, and how many chips stand along it."""

    name: str
    size: int

    def __str__(self) -> str:
        return f"{self.name}={self.size}"


@dataclass(frozen=True, init=False)
class Mesh:
    """Chips along named axes. Chips are numbered row-major: the last axis counts fastest.

    ``Mesh(row=4, col=4)`` has 16 chips, and chip 6 stands at ``row`` 1, ``col`` 2.

    Parameters
    ----------
    axes : tuple of MeshAxis
        Axes as records; ``sizes`` follow them.
    **sizes : int
        Chips along each axis, by its name.

    Raises
    ------
    MeshError
        If there is no axis, a name is no word or stands twice, or a size is not a positive integer.
    """

    axes: tuple[MeshAxis, ...]

    def __init__(self, axes: tuple[MeshAxis, ...] = (), **sizes: int):
        if not isinstance(axes, (tuple, list)) or not all(isinstance(a, MeshAxis) for a in axes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise MeshError(field="axes", rule="MeshAxis records, or sizes by name", value=axes)
        axes = (*axes, *(MeshAxis(name, size) for name, size in sizes.items()))
        object.__setattr__(self, "axes", axes)
        if not axes:
            raise MeshError(field="mesh", rule="axes with sizes, as tp=4", value="")
        names = [axis.name for axis in axes]
        for axis in axes:
            if not isinstance(axis.name, str) or not AXIS.fullmatch(axis.name):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise MeshError(field="an axis", rule=f"named by {AXIS_RULE}", value=axis.name)
            if names.count(axis.name) > 1:
                raise MeshError(field="an axis", rule="named once", value=axis.name)
            if type(axis.size) is not int or axis.size < 1:
                raise MeshError(field=axis.name, rule="a positive integer", value=axis.size)
        if self.chip_count > limits.CHIPS:
            raise MeshError(field="mesh", rule=f"of at most {limits.CHIPS} chips", value=str(self))

    @property
    def chip_count(self) -> int:
        """Chips of the mesh."""
        return prod(axis.size for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes in their order."""
        return tuple(axis.name for axis in self.axes)

    def size(self, axis: str) -> int:
        """Chips along an axis."""
        return self.axes[self.index(axis)].size

    def index(self, axis: str) -> int:
        """Where an axis stands among the others.

        Raises
        ------
        MeshError
            If there is no such axis.
        """
        if axis not in self.names:
            raise MeshError(field="an axis", rule=f"one of {', '.join(self.names)}", value=axis)
        return self.names.index(axis)

    def coordinates(self, chip: int) -> tuple[int, ...]:
        """Where a chip stands along each axis."""
        found: list[int] = []
        for axis in reversed(self.axes):
            chip, along = divmod(chip, axis.size)
            found.append(along)
        return tuple(reversed(found))

    def chip(self, coordinates: tuple[int, ...]) -> int:
        """The chip that stands there."""
        number = 0
        for axis, along in zip(self.axes, coordinates, strict=True):
            number = number * axis.size + along
        return number

    def groups(self, axis: str) -> Iterator[tuple[int, ...]]:
        """The chips that differ along one axis alone, group by group, each in order of the axis."""
        index, size = self.index(axis), self.size(axis)
        for chip in range(self.chip_count):
            first = self.coordinates(chip)
            if first[index] == 0:
                yield tuple(
                    self.chip((*first[:index], along, *first[index + 1 :])) for along in range(size)
                )

    def __str__(self) -> str:
        return ",".join(map(str, self.axes))


CHIPS_AXIS = "tp"
"""The axis of a mesh of which nothing but the number of chips is said: tensor parallel."""


def mesh_of(chips: int) -> Mesh:
    """A mesh of one axis."""
    return Mesh((MeshAxis(CHIPS_AXIS, chips),))
