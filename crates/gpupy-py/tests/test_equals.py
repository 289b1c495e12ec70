"""Reductions of arrays of equal elements: of any length, with the bits of any other array's."""

import numpy
import pytest

import gpupy

# Around chunks of 256, chunks of chunks, and what comes behind them.
LENGTHS = [1, 2, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 65_792, 65_793, 200_001]


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "int8", "bool"])
def test_they_have_the_bits_of_what_lies_in_memory(driver, dtype):
    for n in LENGTHS:
        for number in (0.1, 1, 3) if dtype.startswith("float") else (1, 3):
            one, all = gpupy.full(n, number, dtype), gpupy.asarray(numpy.full(n, number, dtype))
            for name in ("sum", "prod", "min", "max", "any", "all", "mean"):
                got, wanted = (numpy.asarray(getattr(x, name)()) for x in (one, all))
                assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes(), (name, n, number)


def test_there_may_be_more_than_an_int32_counts(driver):
    rows, columns = 3, 2**31 + 300
    ones = gpupy.ones((rows, columns), numpy.float32)
    assert float(ones.sum()) == pytest.approx(rows * columns)
    assert ones.sum(axis=1).tolist() == [pytest.approx(columns)] * rows
    assert float(ones.sum(axis=0)[-1]) == rows
    assert ones.sum(axis=(0, 1), keepdims=True).shape == (1, 1)
    assert ones.mean(axis=1).tolist() == [pytest.approx(1)] * rows
    assert float(ones.prod()) == float(ones.min()) == float(ones.max()) == 1
    assert bool(ones.any()) and bool(ones.all())
    assert float(gpupy.zeros((rows, columns), numpy.float32).sum()) == 0
    seen = gpupy.broadcast_to(gpupy.ones(1, numpy.float32), (rows, columns))
    assert float(seen.max()) == 1


def test_integers_of_any_number_are_counted_exactly(driver):
    if driver != "cpu":
        pytest.skip("other drivers have no int64 of their own")
    rows, columns = 3, 2**31 + 300
    ones = gpupy.ones((rows, columns), numpy.int8)
    assert int(ones.sum()) == rows * columns
    assert ones.sum(axis=1).tolist() == [columns] * rows
    assert int(ones.sum(axis=0)[-1]) == rows
    assert float(ones.mean()) == 1 and ones.mean(axis=1).tolist() == [1.0] * rows
    assert int(ones.prod()) == 1 and int((ones * 2)[0].prod()) == 0
    assert float(ones.var()) == 0 and float(ones.std(axis=1)[0]) == 0
