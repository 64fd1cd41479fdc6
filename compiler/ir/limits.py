"""How large a program and its target may be: each limit, and why.

Whatever enumerates, allocates or recurses comes after these, so a number in a file costs nothing
but the error that refuses it. They are far above what the hardware of one machine could hold, and
far below what a computer could not.
"""

NUMBER = 2**63 - 1
"""Magnitude of any integer: what numpy's widest integers hold, and what is exact everywhere."""

NAME_LENGTH = 128
"""Characters of a name: with what is added to it, it is the name of a file."""

TEXT_LENGTH = 4096
"""Characters of any other text: one line that a person can still read."""

EXPRESSION_LENGTH = 2**17
"""Characters of an expression: those of the largest that is one, several times over."""

FILE_BYTES = 64 * 2**20
"""Bytes of a program file: several times a program that lists a million values."""

RECORDS = 2**17
"""Records of one list of a program: 4096 chips have fewer stages."""

CHIPS = 4096
"""Chips of a program: more than any machine joins that adds without routers."""

TILE = 64
"""Edge of a tile: its 4096 multiply-accumulates are what a simulator of gates still takes."""

LINK = 8192
"""Bits of a flit, and cycles of a link: far above any that exists."""

LINK_PORTS = 1024
"""Ends of links at a chip: a fold adds as many operands, one within the other."""

ENGINES = 1024
"""Engines of one kind at a site, and coordinates of a site on its chip."""

MEMORY_BYTES = 2**40
"""Bytes of a chip's memory, and so every address and size in it."""

EXTENT = 2**40
"""Elements along an axis: no memory holds more."""

DEPTH_PAGES = 2**16
"""Pages of a buffer: the slots of the longest link at the least tile are fewer."""

BODY_DEPTH = LINK_PORTS
"""Operations of an expression, one within the other: those of a fold over every link port."""

BODY_SIZE = 4 * LINK_PORTS
"""Operands, literals and operations of an expression."""

TURNS = 2**16
"""Pages in one round of a merge or a split, and in what repeats of the pages of a buffer."""

LOOPS = 8
"""Loops of a walk. The axes of a product are three, and each may be split."""

WALK_PAGES = 2**40
"""Pages that one stage moves: those of 2**40 cycles at the least, which no run lasts. Their order
is told by loops, so it costs nothing to check that there are many."""

VALUES = 2**24
"""Elements that a tensor lists."""

ENUMERATED_PAGES = 2**22
"""Pages of a program that are followed one by one, since no loops tell their order. They are what
the checker has in memory at one time, some hundred MB of them."""

INTERVALS = 2**16
"""Intervals of contraction blocks that the sums of a program are made of. A sum without gaps is one
for all results of a product; results that add different blocks are told apart up to so many."""

CYCLES = 2**53
"""Cycles of a schedule: a float still tells neighbours apart."""
