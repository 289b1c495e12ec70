"""Outputs of ufuncs: written where they lie, whatever they share with operands."""

import numpy
import pytest

import gpupy


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "bool"])
@pytest.mark.parametrize("size", [1, 12, 40_000])
def test_outputs_may_be_operands_or_overlap_them(auto, dtype, size):
    """The second call of a ufunc finds the operation known and writes where the output lies."""
    first = (numpy.arange(size + 4) % 7).astype(dtype)

    def program(xp):
        x = xp.array(first)
        whole, front, back, apart = x * x, x[:-4], x[4:], xp.zeros(size, dtype)
        for _ in range(3):
            xp.add(front, back, back)
            xp.add(back, front, out=front)
            xp.multiply(front, back, out=apart)
            xp.add(apart, front, out=(front,))
            xp.add(whole, whole, whole)
        return [numpy.array(v) for v in (x, whole, apart)]

    for wanted, found in zip(program(numpy), program(gpupy), strict=True):
        numpy.testing.assert_array_equal(found, wanted)


def test_an_output_that_cannot_be_written_is_refused_each_time(auto):
    x, out = gpupy.arange(10, dtype="f4"), gpupy.ones(10, "f4")
    for _ in range(3):
        gpupy.add(x, x, out)
    out.flags.writeable = False
    for _ in range(3):
        with pytest.raises(ValueError, match="read-only"):
            gpupy.add(x, x, out)
    with pytest.raises(ValueError, match="non-broadcastable"):
        gpupy.add(x, x, x[:3])


def test_few_elements_stay_eager_however_long_the_chain():
    """One kernel would save nothing of what stays in a cache, and to record takes longer than to compute."""
    gpupy._gpupy.reconfigure("cpu", strict=False)
    want = numpy.linspace(0, 1, 1000)
    x, y = gpupy.array(want), gpupy.array(want)
    x *= 0.5
    gpupy.reset_stats()
    want = want * 0.5
    for _ in range(400):
        x *= 0.5
        x += y
        want = want * 0.5 + numpy.asarray(y)
    stats = gpupy.stats()
    assert stats.computed_at_once == stats.launches == 800
    numpy.testing.assert_array_equal(numpy.asarray(x), want)
