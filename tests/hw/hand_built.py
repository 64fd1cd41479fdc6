"""Programs that are put together stage by stage: what no pass makes, or not yet."""

from dataclasses import replace

from compiler import targets
from compiler.ir.buffer import Buffer, BufferKind, Depth, Page
from compiler.ir.dtype import INT8, INT32
from compiler.ir.edge import Barrier, Edge, Handoff, Link, Semaphore, Token, ValidReady
from compiler.ir.graph import Claim, graph_of
from compiler.ir.layout import Replicate
from compiler.ir.mesh import mesh_of
from compiler.ir.orientation import Orientation
from compiler.ir.program import Numerics, Program, Schedule
from compiler.ir.stage import Load, MatmulTiles, Merge, Recv, Site, Split, Stage, Store
from compiler.ir.tensor import Part, Tensor, TensorRole, ValueRange
from compiler.ir.walk import Loop, Walk

TILE = 4
LATENCY_CYCLES = 3


def chip_of(name: str) -> int:
    """The chip that a name begins with: ``c1.fold`` is on chip 1."""
    return int(name.partition(".")[0].removeprefix("c"))


def stage(name: str, kind, ins: tuple[str, ...] = (), outs: tuple[str, ...] = ()) -> Stage:
    """A stage on the chip of its name, as are its buffers."""
    chip = f"c{chip_of(name)}"
    full = [tuple(f"{chip}.{buffer}" for buffer in buffers) for buffers in (ins, outs)]
    return Stage(name, kind, *full, site=Site(chip_of(name)))


def product(chip: int, rows: range, n: int, k: int, suffix: str = "") -> tuple[list, list]:
    """Tensors and stages of a chip that multiplies some rows of A by all of B.

    The sums are in the buffer ``partial`` of the chip; all names end in ``suffix``.
    """
    a = tensor(f"c{chip}.a{suffix}", "a", rows, range(k), Orientation.COLUMNS)
    b = tensor(f"c{chip}.b{suffix}", "b", range(k), range(n))
    m_tiles, n_tiles, k_tiles = a.row_tiles, b.col_tiles, a.col_tiles
    loops = {
        "a": (Loop(m_tiles, k_tiles), Loop(n_tiles, 0), Loop(k_tiles, 1)),
        "b": (Loop(m_tiles, 0), Loop(n_tiles, 1), Loop(k_tiles, n_tiles)),
    }
    pages = tuple(f"{side}_pages{suffix}" for side in "ab")
    return [a, b], [
        *(
            stage(f"c{chip}.load_{side}{suffix}", Load(held.name, Walk(loops[side])), (), (out,))
            for side, held, out in zip("ab", (a, b), pages, strict=True)
        ),
        stage(f"c{chip}.matmul{suffix}", MatmulTiles(k_tiles), pages, (f"partial{suffix}",)),
    ]


def kept(
    chip: int, rows: range, n: int, buffer: str, suffix: str = "", *, name: str = ""
) -> tuple[Tensor, Stage]:
    """A tensor of some rows of C, and the stage that stores a buffer into it."""
    c = tensor(name or f"c{chip}.c{suffix}", "c", rows, range(n), chip=chip)
    walk = Walk((Loop(c.page_count, 1),))
    return c, stage(f"c{chip}.store_c{suffix}", Store(c.name, walk), (buffer,))


def tensor(
    name: str,
    value: str,
    rows: range,
    cols: range,
    orientation: Orientation = Orientation.ROWS,
    *,
    chip: int | None = None,
) -> Tensor:
    """Some rows and columns of A, B or C in the memory of a chip."""
    return Tensor(
        name,
        TensorRole.OUTPUT if value == "c" else TensorRole.INPUT,
        len(rows),
        len(cols),
        TILE,
        INT32 if value == "c" else INT8,
        ValueRange(-(2**31), 2**31 - 1) if value == "c" else ValueRange(-128, 127),
        Part(value, rows.start, cols.start),
        orientation,
        chip_of(name) if chip is None else chip,
    )


