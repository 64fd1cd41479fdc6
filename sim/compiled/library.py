"""The shared libraries as Python sees them: their functions and structures."""

import ctypes
from ctypes import POINTER, Structure, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np

from sim.compiled.errors import ModelLoadError, ModelMemoryError

NEVER = 2**64 - 1
"""Cycle in which a chip was done that never was."""


class Lane(Structure):
    """One end of a link; see ``lanes.h``."""

    _fields_ = [
        ("arriving", c_void_p),
        ("leaving", c_void_p),
        ("arriving_words", c_uint64),
        ("leaving_words", c_uint64),
        ("delay_cycles", c_uint64),
        ("slot_mask", c_uint64),
    ]


class ChipState(Structure):
    """A chip in the driver's list; ``Chip`` in ``driver.cc``."""

    _fields_ = [
        ("model", c_void_p),
        ("run", c_void_p),
        ("lanes", POINTER(Lane)),
        ("done_cycle", c_uint64),
    ]


class Receiver(Structure):
    """A receiver at a barrier; see ``driver.cc``."""

    _fields_ = [
        ("ready", c_void_p),
        ("go", c_void_p),
        ("delay_cycles", c_uint64),
        ("offered", c_uint64),
    ]


class BarrierState(Structure):
    """A barrier network; ``Barrier`` in ``driver.cc``."""

    _fields_ = [
        ("receivers", POINTER(Receiver)),
        ("receiver_count", c_uint64),
        ("offered_mask", c_uint64),
        ("slot_mask", c_uint64),
    ]


class SystemState(Structure):
    """All that the driver steps; ``System`` in ``driver.cc``."""

    _fields_ = [
        ("chips", POINTER(ChipState)),
        ("chip_count", c_uint64),
        ("barriers", POINTER(BarrierState)),
        ("barrier_count", c_uint64),
        ("look_ahead_cycles", c_uint64),
        ("thread_count", c_uint64),
        ("cycle", c_uint64),
        ("started", c_uint64),
    ]


def _load(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise ModelLoadError(path=str(path), why=str(error)) from error


class DriverLibrary:
    """The library that steps the chips of a system together.

    Raises
    ------
    ModelLoadError
        If it cannot be loaded.
    """

    def __init__(self, path: Path):
        self._run = _load(path).system_run
        self._run.argtypes = [POINTER(SystemState), c_uint64, c_uint32]
        self._run.restype = None

    def run(
        self, system: SystemState, cycles: int, *, start: bool = False, threads: int = 1
    ) -> None:
        """Step by ``cycles`` cycles; if all chips are done, only to the end of that round.

        ``start`` begins the run of a system, which has one: later starts are ignored.
        """
        system.thread_count = threads
        self._run(ctypes.byref(system), cycles, start)


class ModelLibrary:
    """The library of one distinct chip, from which any number of models are made.

    Raises
    ------
    ModelLoadError
        If it cannot be loaded.
    """

    def __init__(self, path: Path):
        library = _load(path)
        self._new, self._delete = library.model_new, library.model_delete
        self._memory, self._counter = library.model_memory, library.model_counter
        self._new.restype = c_void_p
        self._delete.argtypes, self._delete.restype = [c_void_p], None
        self._memory.argtypes, self._memory.restype = [c_void_p, c_uint32], POINTER(c_uint32)
        self._counter.argtypes, self._counter.restype = [c_void_p, c_uint32], c_uint32
        self.run = ctypes.cast(library.model_run, c_void_p)

    def new(self) -> "Model":
        """A chip just after reset, with memories of zeros.

        Raises
        ------
        ModelMemoryError
            If there is no memory for it.
        """
        handle = self._new()
        if not handle:
            raise ModelMemoryError
        return Model(self, handle)

    def delete(self, model: "Model") -> None:
        """Give the memory of a model back."""
        self._delete(model.handle)

    def memory(self, model: "Model", index: int, *, depth: int, chunks: int) -> np.ndarray:
        """The words of a tensor memory themselves, ``depth`` rows of ``chunks`` machine words."""
        words = self._memory(model.handle, index)
        return np.ctypeslib.as_array(words, shape=(depth, chunks))

    def counter(self, model: "Model", index: int) -> int:
        """The value of an activity counter."""
        return self._counter(model.handle, index)


class Model:
    """The state of one chip. It lives in the library's memory, and ends with this object."""

    def __init__(self, library: ModelLibrary, handle: int):
        self.library, self.handle = library, handle

    def __del__(self):
        self.library.delete(self)
