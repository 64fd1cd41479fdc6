"""What the commands make of a file: a typed refusal or the right answer, and nothing else."""

import json
import random
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from compiler.check import check
from compiler.ir.body import Add, Body, Literal, Max
from compiler.ir.init import Const, External, Pattern, Values, Zero
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor
from compiler.serialize import from_json, to_json
from shardwright.cli import main
from sim.interpreter import interpret

SMALL_CYCLES = 400
SMALL_MULTIPLIERS = 32


class WrongError(Exception):
    """A command did what it must not do; the message says what."""


@dataclass
class Judge:
    """Holds the commands to what they may do with a file.

    Parameters
    ----------
    folder : path
        Where files are written.
    hardware : int
        How many programs that the check accepts are simulated and emitted as Verilog.
    """

    folder: Path
    hardware: int
    counts: dict[str, int] = field(default_factory=dict)

    def checked(self, document: dict[str, Any], seed: str) -> Program | None:
        """Check and show a file, and interpret it; the program, if it is accepted.

        Raises
        ------
        WrongError
            If a command ends in anything but a refusal or the right answer.
        """
        text = json.dumps(document)
        path = self.folder / "program.json"
        path.write_text(text, encoding="utf-8")
        checked = self._invoke("check", path)
        self._invoke("show", "--program", path)
        if checked.exit_code:
            form = checked.output.startswith("error: program file:")
            formless = "VIOLATED  well formed" in checked.output
            kind = "no program" if form else "not well formed" if formless else "violated"
            self._count(kind)
            return None
        self._count("accepted")
        program = from_json(text)
        program = replace(program, certificate=check(program))
        self._interpreted(program, seed)
        return program

    def simulated(self, program: Program) -> None:
        """Run and emit a program that the check accepts, if it is small and their number allows.

        Raises
        ------
        WrongError
            If it is not exact, takes other cycles than stated, or is refused.
        """
        if self._count_of("simulated") >= self.hardware or not _is_small(program):
            return
        self._count("simulated")
        path = self.folder / "program.json"
        path.write_text(to_json(program), encoding="utf-8")
        self._simulated(path, program)

    def _interpreted(self, program: Program, seed: str) -> None:
        """The interpreter and numpy agree, over the whole range of the operands."""
        a, b = _operands(program, seed)
        product = program.claim
        left, right = (
            _whole(program, given, name) for given, name in ((a, product.left), (b, product.right))
        )
        wanted = _claimed(program, left, right)
        stored = interpret(program, a, b).stored
        covered = np.zeros(wanted.shape, dtype=bool)
        for tensor in program.tensors_of[product.output]:
            place = _place(tensor)
            part = wanted[place]
            covered[place] = True
            got = stored[tensor.name][: part.shape[0], : part.shape[1]]
            if not np.array_equal(got, part):
                raise WrongError(f"{tensor.name} is {got.tolist()}, not {part.tolist()}")
        if not covered.all():
            raise WrongError(f"the chips have not stored all of {product.output}")

    def _simulated(self, path: Path, program: Program) -> None:
        """The hardware is exact and takes the stated cycles, and can be written as Verilog."""
        assert program.schedule is not None
        run = self._invoke("run", "--program", path, "--json")
        if run.exit_code:
            raise WrongError(f"run refuses what check accepts: {run.output}")
        said = json.loads(run.stdout)
        if not said["exact"] or said["cycles"] != program.schedule.cycles:
            raise WrongError(
                f"run says exact {said['exact']}, {said['cycles']} cycles of "
                f"{program.schedule.cycles}"
            )
        place = self.folder / "verilog"
        written = self._invoke("verilog", "--program", path, "-o", place)
        if written.exit_code:
            raise WrongError(f"verilog refuses what check accepts: {written.output}")
        if {entry.name for entry in self.folder.iterdir()} - {"program.json", "verilog"}:
            raise WrongError("verilog writes outside of its folder")
        shutil.rmtree(place)

    def _invoke(self, *arguments: object) -> Result:
        result = CliRunner().invoke(main, [*map(str, arguments)])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        for line in result.output.splitlines():
            if not line.isprintable():
                raise WrongError(f"{arguments[0]} prints {line!r}")
        if result.exit_code and not result.output:
            raise WrongError(f"{arguments[0]} says nothing")
        return result

    def _count(self, kind: str) -> None:
        self.counts[kind] = self._count_of(kind) + 1

    def _count_of(self, kind: str) -> int:
        return self.counts.get(kind, 0)


def _is_small(program: Program) -> bool:
    assert program.schedule is not None
    multipliers = program.chip_count * program.tile**2
    latencies = sum(link.latency_cycles for link in program.links)
    cycles = program.schedule.cycles + latencies
    depths = sum(buffer.depth_pages or 0 for buffer in program.buffers)
    return max(cycles, depths) <= SMALL_CYCLES and multipliers <= SMALL_MULTIPLIERS


def _operands(program: Program, seed: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Operands that the program does not hold itself, within their ranges."""
    rng = np.random.default_rng(random.Random(seed).randrange(2**32))
    claim = program.claim
    drawn: list[np.ndarray | None] = []
    for whole, shape in ((claim.left, (claim.m, claim.k)), (claim.right, (claim.k, claim.n))):
        first = program.tensors_of[whole][0]
        span = first.value_range
        external = isinstance(first.init, External)
        drawn.append(rng.integers(span.low, span.high + 1, shape) if external else None)
    return drawn[0], drawn[1]


def _whole(program: Program, given: np.ndarray | None, name: str) -> np.ndarray:
    """An operand, put together by the places of its parts where the program holds it."""
    if given is not None:
        return given.astype(object)
    value = program.graph.value_by_name[name]
    whole = np.zeros((value.rows, value.cols), dtype=object)
    for tensor in program.tensors_of[name]:
        place = _place(tensor)
        whole[place] = _values(tensor, whole[place].shape)
    return whole


def _place(tensor: Tensor) -> tuple[slice, slice]:
    """Where the elements of a tensor stand in its value, which may end before it does."""
    row, col = tensor.part.row, tensor.part.col
    return slice(row, row + tensor.rows), slice(col, col + tensor.cols)


def _values(tensor: Tensor, shape: tuple[int, int]) -> np.ndarray:
    positions = np.arange(shape[0] * shape[1]).reshape(shape).astype(object)
    match tensor.init:
        case Zero():
            return positions * 0
        case Const(value):
            return positions * 0 + value
        case Pattern(modulus, shift):
            return positions % modulus - shift
        case Values(values):
            return np.array(values, dtype=object).reshape(shape)
        case other:
            raise WrongError(f"{tensor.name} is filled with {other}")


def _claimed(program: Program, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What the program claims, in integers without an end."""
    product = a.dot(b)
    return _mapped(program.claim.map, product) if program.claim.map else product


def _mapped(body: Body, value: np.ndarray) -> np.ndarray:
    match body:
        case Literal(number):
            return value * 0 + number
        case Add(left, right):
            return _mapped(left, value) + _mapped(right, value)
        case Max(left, right):
            return np.maximum(_mapped(left, value), _mapped(right, value))
        case _:
            return value
