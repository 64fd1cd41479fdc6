"""The registers of a board: one description, from which all else is made."""

from hw.axi_lite import DATA_BITS, DATA_BYTES
from hw.register_map import Access, Register

BOARD_OFFSET = 0x8000_0000
"""Byte address of the first register: bit 31 tells a board's registers from those of its chip."""
IDENTITY = 0x424F_5244
"""``BORD`` in ASCII, the first letter in the highest byte."""
VERSION = 2
"""Version of this map. The first ended with ``start``: there, what tells the version is refused."""


def board_registers(
    *, clock_hz: int | None = None, link_count: int | None = None, digest: int | None = None
) -> tuple[Register, ...]:
    """The registers of a board, in order of their offsets.

    Parameters
    ----------
    clock_hz : int, optional
        Frequency of the chip's clock; left out where only the places matter.
    link_count : int, optional
        Link ports of the chip; left out where only the places matter.
    digest : int, optional
        :func:`program_digest` of the chip's program; left out where only the places matter.
    """
    high, low = (None, None) if digest is None else divmod(digest, 1 << DATA_BITS)
    entries = (
        ("identity", Access.READ, "the letters BORD", {"value": IDENTITY}),
        (
            "hold",
            Access.READ_WRITE,
            "while bit 0 is 1, chip and links are held in reset, and the chip's addresses are "
            "refused",
            {"source": "hold", "bits": ((0, "hold"),)},
        ),
        ("link_count", Access.READ, "link ports of the chip", {"value": link_count}),
        (
            "links_up",
            Access.READ,
            "link ports that are ready, one bit for each",
            {"source": "links_up"},
        ),
        (
            "bus_errors",
            Access.READ,
            "accesses that ended in an error; stops at 65535",
            {"source": "bus_errors"},
        ),
        ("clock_hz", Access.READ, "frequency of the chip's clock", {"value": clock_hz}),
        (
            "start",
            Access.WRITE,
            "writing 1 to bit 0 starts a run on this chip and, over the links, on all that send to "
            "it; refused while the chip runs or is held",
            {"bits": ((0, "start"),)},
        ),
        ("version", Access.READ, "version of the board's registers", {"value": VERSION}),
        (
            "checksum",
            Access.READ,
            "CRC-32 of all bytes of the serial line before this answer, commands and answers in "
            "their order; a command that is dropped begins it anew",
            {"source": "checksum"},
        ),
        (
            "digest_high",
            Access.READ,
            "digest of the program that the chip is of, its higher half",
            {"value": high},
        ),
        ("digest_low", Access.READ, "its lower half", {"value": low}),
    )
    return tuple(
        Register(name, BOARD_OFFSET + index * DATA_BYTES, access, meaning, **more)
        for index, (name, access, meaning, more) in enumerate(entries)
    )
