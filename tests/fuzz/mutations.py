"""Edits of program files, from a slip of the hand to the same change in all places at once."""

import random
import re
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

Path = tuple[str | int, ...]
Edit = Callable[[random.Random, dict[str, Any]], str]

NUMBERS = (
    *(0, -1, 1, 2, 3, 4, 7, 8, 16, 63, 64, 65, 255, 1000, 4097, 10**5, 10**7, 2**20, 2**23),
    *(2**31 - 1, 2**31, -(2**31), 2**40, 2**53, 2**63 - 1, 2**63, -(2**63), 10**12, 10**18, 10**30),
    *(0.5, 1.0, -0.0, 1e308, 2.0**70),
)
TEXTS = (
    *("", "a", "c", "x", "c0", "c0.a", "C0.A", "c0.matmul", "matmul", "a.b", "a_b", "c1->c0"),
    *("up.matmul", "start", "host", "clk", "module", "begin", "chip_0", "barrier_x", "activity"),
    *("../up", "/tmp/x", "a/b", "a b", "a\nholds     well formed", 'a"b', "a'b", "a\\b", "a`b`"),
    *("x); initial $finish; //", "a\x00b", "\ud800", "é", "\u202e", "%s{0}", "$(id)", "a" * 200),
    *("n" * 100_000, "token-mesh", "star", "tree", "mn", "nm", "rows", "cols", "k", "compute"),
    *("int", "float", "int8", "int16", "int32", "bf16", "input", "output", "Fifo", "Interm"),
    *("columns", "row", "col", "tp", "m", "n", "Replicate", "Shard", "At", "hand", "compiler"),
)
BODIES = (
    *("op0", "5", "", "op", "op-1", "(op0 + op0)", "max(op0, max(1, 2))", "max(op0, 0", "op0 + 1"),
    *("(op0 + " + "9" * 30 + ")", "(" * 3000, "max(" * 500 + "op0" + ", 0)" * 500, "op\u0663"),
    *("max(op0, 0) max(op0, 0)", "(1 + op0)", "(op0 + -9223372036854775808)", "max(op1, 0)", None),
)
"""Expressions, and what is none."""
OTHERS = (None, True, False, [], {}, "text", 5, [0], {"type": "Load"}, [[[[]]]])


UNMADE = (KeyError, TypeError, IndexError, ValueError, AttributeError, RecursionError)
"""What an edit ends in where an earlier one has left nothing that it could work on."""


def mutate(document: dict[str, Any], rng: random.Random) -> str:
    """Edit the program of a document in place, some times over, and say how."""
    weights = [weight for _, weight in EDITS]
    count = rng.choice((1, 1, 1, 1, 2, 2, 3, 5))
    edits = rng.choices([edit for edit, _ in EDITS], weights, k=count)
    return "; ".join(_edited(edit, rng, document["program"]) for edit in edits)


def _edited(edit: Edit, rng: random.Random, program: dict[str, Any]) -> str:
    try:
        return edit(rng, program)
    except UNMADE:
        return f"no {edit.__name__}"


def _leaves(value: Any, kind: type, path: Path = ()) -> Iterator[Path]:
    """Where values of exactly a type stand."""
    if type(value) is kind and path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(item, kind, (*path, key))


def _at(program: Any, path: Path) -> Any:
    for key in path:
        program = program[key]
    return program


def _set(program: Any, path: Path, value: object) -> str:
    before = _at(program, path)
    _at(program, path[:-1])[path[-1]] = value
    return f"{_dotted(path)}: {_brief(before)} to {_brief(value)}"


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _brief(value: object) -> str:
    text = ascii(value)
    return text if len(text) < 60 else text[:57] + "..."


def _pick(rng: random.Random, program: Any, kind: type) -> Path | None:
    found = list(_leaves(program, kind))
    return rng.choice(found) if found else None


