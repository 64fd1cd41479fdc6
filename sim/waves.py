"""Wave files that any reader takes."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from amaranth.sim import Simulator

from sim.errors import SimulationHangError
from sim.files import whole_file

VARIABLE = re.compile(r"^(\$var \S+ \d+ \S+ \\?)\$", re.MULTILINE)


class _PlainNames(io.TextIOWrapper):
    """A VCD file whose signals have names that do not begin with ``$``.

    That is how the words of the format itself begin, so readers stumble over the ``$signature``
    that the ports of a memory are called.
    """

    def write(self, text: str, /) -> int:
        return super().write(VARIABLE.sub(r"\1", text))


@contextmanager
def written_waves(simulator: Simulator, path: str | Path) -> Iterator[None]:
    """Write the waves of every signal of a run to a VCD file.

    The file is there once the run has ended, or hangs; it is not if something else breaks it off.

    Raises
    ------
    OutputFileError
        If the file cannot be written.
    """
    with (
        whole_file(path, whole_after=(SimulationHangError,)) as file,
        _PlainNames(file, encoding="utf-8") as text,
        simulator.write_vcd(text),
    ):
        yield
