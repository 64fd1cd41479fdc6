"""What chips have: memory, engines, link ports, tile units."""

from collections import Counter
from dataclasses import replace

from compiler.ir.mesh import Mesh
from compiler.ir.program import Allocation, Program
from compiler.ir.stage import Engine, EngineKind
from compiler.passes.schedule import schedule
from compiler.targets import LinkKind
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import last_product, loads, store


def target_changed(program: Program, **changes: int) -> Program:
    return replace(program, target=replace(program.target, **changes))


def resized(program: Program, by: int) -> Program:
    """``program`` with more or fewer chips along its last axis."""
    *axes, last = program.mesh.axes
    return replace(program, mesh=Mesh((*axes, replace(last, size=last.size + by))))


def place_changed(program: Program, index: int, **changes: int) -> Program:
    places = list(program.memory)
    places[index] = replace(places[index], **changes)
    return replace(program, memory=tuple(places))


def bytes_of_fullest_chip(program: Program) -> int:
    """Whole tiles of tensors and whole pages of buffers, as bits, rounded up for each."""
    tile, used = program.tile, Counter[int]()
    for tensor in program.tensors:
        tiles = -(-tensor.rows // tile) * -(-tensor.cols // tile)
        used[tensor.chip] += -(-tiles * tile * tile * tensor.dtype.bits // 8)
    for buffer in program.buffers:
        bits = buffer.depth_pages * tile * tile * buffer.page.dtype.bits
        used[buffer.site.chip] += -(-bits // 8)
    return max(used.values())


@breaks("capacity: MemoryExceeded")
def the_memory_is_one_byte_too_small(program: Program) -> Program | None:
    return target_changed(program, memory_bytes=bytes_of_fullest_chip(program) - 1)


@breaks("capacity: overlaps")
def two_places_in_memory_overlap(program: Program) -> Program | None:
    first = program.memory[0]
    others = [i for i, p in enumerate(program.memory) if p.chip == first.chip][1:]
    return place_changed(program, others[0], address=first.address + first.size_bytes - 1)


@breaks("capacity: has no place in memory")
def a_tensor_has_no_place_in_memory(program: Program) -> Program | None:
    return replace(program, memory=program.memory[1:])


@breaks("capacity: MemoryMap: 'nobody' on chip 0")
def a_place_in_memory_is_for_nobody(program: Program) -> Program | None:
    place = Allocation("nobody", 0, program.target.memory_bytes // 2, 64)
    return replace(program, memory=(*program.memory, place))


@breaks("capacity: has 2 places in memory")
def a_tensor_has_two_places_in_memory(program: Program) -> Program | None:
    again = replace(program.memory[0], address=program.target.memory_bytes // 2)
    return replace(program, memory=(*program.memory, again))


@breaks("capacity: MemoryMap")
def a_place_in_memory_is_one_byte_too_small(program: Program) -> Program | None:
    return place_changed(program, 0, size_bytes=program.memory[0].size_bytes - 1)


@breaks("capacity: ends at byte")
def a_place_in_memory_ends_behind_the_last_byte(program: Program) -> Program | None:
    place = program.memory[-1]
    address = program.target.memory_bytes - place.size_bytes + 1
    return place_changed(program, -1, address=address)


@breaks("capacity: the program has no memory map")
def there_is_no_memory_map(program: Program) -> Program | None:
    return replace(program, memory=())


@breaks("capacity: EngineOversubscribed")
def two_loads_share_an_engine(program: Program) -> Program | None:
    first, second = loads(program)[:2]
    return changed(program, second.name, engine=first.engine)


@breaks("capacity: UnknownEngine")
def a_product_runs_on_an_engine_that_is_not_there(program: Program) -> Program | None:
    engine = Engine(EngineKind.COMPUTE, program.target.compute_engines)
    return changed(program, last_product(program).name, engine=engine)


@breaks("capacity: EngineRole")
def a_product_runs_on_a_movement_engine(program: Program) -> Program | None:
    return changed(program, last_product(program).name, engine=Engine(EngineKind.MOVEMENT, 2))


@breaks("capacity: NoEngine")
def a_store_runs_on_no_engine(program: Program) -> Program | None:
    return changed(program, store(program).name, engine=None)


@breaks("capacity: UnknownEngine")
def the_target_has_too_few_movement_engines(program: Program) -> Program | None:
    return target_changed(program, movement_engines=1)


@breaks("capacity: link engines")
def the_target_has_no_link_ports(program: Program) -> Program | None:
    return target_changed(program, link_ports=0) if program.links else None


@breaks("capacity: LinkPortsExceeded")
def a_chip_holds_more_ends_of_links_than_ports(program: Program) -> Program | None:
    """What receives and switches shares the ports that there are, as far as engines go."""
    ends = Counter(c for link in program.links for c in (link.source_chip, link.destination_chip))
    if max(ends.values(), default=0) < 2:
        return None
    for stage in program.stages:
        if stage.kind.engine in (EngineKind.LINK, EngineKind.SWITCH):
            program = changed(program, stage.name, engine=None)
    return target_changed(program, link_ports=max(ends.values()) - 1)


@breaks("capacity: TileUnit")
def the_tile_units_are_larger_than_the_tiles(program: Program) -> Program | None:
    return target_changed(program, tile=2 * program.tile)


@breaks("capacity: LinkKind")
def a_link_is_wider_than_those_of_the_target(program: Program) -> Program | None:
    if not program.links:
        return None
    program = changed(program, program.links[0].name, width_bits=8_000)
    return schedule(program)


@breaks("capacity: LinkKind")
def a_link_is_shorter_than_those_of_the_target(program: Program) -> Program | None:
    if not program.links:
        return None
    program = changed(program, program.links[-1].name, latency_cycles=1)
    return schedule(program)


@breaks("capacity: LinkKind")
def a_link_sends_more_slowly_than_those_of_the_target(program: Program) -> Program | None:
    if not program.links:
        return None
    program = changed(program, program.links[-1].name, flit_cycles=2)
    return schedule(program)


@breaks("capacity: LinkKind")
def the_target_has_links_of_another_kind(program: Program) -> Program | None:
    """Wider ones, and cables that are as wide, but longer."""
    if not program.links:
        return None
    target = program.target
    latency = target.link_latency_cycles + 1
    cables = LinkKind("cable", target.link_width_bits, latency, target.link_flit_cycles)
    wider = replace(target, link_width_bits=2 * target.link_width_bits, link_kinds=(cables,))
    return replace(program, target=wider)


@breaks("capacity: UnknownChip")
def there_is_a_chip_too_few(program: Program) -> Program | None:
    return resized(program, -1) if program.chip_count > 1 else None


@breaks("capacity: IdleChip")
def there_is_a_chip_that_does_nothing(program: Program) -> Program | None:
    return resized(program, 1)