def _number_near(rng: random.Random, value: int) -> object:
    near = (value + 1, value - 1, 2 * value, value // 2, -value, value + 8)
    return rng.choice(near) if rng.random() < 0.5 else rng.choice(NUMBERS)


def number(rng: random.Random, program: dict[str, Any]) -> str:
    """One number."""
    path = _pick(rng, program, int)
    return _set(program, path, _number_near(rng, _at(program, path))) if path else "nothing"


def number_of_elsewhere(rng: random.Random, program: dict[str, Any]) -> str:
    """One number, with the value of another."""
    found = list(_leaves(program, int))
    return _set(program, rng.choice(found), _at(program, rng.choice(found)))


def number_of_all(rng: random.Random, program: dict[str, Any]) -> str:
    """A field of all records alike: every latency, every tile, every width."""
    found = list(_leaves(program, int))
    field = rng.choice([path[-1] for path in found if isinstance(path[-1], str)])
    value = _number_near(rng, _at(program, next(p for p in found if p[-1] == field)))
    for path in found:
        if path[-1] == field:
            _set(program, path, value)
    return f"every {field}: {_brief(value)}"


def number_everywhere(rng: random.Random, program: dict[str, Any]) -> str:
    """A number, wherever it stands."""
    found = list(_leaves(program, int))
    before = _at(program, rng.choice(found))
    value = _number_near(rng, before)
    for path in found:
        if _at(program, path) == before:
            _set(program, path, value)
    return f"every number {before}: {_brief(value)}"


def chips_exchanged(rng: random.Random, program: dict[str, Any]) -> str:
    """Two chips with each other's coordinates, in all places."""
    count = prod(axis["size"] for axis in program["mesh"]["axes"])
    if not 1 < count < 100:
        return "nothing"
    one, other = rng.sample(range(count), 2)
    fields = ("chip", "source_chip", "destination_chip", "home")
    for path in list(_leaves(program, int)):
        if path[-1] in fields or "chips" in path[-2:]:
            value = _at(program, path)
            _set(program, path, {one: other, other: one}.get(value, value))
    return f"chips {one} and {other} exchanged"


def text(rng: random.Random, program: dict[str, Any]) -> str:
    """One text."""
    path = _pick(rng, program, str)
    return _set(program, path, rng.choice(TEXTS)) if path else "nothing"


def text_of_elsewhere(rng: random.Random, program: dict[str, Any]) -> str:
    """One text, with that of another."""
    found = list(_leaves(program, str))
    return _set(program, rng.choice(found), _at(program, rng.choice(found)))


def text_everywhere(rng: random.Random, program: dict[str, Any]) -> str:
    """A text, wherever it stands: a name with all that use it."""
    found = list(_leaves(program, str))
    before = _at(program, rng.choice(found))
    value = rng.choice(TEXTS) if rng.random() < 0.7 else _at(program, rng.choice(found))
    for path in found:
        if _at(program, path) == before:
            _set(program, path, value)
    return f"every {_brief(before)}: {_brief(value)}"


def part_of_names(rng: random.Random, program: dict[str, Any]) -> str:
    """A part of all names: every chip's prefix, every joint."""
    old, new = rng.choice(
        (("c0.", "c1."), ("c0.", "up."), (".", "_"), (".", "\n"), ("a", "A"), ("->", "/"))
    )
    for path in list(_leaves(program, str)):
        if path[0] != "target":
            _set(program, path, str(_at(program, path)).replace(old, new))
    return f"{_brief(old)} in every text: {_brief(new)}"


def other_type(rng: random.Random, program: dict[str, Any]) -> str:
    """One value of any kind, with one of another."""
    kinds = (int, str, list, dict, type(None))
    path = _pick(rng, program, rng.choice(kinds))
    return _set(program, path, rng.choice(OTHERS)) if path else "nothing"


def emptied(rng: random.Random, program: dict[str, Any]) -> str:
    """One value that may be left open, left open."""
    fields = ("site", "engine", "depth", "handoff", "link", "walk", "block_count", "order")
    kinds = (int, str, dict)
    found = [p for kind in kinds for p in _leaves(program, kind) if p[-1] in fields]
    return _set(program, rng.choice([*found, ("schedule",)]), None)


def _lists(program: dict[str, Any]) -> list[Path]:
    return [path for path in _leaves(program, list) if _at(program, path)]


def removed(rng: random.Random, program: dict[str, Any]) -> str:
    """An item of a list, gone."""
    path = rng.choice(_lists(program) or [()])
    if not path:
        return "nothing"
    items = _at(program, path)
    index = rng.randrange(len(items))
    items.pop(index)
    return f"{_dotted(path)}[{index}] removed"


def repeated(rng: random.Random, program: dict[str, Any]) -> str:
    """An item of a list, twice."""
    path = rng.choice(_lists(program) or [()])
    if not path:
        return "nothing"
    items = _at(program, path)
    index = rng.randrange(len(items))
    items.insert(rng.randrange(len(items) + 1), _copied(items[index]))
    return f"{_dotted(path)}[{index}] repeated"


def reordered(rng: random.Random, program: dict[str, Any]) -> str:
    """A list in another order."""
    path = rng.choice(_lists(program) or [()])
    if not path:
        return "nothing"
    rng.shuffle(_at(program, path))
    return f"{_dotted(path)} in another order"


def exchanged(rng: random.Random, program: dict[str, Any]) -> str:
    """Two values of one field, each in the place of the other."""
    kind = rng.choice((int, str, dict, list))
    path = _pick(rng, program, kind)
    alike = [p for p in _leaves(program, kind) if path and p[-1] == path[-1]]
    if not path or any(other[: len(path)] == path for other in alike if other != path):
        return "nothing"
    other = rng.choice(alike)
    if path[: len(other)] == other:
        return "nothing"
    one, two = _at(program, path), _at(program, other)
    _set(program, path, two)
    _set(program, other, one)
    return f"{_dotted(path)} and {_dotted(other)} exchanged"


def field_gone(rng: random.Random, program: dict[str, Any]) -> str:
    """A field missing, or one too many."""
    path = _pick(rng, program, dict)
    record = _at(program, path) if path else program
    if record and rng.random() < 0.5:
        field = rng.choice(list(record))
        del record[field]
        return f"{_dotted(path or ())}.{field} removed"
    record[rng.choice(TEXTS)] = 1
    return f"{_dotted(path or ())} with a field too many"


def body_grown(rng: random.Random, program: dict[str, Any]) -> str:
    """An expression, with more around it."""
    found = _bodies(program)
    if not found:
        return "nothing"
    path, levels = rng.choice(found), rng.choice((1, 2, 40, 140, 1030, 2000))
    body = _at(program, path)
    for _ in range(levels):
        literal = rng.choice((0, 1, -5))
        body = f"({body} + {literal})" if rng.random() < 0.5 else f"max({body}, {literal})"
    _at(program, path[:-1])[path[-1]] = body
    return f"{_dotted(path)}: {levels} operations around it"


def _bodies(program: dict[str, Any]) -> list[Path]:
    return [path for path in _leaves(program, str) if path[-1] in ("body", "map")]


def body_spelled(rng: random.Random, program: dict[str, Any]) -> str:
    """An expression, spelled otherwise: pieces of it gone, doubled or in another order."""
    found = _bodies(program)
    if not found or rng.random() < 0.2:
        fields = [("graph", "operations", 0, "map"), *found]
        return _set(program, rng.choice(fields), rng.choice(BODIES))
    path = rng.choice(found)
    pieces = re.findall(r"op[0-9]+|-?[0-9]+|max|.", _at(program, path))
    place = rng.randrange(len(pieces))
    match rng.choice(("drop", "twice", "swap", "other")):
        case "drop":
            pieces.pop(place)
        case "twice":
            pieces.insert(place, pieces[place])
        case "swap":
            pieces[place], pieces[0] = pieces[0], pieces[place]
        case _:
            pieces[place] = rng.choice(("op0", "op1", "op9", "max(", "(", ")", " + ", ", ", "7"))
    return _set(program, path, "".join(pieces))


def site_moved(rng: random.Random, program: dict[str, Any]) -> str:
    """A stage and what it fills, on another chip or at another coordinate."""
    stages = [s for s in program["stages"] if isinstance(s, dict) and isinstance(s["site"], dict)]
    if not stages:
        return "nothing"
    stage, field = rng.choice(stages), rng.choice(("chip", "x", "y"))
    value = rng.choice((0, 1, 2, 7))
    stage["site"][field] = value
    for buffer in program["buffers"]:
        if buffer["name"] in stage["outs"] and isinstance(buffer["site"], dict):
            buffer["site"][field] = value
    return f"{_brief(stage['name'])} with its buffers at {field} = {value}"


def tensor_unused(rng: random.Random, program: dict[str, Any]) -> str:
    """A tensor more, with a place in memory and no use."""
    tensor = _copied(rng.choice(program["tensors"]))
    tensor["name"] = rng.choice(("spare", "c0.spare", "c1.spare"))
    program["tensors"].insert(rng.randrange(len(program["tensors"]) + 1), tensor)
    end = max(place["address"] + place["size_bytes"] for place in program["memory"])
    place = {"owner": tensor["name"], "chip": tensor["chip"], "address": end, "size_bytes": 4096}
    program["memory"].append(place)
    return f"tensor {tensor['name']} that nothing uses"


def mesh_reshaped(rng: random.Random, program: dict[str, Any]) -> str:
    """Axes of the mesh: exchanged, split, joined, renamed, or one more; layouts go along or not."""
    axes = program["mesh"]["axes"]
    layouts = [value["layout"] for value in program["graph"]["values"]]
    layouts += [layout for buffer in program["buffers"] for layout in buffer["holds"]]
    if rng.random() < 0.3:
        layouts = []
    act = rng.choice(("turn", "sizes", "more", "name", "size", "fewer"))
    match act:
        case "turn":
            for items in (axes, *layouts):
                items.reverse()
        case "sizes":
            axes[0]["size"], axes[-1]["size"] = axes[-1]["size"], axes[0]["size"]
        case "more":
            axes.append({"name": "more", "size": rng.choice((1, 1, 2))})
            for layout in layouts:
                layout.append({"type": "Replicate"})
        case "name":
            before, name = rng.choice(axes)["name"], rng.choice(("q", "row", "", "Q", "a" * 40))
            for path in list(_leaves(program, str)):
                if _at(program, path) == before and path[-1] in ("name", "axis"):
                    _set(program, path, name)
        case "size":
            rng.choice(axes)["size"] = rng.choice(NUMBERS)
        case _:
            for items in (axes, *layouts):
                items.pop()
    return f"mesh: {act}, {'with' if layouts else 'without'} layouts"


def placement(rng: random.Random, program: dict[str, Any]) -> str:
    """What is said along one axis: of one layout, or of all that say the same."""
    kinds = ("Replicate", "Shard", "Partial", "At")
    found = [p for p in _leaves(program, dict) if _at(program, p).get("type") in kinds]
    path, other = rng.choice(found), rng.choice(_placements(rng))
    before = _copied(_at(program, path))
    if rng.random() < 0.5:
        return _set(program, path, other)
    for each in found:
        if _at(program, each) == before:
            _set(program, each, _copied(other))
    return f"every {_brief(before)}: {_brief(other)}"


def _placements(rng: random.Random) -> list[dict[str, Any]]:
    return [
        {"type": "Replicate"},
        {"type": "Shard", "dim": rng.choice(("m", "n", "k", "q", ""))},
        {"type": "Partial", "of": rng.sample(range(4), rng.randrange(4))},
        {"type": "Partial", "of": [rng.choice(NUMBERS)]},
        {"type": "At", "index": rng.choice((0, 1, -1, 7))},
    ]


def layout_length(rng: random.Random, program: dict[str, Any]) -> str:
    """A layout with a placement more or fewer, or a buffer with a turn more or fewer."""
    found = [p for p in _lists(program) if p[-1] in ("layout", "holds") or "holds" in p[-2:]]
    path = rng.choice(found)
    items = _at(program, path)
    if rng.random() < 0.5:
        items.append(_copied(items[0]))
        return f"{_dotted(path)} longer"
    items.pop()
    return f"{_dotted(path)} shorter"


def turns(rng: random.Random, program: dict[str, Any]) -> str:
    """Turns of a merge or a split, or of all of them alike, with the layouts of what they pass."""
    found = [path for path in _leaves(program, list) if path[-1] == "turns"]
    if not found:
        return edge_led(rng, program)
    chosen = found if rng.random() < 0.6 else [rng.choice(found)]
    act = rng.choice(("back", "twice", "more", "around", "pairs"))
    number = rng.choice((0, 1, 1, 2, -1, 10**6))

    def of(items: list[Any]) -> list[Any]:
        match act:
            case "back":
                return items[::-1]
            case "twice":
                return items * 2
            case "more":
                return [*items, number if isinstance(items[0], int) else items[0]]
            case "pairs":
                return [item for item in items for _ in range(2)]
            case _:
                return [*items[1:], *items[:1]]

    for path in chosen:
        _set(program, path, of(_at(program, path)))
    says_so = rng.random() < 0.6
    for buffer in program["buffers"]:
        if says_so and len(buffer["holds"]) > 1:
            buffer["holds"] = _copied(of(buffer["holds"]))
    return f"turns: {act} at {len(chosen)} of {len(found)}{', said' if says_so else ''}"


def edge_led(rng: random.Random, program: dict[str, Any]) -> str:
    """An edge that is still to pass chips, or one on another link."""
    edge = rng.choice(program["edges"])
    if rng.random() < 0.5:
        edge["via"] = rng.choice(([0], [1], [2, 1], [-1], [10**12], [1, 1], [0] * 5000))
        return f"{_brief(edge['name'])} via {_brief(edge['via'])}"
    edge["link"] = rng.choice([link["name"] for link in program["links"]] or ["none"])
    return f"{_brief(edge['name'])} over {edge['link']}"


def part_moved(rng: random.Random, program: dict[str, Any]) -> str:
    """Where tensors stand in their values: one moved, two exchanged, or a boundary shifted."""
    tensors = program["tensors"]
    one, other = rng.choice(tensors), rng.choice(tensors)
    field, extent = rng.choice((("row", "rows"), ("col", "cols")))
    step = rng.choice((program["tile"], 1, -program["tile"], 2 * program["tile"]))
    match rng.choice(("move", "exchange", "whole", "boundary")):
        case "move":
            one["part"][field] += step
            return f"{one['name']} moved by {step} along {field}"
        case "exchange":
            one["part"], other["part"] = other["part"], one["part"]
            return f"parts of {one['name']} and {other['name']} exchanged"
        case "whole":
            one["part"]["of"] = other["part"]["of"]
            return f"{one['name']} is of {other['part']['of']}"
        case _:
            ends = {tensor["part"][field] for tensor in tensors} - {0}
            for tensor in tensors:
                begin, end = tensor["part"][field], tensor["part"][field] + tensor[extent]
                tensor["part"][field] += step * (begin in ends)
                tensor[extent] += step * ((end in ends) - (begin in ends))
            return f"boundaries along {field} shifted by {step}"


def chooser(rng: random.Random, program: dict[str, Any]) -> str:
    """Who is said to have made a decision."""
    decisions = ("depth", "engine", "handoff", "order")
    path = rng.choice([p for p in _leaves(program, dict) if p[-1] in decisions])
    value = rng.choice(("hand", "compiler", "somebody", "", 5, None, ["hand"]))
    _at(program, path)["by"] = value
    return f"{_dotted(path)}.by: {_brief(value)}"


def orientation(rng: random.Random, program: dict[str, Any]) -> str:
    """What is a row and what a column: in one place, or in all."""
    found = [path for path in _leaves(program, str) if path[-1] == "orientation"]
    chosen = found if rng.random() < 0.3 else [rng.choice(found)]
    for path in chosen:
        _set(program, path, {"rows": "columns"}.get(_at(program, path), "rows"))
    return f"{len(chosen)} of {len(found)} orientations turned"


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


EDITS: tuple[tuple[Edit, int], ...] = (
    (number, 16),
    (number_of_elsewhere, 5),
    (number_of_all, 10),
    (number_everywhere, 10),
    (chips_exchanged, 5),
    (text, 6),
    (text_of_elsewhere, 5),
    (text_everywhere, 12),
    (part_of_names, 4),
    (other_type, 3),
    (emptied, 3),
    (removed, 4),
    (repeated, 4),
    (reordered, 8),
    (exchanged, 6),
    (field_gone, 1),
    (body_grown, 3),
    (body_spelled, 3),
    (mesh_reshaped, 6),
    (placement, 6),
    (layout_length, 2),
    (turns, 6),
    (edge_led, 2),
    (part_moved, 6),
    (chooser, 2),
    (orientation, 3),
    (site_moved, 3),
    (tensor_unused, 2),
)
"""Every edit, and how often it is made."""
