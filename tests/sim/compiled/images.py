"""What the memories of a program hold for given operands."""

import numpy as np

from compiler.ir.program import Program
from compiler.ir.tensor import Tensor, TensorRole
from tests.hw.system_bench import tensor_beats


def images(program: Program, a: np.ndarray, b: np.ndarray) -> dict[str, list[int]]:
    """Words of every tensor that comes from outside."""
    claim = program.claim
    return _words(program, TensorRole.INPUT, {claim.left: a, claim.right: b})


def results(program: Program, a: np.ndarray, b: np.ndarray) -> dict[str, list[int]]:
    """Words of every output after a run, of a product without a map."""
    return _words(program, TensorRole.OUTPUT, {program.claim.output: a @ b})


def _words(
    program: Program, role: TensorRole, values: dict[str, np.ndarray]
) -> dict[str, list[int]]:
    return {
        tensor.name: [_word(beat, tensor) for beat in tensor_beats(values[tensor.value], tensor)]
        for tensor in program.tensors
        if tensor.role is role
    }


def _word(beat: list[int], tensor: Tensor) -> int:
    """A beat as bits, lane 0 in the lowest."""
    bits = tensor.dtype.bits
    return sum((lane % (1 << bits)) << index * bits for index, lane in enumerate(beat))
