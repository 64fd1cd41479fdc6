"""The part of a model's C interface that depends on the chip: where its ports and memories are."""

from collections.abc import Iterable, Iterator

from hw.names import local_name
from sim.compiled.ports import ChipPorts, LinkEnd, chunk_count


def glue(ports: ChipPorts) -> str:
    """C++ that moves a chip's links, and points to its memories and counters."""
    return "\n".join(
        [
            "namespace {",
            "void take_lanes(Model &model, const Lane *lanes, uint64_t cycle) {",
            *(line for index, end in enumerate(ports.ends) for line in _take(index, end)),
            "}",
            "void give_lanes(const Model &model, const Lane *lanes, uint64_t cycle) {",
            *(line for index, end in enumerate(ports.ends) for line in _give(index, end)),
            "}",
            "uint32_t *memory_words(Model &model, uint32_t index) {",
            *_choice(
                f"model.{member_name(_memory_path(tensor.name), 'memory_p_')}.data[0].data"
                for tensor in ports.tensors
            ),
            "}",
            "uint32_t counter_value(const Model &model, uint32_t index) {",
            *_choice(f"now(model.{member_name(name)}).data[0]" for name in ports.counters),
            "}",
            "}",
        ]
    )


def member_name(name: str, prefix: str = "p_") -> str:
    """How CXXRTL calls the member for a public RTLIL name."""
    return prefix + "".join(
        c if c.isascii() and c.isalnum() else "__" if c == "_" else f"_{ord(c):02x}_" for c in name
    )


def lane_words(signals: Iterable[tuple[str, int]]) -> int:
    """Machine words of one slot of a lane that carries these signals."""
    return sum(chunk_count(bits) for _, bits in signals)


def _memory_path(tensor: str) -> str:
    return f"chip.memory_{local_name(tensor)}.memory"


def _take(index: int, end: LinkEnd) -> Iterator[str]:
    yield f"    const uint32_t *from_{index} = lanes[{index}].arrived(cycle);"
    for name, _ in end.backward if end.sends else end.forward:
        port = member_name(f"{end.port}__{name}")
        yield f"    from_{index} = take(model.{port}, from_{index});"


def _give(index: int, end: LinkEnd) -> Iterator[str]:
    yield f"    uint32_t *to_{index} = lanes[{index}].left(cycle);"
    for name, _ in end.forward if end.sends else end.backward:
        port = member_name(f"{end.port}__{name}")
        yield f"    to_{index} = give(model.{port}, to_{index});"


def _choice(values: Iterable[str]) -> Iterator[str]:
    yield "    switch (index) {"
    for index, value in enumerate(values):
        yield f"    case {index}: return {value};"
    yield "    default: return 0;"
    yield "    }"
