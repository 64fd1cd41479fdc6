"""The packages beside this one, which a user's own modules of the same names do not hide.

``compiler``, ``constraints``, ``hw``, ``sim``, ``report``, ``bitstream`` and ``host`` are top-level
packages, found by their names. A script whose folder holds a ``sim.py`` would get that one instead.
So importing ``shardwright`` takes them from the folder that it lies in itself. Everything below
them is found through them from then on, whenever it is imported.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

SIBLINGS = ("compiler", "constraints", "hw", "sim", "report", "bitstream", "host")
FOLDER = Path(__file__).parents[1]


class HiddenSiblingError(ImportError):
    """Another module has the name of a package that shardwright needs, and is loaded already."""

    def __init__(self, *, name: str, loaded: str, needed: str):
        self.loaded, self.needed = loaded, needed
        super().__init__(
            f"shardwright needs its package {name!r} from {needed}, but a module of that name is "
            f"loaded already from {loaded}; give yours another name",
            name=name,
            path=loaded,
        )


class _Siblings:
    """Finds the siblings here, whatever comes first on ``sys.path``."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [str(FOLDER)], target) if name in SIBLINGS else None


def load_siblings() -> None:
    """Import every sibling from the folder of this package.

    Raises
    ------
    HiddenSiblingError
        If a module of such a name is loaded already, and comes from elsewhere.
    """
    for name in SIBLINGS:
        loaded = sys.modules.get(name)
        if loaded is not None and not _is_ours(loaded, name):
            needed = FOLDER / name / "__init__.py"
            raise HiddenSiblingError(name=name, loaded=_place(loaded), needed=str(needed))
    with _first_on_the_way(_Siblings()):
        for name in SIBLINGS:
            importlib.import_module(name)


@contextmanager
def _first_on_the_way(finder: _Siblings) -> Iterator[None]:
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _is_ours(module: ModuleType, name: str) -> bool:
    folders = [Path(folder).resolve() for folder in getattr(module, "__path__", ())]
    return folders == [(FOLDER / name).resolve()]


def _place(module: ModuleType) -> str:
    """The file of a module, or the folders of a package without ``__init__.py``."""
    file = getattr(module, "__file__", None)
    return file or ", ".join(getattr(module, "__path__", ())) or "memory"


load_siblings()