def assembled(
    chips: int,
    shape: tuple[int, int, int],
    tensors: list[Tensor],
    stages: list[Stage],
    crossings: dict[str, str],
    *,
    handoff: str = "Token",
    depth_pages: int = 2,
    target: str = "token-mesh",
) -> Program:
    """The program of these stages. ``crossings`` says which Recv each buffer crosses to.

    The edges between chips share one barrier, if that is their hand-off.
    """
    held = {each.name: each for each in tensors}
    taker = {name: each for each in stages for name in each.ins}
    buffers: list[Buffer] = []
    edges: list[Edge] = []
    links: list[Link] = []
    for maker in stages:
        for name in maker.outs:
            loaded = held[maker.kind.tensor] if isinstance(maker.kind, Load) else None
            page = Page(
                TILE,
                TILE,
                loaded.dtype if loaded else INT32,
                loaded.orientation if loaded else Orientation.ROWS,
            )
            crosses = name in crossings
            kind = BufferKind.INTERM if crosses else BufferKind.FIFO
            layout = ((Replicate(),),)
            buffers.append(Buffer(name, kind, page, layout, maker.site, Depth(depth_pages)))
            edge = Edge(f"{name} on", maker.name, name, crossings.get(name, ""))
            if crosses:
                ends = chip_of(name), chip_of(edge.destination)
                links.append(Link(f"c{ends[0]}->c{ends[1]}", *ends, 128, LATENCY_CYCLES))
                edge = replace(edge, handoff=crossing(handoff, edge), link=links[-1].name)
            else:
                edge = replace(edge, destination=taker[name].name, handoff=ValidReady())
            edges.append(edge)
    m, n, k = shape
    return Program(
        name="by_hand",
        target=targets.get(target, tile=TILE),
        tile=TILE,
        mesh=mesh_of(chips),
        graph=graph_of(Claim("a", "b", "c", m, n, k)),
        numerics=Numerics(INT8, INT32),
        tensors=tuple(tensors),
        stages=tuple(stages),
        buffers=tuple(buffers),
        edges=tuple(edges),
        links=tuple(links),
        schedule=Schedule(1000, 1000, "compute", ()),
    )


def crossing(handoff: str, edge: Edge) -> Handoff:
    """A hand-off between chips by its name."""
    known = {
        "Token": Token(),
        "Semaphore": Semaphore(f"{edge.buffer}.ready", f"{edge.buffer}.valid"),
        "Barrier": Barrier("group"),
    }
    return known[handoff]


def relay(m: int = 8, *, handoff: str = "Token", depth_pages: int = 2) -> Program:
    """Chip 2 multiplies, chip 1 passes the result on, and chip 0 keeps it."""
    n, k = 8, 8
    tensors, stages = product(2, range(m), n, k)
    c, store = kept(0, range(m), n, "landing", name="c")
    stages += [
        stage("c1.recv", Recv(), (), ("landing",)),
        stage("c0.recv", Recv(), (), ("landing",)),
        store,
    ]
    crossings = {"c2.partial": "c1.recv", "c1.landing": "c0.recv"}
    return assembled(
        3,
        (m, n, k),
        [*tensors, c],
        stages,
        crossings,
        handoff=handoff,
        depth_pages=depth_pages,
    )


def shared_link(
    turns: tuple[int, ...] = (0, 1, 1), *, handoff: str = "Token", depth_pages: int = 2
) -> Program:
    """Chip 1 multiplies two parts of A; both results go to chip 0 over one link, and part there.

    The parts have as many rows of tiles as there are turns of theirs.
    """
    n, k = 8, 8
    shares = [turns.count(index) * TILE for index in range(2)]
    parts = [range(shares[0]), range(shares[0], sum(shares))]
    tensors: list[Tensor] = []
    stages: list[Stage] = []
    for index, rows in enumerate(parts):
        held, works = product(1, rows, n, k, f"_{index}")
        c, store = kept(0, rows, n, f"part_{index}", f"_{index}")
        tensors += [*held, c]
        stages += [*works, store]
    stages += [
        stage("c1.merge", Merge(turns), ("partial_0", "partial_1"), ("merged",)),
        stage("c0.recv", Recv(), (), ("landing",)),
        stage("c0.split", Split(turns), ("landing",), ("part_0", "part_1")),
    ]
    return assembled(
        2,
        (sum(shares), n, k),
        tensors,
        stages,
        {"c1.merged": "c0.recv"},
        handoff=handoff,
        depth_pages=depth_pages,
    )
