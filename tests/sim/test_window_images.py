"""Matrices in the windows of a host port, byte by byte."""

import numpy as np
import pytest

from hw.chip_registers import chip_register_map
from sim.errors import InexactValueError
from sim.window_images import matrix_of_window, window_beats
from tests.programs import program_for, random_operands


@pytest.mark.parametrize("tile", [1, 2, 3, 4, 8])
def test_a_window_holds_tiles_of_operands_by_columns_and_by_rows(tile):
    program = program_for(5, 3, 7, chips=1, tile=tile)
    operands = dict(zip("ab", random_operands(program, tile), strict=True))
    for name, array in operands.items():
        window = chip_register_map(program, 0).window(name)
        (tensor,) = (each for each in program.tensors if each.name.endswith(name))
        beats = window_beats(array, tensor, window)
        padded = np.zeros([-(-extent // tile) * tile for extent in array.shape], int)
        padded[: array.shape[0], : array.shape[1]] = array
        expected = []
        for row in range(0, padded.shape[0], tile):
            for col in range(0, padded.shape[1], tile):
                block = padded[row : row + tile, col : col + tile]
                expected += list(block.T if name == "a" else block)
        assert len(beats) == len(expected) == window.beats
        for beat, lanes in zip(beats, expected, strict=True):
            assert list(beat) == [*(lane & 0xFF for lane in lanes), *[0] * (len(beat) - tile)]
            assert len(beat) == window.beat_bytes


@pytest.mark.parametrize("tile", [1, 2, 3, 4])
def test_a_result_is_read_from_its_window(tile):
    program = program_for(5, 3, 7, chips=1, tile=tile)
    (tensor,) = (each for each in program.tensors if each.role == "output")
    window = chip_register_map(program, 0).window("c")
    c = np.random.default_rng(tile).integers(-(2**31), 2**31, (5, 3)).astype(np.int32)
    padded = np.zeros((-(-5 // tile) * tile, -(-3 // tile) * tile), "<i4")
    padded[:5, :3] = c
    beats = [
        padded[row + line, col : col + tile].tobytes().ljust(window.beat_bytes, b"\xee")
        for row in range(0, padded.shape[0], tile)
        for col in range(0, padded.shape[1], tile)
        for line in range(tile)
    ]
    assert np.array_equal(matrix_of_window(beats, tensor), c)


def test_what_a_window_does_not_hold_is_refused():
    program = program_for(2, 2, 2, chips=1, tile=2)
    windows = chip_register_map(program, 0)
    for name, value in (("a", 128), ("c", 2**31)):
        array = np.zeros((2, 2), np.int64)
        array[0, 1] = value
        tensor = program.tensor_by_name[name]
        with pytest.raises(InexactValueError, match=rf"{name} holds {value} at \(0, 1\)"):
            window_beats(array, tensor, windows.window(name))
