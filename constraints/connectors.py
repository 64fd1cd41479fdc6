"""What the platform class of a board knows: its connectors, its resources, their package pins."""

from collections.abc import Iterator
from importlib import import_module
from inspect import isabstract
from typing import Any

from amaranth.build import DiffPairs, Pins, Platform, Subsignal

from constraints.errors import UnknownPlatformError, UnknownResourceError


def platform_class(board: str, platform: str) -> type[Platform]:
    """The class that ``platform`` names, as ``"module:Class"``.

    Raises
    ------
    UnknownPlatformError
        If it cannot be imported, is no platform, or is one that boards are yet to be made of;
        ``board`` is named as the one that asks.
    """
    module, _, name = platform.partition(":")
    try:
        found = getattr(import_module(module), name, None)
    except (ImportError, TypeError, ValueError) as failure:
        why = str(failure)
        raise UnknownPlatformError(board=board, platform=platform, why=why) from failure
    if not (isinstance(found, type) and issubclass(found, Platform)):
        why = f"it is {found!r}"
        raise UnknownPlatformError(board=board, platform=platform, why=why)
    if isabstract(found):
        lacks = ", ".join(sorted(found.__abstractmethods__))
        why = f"it is of no one board, for it does not state {lacks}"
        raise UnknownPlatformError(board=board, platform=platform, why=why)
    return found


def connector_pins(platform: type[Platform]) -> Iterator[tuple[str, str, str]]:
    """Connector, pin and package pin of every pin of every connector."""
    mapping = _mapping(platform)
    for connector in platform.connectors:
        for pin in connector.mapping:
            package = mapping[f"{connector.name}_{connector.number}:{pin}"]
            while ":" in package:
                package = mapping[package]
            yield f"{connector.name} {connector.number}", pin, package


def resource_pins(
    platform: type[Platform], *, board: str, field: str, resource: str
) -> dict[str, tuple[str, ...]]:
    """Package pins of ``resource``, as ``"uart 0"``, by signal; of a plain one under ``""``.

    Raises
    ------
    UnknownResourceError
        If the platform has no such resource; ``field`` of ``board`` is named as what asks.
    """
    found = find_resource(platform, board=board, field=field, resource=resource)
    mapping = _mapping(platform)
    return {
        name: tuple(pins.map_names(mapping, found)) for name, pins in _pins("", found) if pins.names
    }


def find_resource(platform: type[Platform], *, board: str, field: str, resource: str) -> Any:
    """The resource of that name, as :func:`resource_pins` finds it."""
    by_name = {f"{each.name} {each.number}": each for each in platform.resources}
    if resource not in by_name:
        known = tuple(sorted(by_name))
        raise UnknownResourceError(board=board, field=field, resource=resource, known=known)
    return by_name[resource]


def _mapping(platform: type[Platform]) -> dict[str, str]:
    return {
        f"{connector.name}_{connector.number}:{pin}": package
        for connector in platform.connectors
        for pin, package in connector.mapping.items()
    }


def _pins(name: str, signal: Subsignal) -> Iterator[tuple[str, Pins]]:
    for io in signal.ios:
        if isinstance(io, Subsignal):
            yield from _pins(f"{name}.{io.name}" if name else io.name, io)
        elif isinstance(io, DiffPairs):
            yield from ((name, io.p), (f"{name}.n" if name else "n", io.n))
        else:
            yield name, io
