"""A mesh counts its chips row-major along named axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import MeshError, ShardError
from compiler.ir.limits import CHIPS
from compiler.ir.mesh import Mesh, MeshAxis, mesh_of

meshes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(
    lambda sizes: Mesh(tuple(MeshAxis(f"x{i}", size) for i, size in enumerate(sizes)))
)


@given(mesh=meshes)
def test_chips_are_numbered_as_numpy_numbers_elements(mesh):
    sizes = [axis.size for axis in mesh.axes]
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    assert mesh.chip_count == numbers.size
    for place, chip in np.ndenumerate(numbers):
        assert mesh.coordinates(int(chip)) == place
        assert mesh.chip(place) == chip


@given(mesh=meshes)
def test_a_group_is_a_line_of_chips_along_its_axis(mesh):
    sizes = [axis.size for axis in mesh.axes]
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    for index, name in enumerate(mesh.names):
        lines = np.moveaxis(numbers, index, -1).reshape(-1, sizes[index])
        assert sorted(mesh.groups(name)) == sorted(map(tuple, lines.tolist()))
        assert (mesh.index(name), mesh.size(name)) == (index, sizes[index])


def test_axes_are_records_or_words():
    assert Mesh(row=4, col=2) == Mesh((MeshAxis("row", 4),), col=2)
    assert str(Mesh(row=4, col=2)) == "row=4,col=2"
    assert mesh_of(5) == Mesh(tp=5)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Mesh(), "mesh must be axes with sizes, as tp=4, not ''"),
        (lambda: Mesh(row=0), "row must be a positive integer, not 0"),
        (lambda: Mesh(row=-2), "row must be a positive integer, not -2"),
        (lambda: Mesh(row=2.0), "row must be a positive integer, not 2.0"),
        (lambda: Mesh(row=True), "row must be a positive integer, not True"),
        (lambda: Mesh(row="2"), "row must be a positive integer, not '2'"),
        (
            lambda: Mesh((MeshAxis("row", 2), MeshAxis("row", 2))),
            "an axis must be named once, not 'row'",
        ),
        (
            lambda: Mesh(Row=2),
            "an axis must be named by at most 32 lower-case letters and digits, beginning with a "
            "letter, not 'Row'",
        ),
        (
            lambda: Mesh((MeshAxis("", 2),)),
            "an axis must be named by at most 32 lower-case letters and digits, beginning with a "
            "letter, not ''",
        ),
        (
            lambda: Mesh(a=64, b=64, c=2),
            f"mesh must be of at most {CHIPS} chips, not 'a=64,b=64,c=2'",
        ),
        (lambda: Mesh("row=2"), "axes must be MeshAxis records, or sizes by name, not 'row=2'"),
        (lambda: Mesh(4), "axes must be MeshAxis records, or sizes by name, not 4"),
        (
            lambda: Mesh((("row", 2),)),
            "axes must be MeshAxis records, or sizes by name, not (('row', 2),)",
        ),
        (lambda: Mesh(row=2).size("col"), "an axis must be one of row, not 'col'"),
        (lambda: Mesh(row=2, col=2).index("x"), "an axis must be one of row, col, not 'x'"),
    ],
)
def test_what_is_no_mesh_or_no_axis_is_refused(make, text):
    with pytest.raises(MeshError) as refusal:
        make()
    assert isinstance(refusal.value, ShardError)
    assert str(refusal.value) == f"mesh: {text}"
