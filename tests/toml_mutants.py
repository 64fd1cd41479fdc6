"""TOML files that are nearly right: the entries of one, with some changed."""

import json
import random
from copy import deepcopy
from typing import Any

ODD_VALUES = (
    *(0, -1, 1, 2, 2**31, 2**53, 2**63 - 1, -(2**63), 1.5, float("nan"), float("inf")),
    *(True, False, "", "a", "..", "int8", "\x00", "ü\n\u2028\U0001f600", "x" * 3000),
    *([], [[]], ["int8"], [1], {}, {"a": 1}, [{}], [{"name": 3}], [True], [""]),
)
TEXTS = (
    *("9" * 5000, "0x" + "f" * 5000, "[" * 3000 + "]" * 3000, "{a=" * 500 + "1" + "}" * 500),
    *("2024-13-45", "25:61:61", "1979-05-27T00:00:00+23:59", "1979-05-27", "07:32:00", '"\\ud800"'),
    *("1e400", "-inf", '"""', "'", "]", "#", "\ufeff", "\\", "=", "0o777", "9223372036854775808"),
)
"""Values as text, which need not be TOML."""


class Raw(str):
    """Text that stands in a file as it is."""


def dumped(entries: dict[str, Any]) -> str:
    """TOML of entries; tables are written in one line."""
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in entries.items())


def mutant(rng: random.Random, entries: dict[str, Any]) -> str:
    """A file that differs from the right one in one to three places."""
    changed = deepcopy(entries)
    for _ in range(rng.randint(1, 3)):
        _change(rng, rng.choice(_containers(changed)))
    text = dumped(changed)
    if rng.random() < 0.1:
        position = rng.randrange(len(text))
        text = text[:position] + rng.choice(TEXTS) + text[position + rng.randrange(3) :]
    return text


def _containers(value: Any) -> list[Any]:
    """A table or list, and all that it holds."""
    inner = value.values() if isinstance(value, dict) else value
    below = [
        each for child in inner if isinstance(child, dict | list) for each in _containers(child)
    ]
    return [value, *below]


def _change(rng: random.Random, container: Any) -> None:
    odd = Raw(rng.choice(TEXTS)) if rng.random() < 0.1 else deepcopy(rng.choice(ODD_VALUES))
    places = list(container) if isinstance(container, dict) else range(len(container))
    act = rng.choice(("set", "set", "set", "drop", "add", "swap")) if places else "add"
    match act:
        case "set":
            container[rng.choice(places)] = odd
        case "drop":
            del container[rng.choice(places)]
        case "add" if isinstance(container, dict):
            container[rng.choice(("name", "links", "planning_only", "extra", "", "ü"))] = odd
        case "add":
            container.append(odd)
        case _:
            first, second = rng.choice(places), rng.choice(places)
            container[first], container[second] = container[second], container[first]


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) if name == "" or not name.isascii() else name


def _value(value: Any) -> str:
    match value:
        case Raw():
            return value
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value)  # whose escapes are those of TOML, but for surrogate pairs
        case dict():
            inner = (f"{json.dumps(name)} = {_value(each)}" for name, each in value.items())
            return f"{{{', '.join(inner)}}}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return str(value)
