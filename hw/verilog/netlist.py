"""A netlist cut down to what is read, with operands that are as wide as their results."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from hw.verilog.demand import LOW_BITS, OUTPUTS, Demand
from hw.verilog.rtlil import Assign, Case, Cell, Module, Statement, Switch
from hw.verilog.signals import Bits, Signal, Slice, join, part, resized, width_of, wires_of

COMPARISONS = frozenset({"$eq", "$ne", "$lt", "$le", "$gt", "$ge"})
REDUCTIONS = frozenset({"$reduce_bool", "$reduce_or", "$reduce_and", "$reduce_xor"})
IGNORED = frozenset({"$check", "$print", "$meminit_v2"})
"""Cells for simulation: assertions, and contents of memories, which start undefined."""
KNOWN = LOW_BITS | COMPARISONS | REDUCTIONS | IGNORED | {"$shift", "$dff", "$memrd_v2", "$memwr_v2"}


def trimmed(modules: list[Module]) -> list[Module]:
    """The same modules without what nobody reads, and with exact widths.

    Aliases are replaced by what they stand for, except where they drive an output. Operators keep
    the bits that are read, and their operands are made as wide as they are; only the operands of a
    product stay as they are. Inner modules lose the ports that nobody reads, and those that are
    empty then are left out.

    Parameters
    ----------
    modules : list of :class:`Module`
        The outermost module and those inside of it, each instantiated once.

    Raises
    ------
    :exc:`ValueError`
        If a cell is of no known kind, or has options that are not provided for.
    """
    for cell in (cell for module in modules for cell in module.cells):
        _check(cell, {module.name for module in modules})
    modules = [_simplified(_with_selections(_without_aliases(module))) for module in modules]
    demand = Demand(modules)
    alive = {module.name: _alive(module, demand, top=module is modules[0]) for module in modules}
    for name in [name for name, module in alive.items() if _is_empty(module)]:
        del alive[name]
    return [_exact(_joined(module, alive)) for module in alive.values()]


def _check(cell: Cell, modules: set[str]) -> None:
    if cell.kind not in KNOWN | modules:
        raise ValueError(f"Cell must be of a known kind, not {cell.kind!r}")
    if not cell.parameters.get("CLK_POLARITY", 1):
        raise ValueError(f"Cell {cell.name!r} must be clocked by a rising edge")
    if cell.parameters.get("TRANSPARENCY_MASK"):
        raise ValueError(f"Read port {cell.name!r} must show a word as it was before a write")


def _without_aliases(module: Module) -> Module:
    outputs = {w: s for w, s in module.aliases.items() if module.wires[w].direction == "output"}
    cells = [cell for cell in module.cells if cell.kind not in IGNORED]
    return _replaced(replace(module, cells=cells, aliases=outputs), module.aliases)


def _replaced(module: Module, aliases: dict[str, Signal]) -> Module:
    """The module with wires replaced by signals, wherever they are read."""

    def resolved(signal: Signal) -> Signal:
        return join(
            *(
                part(aliases[piece.wire], piece.start, piece.width)
                if isinstance(piece, Slice) and piece.wire in aliases
                else (piece,)
                for piece in signal
            )
        )

    cells = [
        replace(cell, ports={name: resolved(signal) for name, signal in cell.ports.items()})
        for cell in module.cells
    ]
    return replace(
        module,
        cells=cells,
        processes={w: _reading(body, resolved) for w, body in module.processes.items()},
        aliases={w: resolved(signal) for w, signal in module.aliases.items()},
    )


def _reading(
    body: Iterable[Statement], change: Callable[[Signal], Signal]
) -> tuple[Statement, ...]:
    """Statements with every signal that they read changed."""
    return tuple(
        replace(statement, value=change(statement.value))
        if isinstance(statement, Assign)
        else Switch(
            change(statement.subject),
            tuple(replace(case, body=_reading(case.body, change)) for case in statement.cases),
        )
        for statement in body
    )


def _with_selections(module: Module) -> Module:
    """Shifts by a multiple of a constant become ``$select``: word ``B`` of ``A``."""
    scaled: dict[str, tuple[Signal, int]] = {}
    for cell in module.cells:
        match cell.kind, cell.ports.get("B"):
            case "$mul", (Bits(factor, _),):
                (product,) = wires_of(cell.ports["Y"])
                scaled[product] = (cell.ports["A"], factor)

    def selection(cell: Cell) -> Cell:
        if cell.kind != "$shift":
            return cell
        index, stride = cell.ports["B"], 1
        match index:
            case (Slice(product, 0, width),) if (
                product in scaled and width == module.wires[product].width
            ):
                index, stride = scaled[product]
        return Cell(
            "$select",
            cell.name,
            {"STRIDE": stride, "A_SIGNED": cell.parameters["A_SIGNED"]},
            {**cell.ports, "B": index},
        )

    return replace(module, cells=[selection(cell) for cell in module.cells])


def _simplified(module: Module) -> Module:
    """The module without operators that do nothing, or what another one does already.

    Of operators that do the same, one that has a name stays.
    """
    while aliases := _superfluous(module):
        cells = [c for c in module.cells if wires_of(c.ports.get("Y", ())).isdisjoint(aliases)]
        outputs = {w: s for w, s in aliases.items() if module.wires[w].direction == "output"}
        module = replace(module, cells=cells, aliases={**module.aliases, **outputs})
        module = _replaced(module, aliases)
    return module


def _superfluous(module: Module) -> dict[str, Signal]:
    """Wires that an operator drives for nothing, with the signals that they equal."""
    aliases: dict[str, Signal] = {}
    alike: dict[tuple[object, ...], list[str]] = {}
    for cell in module.cells:
        if "Y" not in cell.ports:
            continue
        (output,) = wires_of(cell.ports["Y"])
        equal = _folded(cell)
        if equal is not None:
            aliases[output] = equal
            continue
        inputs = tuple((port, signal) for port, signal in cell.ports.items() if port != "Y")
        alike.setdefault((cell.kind, *cell.parameters.items(), inputs), []).append(output)
    for wires in alike.values():
        first, *others = sorted(wires, key=lambda wire: wire.startswith("$"))
        aliases |= {other: (Slice(first, 0, module.wires[first].width),) for other in others}
    return {
        wire: signal for wire, signal in aliases.items() if not wires_of(signal) & aliases.keys()
    }


def _folded(cell: Cell) -> Signal | None:
    """What an operator is equal to, if that is a constant or one of its operands."""
    match cell.kind, cell.ports.get("A"), cell.ports.get("B"):
        case "$eq" | "$ne", _, _:
            both = [_compared(cell, port) for port in ("A", "B")]
            if not any(wires_of(side) for side in both):
                return (Bits(int((both[0] == both[1]) == (cell.kind == "$eq")), 1),)
        case ("$and", other, (Bits(1, 1),)) | ("$and", (Bits(1, 1),), other):
            return other
        case ("$or", other, (Bits(0, 1),)) | ("$or", (Bits(0, 1),), other):
            return other
    return None


def _compared(cell: Cell, port: str) -> Signal:
    """An operand of a comparison, as wide as the wider one."""
    width = max(1, width_of(cell.ports["A"]), width_of(cell.ports["B"]))
    return resized(cell.ports[port], width, signed=bool(cell.parameters[f"{port}_SIGNED"]))


def _alive(module: Module, demand: Demand, *, top: bool) -> Module:
    """The module without what nobody reads. A wire that an operator drives keeps the bits read."""
    bits, memories = demand.bits[module.name], demand.memories[module.name]
    trimmed_wires = set(module.processes)
    for cell in module.cells:
        if cell.kind in LOW_BITS:
            trimmed_wires |= wires_of(cell.ports["Y"])
    wires = {
        name: replace(wire, width=bits[name])
        if name in trimmed_wires and not wire.direction
        else wire
        for name, wire in module.wires.items()
        if name in bits or (top and wire.direction)
    }

    def lives(cell: Cell) -> bool:
        if cell.kind == "$memwr_v2":
            return cell.parameters["MEMID"] in memories
        if not cell.kind.startswith("$"):
            return True
        return not wires_of(cell.ports[OUTPUTS.get(cell.kind, "Y")]).isdisjoint(bits)

    return replace(
        module,
        wires=wires,
        memories={name: size for name, size in module.memories.items() if name in memories},
        cells=[cell for cell in module.cells if lives(cell)],
        processes={
            wire: _low_bits(body, wires[wire].width)
            for wire, body in module.processes.items()
            if wire in wires
        },
        aliases={wire: signal for wire, signal in module.aliases.items() if wire in wires},
    )


def _low_bits(body: Iterable[Statement], width: int) -> tuple[Statement, ...]:
    """Statements without what they assign above ``width`` bits; neighbours are assigned as one."""
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, Switch):
            cases = tuple(Case(c.patterns, _low_bits(c.body, width)) for c in statement.cases)
            kept.append(Switch(statement.subject, cases))
        elif statement.target.start < width:
            bits = min(statement.target.width, width - statement.target.start)
            assign = Assign(replace(statement.target, width=bits), part(statement.value, 0, bits))
            match kept:
                case [*_, Assign(Slice(wire, start, below), value)] if (
                    start + below == assign.target.start
                ):
                    target = Slice(wire, start, below + bits)
                    kept[-1] = Assign(target, join(value, assign.value))
                case _:
                    kept.append(assign)
    return tuple(kept)


def _is_empty(module: Module) -> bool:
    return not (module.cells or module.processes or module.aliases)


def _joined(module: Module, modules: dict[str, Module]) -> Module:
    """The module with instances of what is left, joined to the ports that are left."""
    cells = [
        replace(cell, ports={p: s for p, s in cell.ports.items() if p in modules[cell.kind].wires})
        if cell.kind in modules
        else cell
        for cell in module.cells
        if cell.kind in modules or cell.kind.startswith("$")
    ]
    return replace(module, cells=cells)


def _exact(module: Module) -> Module:
    """The module with operands as wide as their results, or as each other where they compare."""

    def fitted(cell: Cell) -> Cell:
        ports = dict(cell.ports)
        if cell.kind in LOW_BITS:
            (output,) = ports["Y"]
            assert isinstance(output, Slice)
            width = min(output.width, module.wires[output.wire].width)
            ports["Y"] = (Slice(output.wire, 0, width),)
        elif cell.kind in COMPARISONS:
            return replace(cell, ports=ports | {port: _compared(cell, port) for port in ("A", "B")})
        else:
            return cell
        for name in {"A", "B"} & ports.keys():
            signed = bool(cell.parameters.get(f"{name}_SIGNED"))
            if not (cell.kind == "$mul" and signed) or width_of(ports[name]) > width:
                ports[name] = resized(ports[name], width, signed=signed)
        return replace(cell, ports=ports)

    return replace(module, cells=[fitted(cell) for cell in module.cells])
