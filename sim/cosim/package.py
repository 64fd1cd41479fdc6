"""The Verilog of a program as a folder that stands on its own."""

import json
import shutil
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from compiler.check import require
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor, TensorRole
from compiler.serialize import to_json
from hw.verilog.design import Design, design
from hw.verilog.lint import waivers_file
from sim import reference
from sim.binding import Inputs, bind
from sim.cosim.manifest import manifest, registers, registers_page, window_of
from sim.folders import check_folder, whole_folder
from sim.parts import assembled, part_of
from sim.window_images import window_beats

BENCH_FILES = ("run.py", "test_system.py", "toolchain.py")


def write_package(
    folder: str | Path,
    program: Program,
    *arrays: np.ndarray | None,
    inputs: Inputs | None = None,
    chip: int | None = None,
) -> Design:
    """Write modules, system, manifest, operands, expected results, program and bench.

    Parameters
    ----------
    folder : path
        Folder to make. It must not exist, or be empty.
    *arrays : array or None
        Inputs in the order of ``program.graph.inputs``; ``None`` where the program holds them.
    inputs : mapping, optional
        Inputs by name.
    chip : int, optional
        Write this chip alone, for a board: no system and no bench.

    Raises
    ------
    UncertifiedProgramError
        If the program does not meet its obligations.
    OperandError
        If the inputs do not fit the program.
    OutputFileError
        If the folder cannot be made, or holds something already.
    """
    require(program)
    given, program = program, program.canonical
    check_folder(folder)
    contents = bind(program, *arrays, inputs=inputs)
    verilog = design(program)
    chips = tuple(range(program.chip_count)) if chip is None else (chip,)
    with whole_folder(folder) as made:
        _write_modules(made, verilog, chips, with_top=chip is None)
        _write_operands(made, verilog, contents, chips)
        (made / "program.json").write_text(to_json(given), encoding="utf-8")
        if chip is None:
            _write_bench(made)
    return verilog


def _write_modules(
    folder: Path, verilog: Design, chips: tuple[int, ...], *, with_top: bool
) -> None:
    stated = manifest(verilog, chips=chips, with_top=with_top)
    listed = {module["name"] for module in stated["modules"]}
    for module in (*verilog.modules, verilog.top):
        if module.name in listed or (with_top and module is verilog.top):
            (folder / f"{module.name}.v").write_text(module.text, encoding="utf-8")
        if module.name in listed and module.register_map:
            registers_file = folder / f"{module.name}.registers.json"
            registers_file.write_text(_dumped(registers(module.register_map)), encoding="utf-8")
            page = registers_page(module.name, module.register_map)
            (folder / f"{module.name}.registers.md").write_text(page, encoding="utf-8")
    (folder / "manifest.json").write_text(_dumped(stated), encoding="utf-8")
    (folder / "waivers.vlt").write_text(waivers_file(), encoding="utf-8")


def _write_operands(
    folder: Path, verilog: Design, contents: dict[str, np.ndarray], chips: tuple[int, ...]
) -> None:
    program = verilog.program
    expected = reference.claimed(
        program.graph,
        {name: assembled(program, contents, name) for name in program.graph.inputs},
    )
    for tensor in program.tensors:
        if tensor.chip not in chips:
            continue
        array = contents.get(tensor.name)
        if tensor.role is TensorRole.OUTPUT:
            array = _stored(program, tensor, part_of(expected[tensor.value], tensor))
        assert array is not None
        window = window_of(verilog, tensor)
        beats = window_beats(array, tensor, window)
        digits = 2 * window.beat_bytes
        lines = [f"{int.from_bytes(beat, 'little'):0{digits}x}" for beat in beats]
        (folder / f"{tensor.name}.hex").write_text("\n".join(lines) + "\n", encoding="ascii")


def _stored(program: Program, tensor: Tensor, part: np.ndarray) -> np.ndarray:
    """What a chip stores of an output, in whole tiles.

    Behind the end of the output stands what zero is mapped to.
    """
    behind = np.zeros((tensor.row_tiles * tensor.tile, tensor.col_tiles * tensor.tile), np.int64)
    product = program.graph.product
    if product is not None and product.map is not None:
        behind = reference.mapped(behind, product.map)
    rows, cols = program.real_shape(tensor)
    behind[:rows, :cols] = part[:rows, :cols]
    return behind


def _write_bench(folder: Path) -> None:
    for name in BENCH_FILES:
        with as_file(files("sim.cosim").joinpath("bench", name)) as source:
            shutil.copyfile(source, folder / name)


def _dumped(data: object) -> str:
    return json.dumps(data, indent=1) + "\n"
