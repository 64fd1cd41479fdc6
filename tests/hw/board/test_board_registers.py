from hw.board.board_registers import board_registers
from hw.register_map import Access


def test_registers_stand_one_behind_the_other_from_where_bit_31_is_set():
    offsets = [register.offset for register in board_registers()]
    assert offsets == [(1 << 31) + 4 * index for index in range(len(offsets))]


def test_constants_are_those_of_the_board():
    digest = 0x0123_4567_89AB_CDEF
    board = board_registers(clock_hz=25_000_000, link_count=3, digest=digest)
    registers = {r.name: r for r in board}
    assert registers["identity"].value == int.from_bytes(b"BORD", "big")
    assert registers["link_count"].value == 3
    assert registers["clock_hz"].value == 25_000_000
    assert registers["version"].value == 2
    assert registers["digest_high"].value == 0x0123_4567
    assert registers["digest_low"].value == 0x89AB_CDEF
    written = {name: r.access for name, r in registers.items() if r.access is not Access.READ}
    assert written == {"hold": Access.READ_WRITE, "start": Access.WRITE}


def test_what_the_first_version_had_is_where_it_was():
    names = [register.name for register in board_registers()]
    first = ["identity", "hold", "link_count", "links_up", "bus_errors", "clock_hz", "start"]
    assert names[: len(first)] == first
