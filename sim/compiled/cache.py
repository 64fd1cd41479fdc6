"""Where built models are kept, so that only the first run of a chip has to build it."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from sim.compiled.errors import ModelCacheError

SEAL_BYTES = hashlib.sha256().digest_size
"""A library ends in the digest of what stands before; loaders read no further than they need."""


def cache_folder() -> Path:
    """``shardwright/models`` in the user's cache, by the XDG base directory specification.

    Raises
    ------
    ModelCacheError
        If the user has no cache.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "shardwright" / "models"
    try:
        home = Path.home()
    except RuntimeError as error:
        why = "HOME is not set, and the system knows no home folder of this user"
        raise ModelCacheError(path="~/.cache/shardwright/models", why=why) from error
    return home / ".cache" / "shardwright" / "models"


def key_of(parts: Iterable[str | bytes]) -> str:
    """Name of what is built from these parts: equal parts give equal names."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode() if isinstance(part, str) else part
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()[:32]


class ModelCache:
    """Libraries by key.

    Several processes may use one folder: a library appears under its name only when it is whole,
    and replacing it leaves those that run it untouched.

    Parameters
    ----------
    folder : Path, optional
        Where the libraries are; in the user's cache by default.

    Raises
    ------
    ModelCacheError
        If the folder is left out and the user has no cache.
    """

    def __init__(self, folder: Path | None = None):
        self.folder = folder if folder is not None else cache_folder()

    def path(self, key: str) -> Path:
        """Path of a library."""
        return self.folder / f"{key}.so"

    def has(self, key: str) -> bool:
        """Whether a library is there, whole."""
        try:
            content = self.path(key).read_bytes()
        except OSError:
            return False
        body, seal = content[:-SEAL_BYTES], content[-SEAL_BYTES:]
        return hashlib.sha256(body).digest() == seal

    def add(self, key: str, build: Callable[[Path], None]) -> None:
        """Build a library in a folder of its own, as ``library.so``, and keep it.

        Raises
        ------
        ModelCacheError
            If the cache cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="build-", dir=self.folder) as workplace:
                library = Path(workplace) / "library.so"
                build(library)
                seal = hashlib.sha256(library.read_bytes()).digest()
                with library.open("ab") as file:
                    file.write(seal)
                library.replace(self.path(key))
        except OSError as error:
            why = error.strerror or str(error)
            raise ModelCacheError(path=str(self.folder), why=why) from error
