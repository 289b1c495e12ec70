"""Few complex elements: the bits of many, and one launch for an operation on their parts.

Not here: what each function gives beside NumPy's (`test_dtypes.py`, `test_small_functions.py`).
"""

import operator

import numpy
import pytest

import gpupy

ONE = {
    "abs": abs,
    "conjugate": gpupy.conjugate,
    "isfinite": gpupy.isfinite,
    "isnan": gpupy.isnan,
    "logical_not": gpupy.logical_not,
    "reciprocal": gpupy.reciprocal,
    "rint": gpupy.rint,
    "square": gpupy.square,
}
TWO = {
    "divide": operator.truediv,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "logical_xor": gpupy.logical_xor,
    "maximum": gpupy.maximum,
    "multiply": operator.mul,
}
MANY, FEW = 40_000, 700


def numbers(dtype):
    """Numbers of all sizes, and those that are none."""
    chance = numpy.random.default_rng(3)
    parts = chance.standard_normal((2, MANY)) * 10 ** chance.uniform(-20, 18, (2, MANY))
    given = (parts[0] + 1j * parts[1]).astype(dtype)
    inf, nan = numpy.inf, numpy.nan
    given[:8] = [0, complex(0, -0.0), complex(-0.0, 0), inf, complex(0, inf), nan, complex(inf, nan), 1]
    return given


def bits(array):
    """The bytes of the results; NaN has no sign."""
    array = numpy.ascontiguousarray(array)
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    return numpy.where(numpy.isnan(array), numpy.nan, array).tobytes()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_an_operation_on_parts_is_one_launch_with_the_bits_of_many_elements(auto, name, dtype):
    given = numbers(dtype)
    operands = [given] if name in ONE else [given, numpy.roll(given, 5)]
    function = ONE.get(name) or TWO[name]
    with numpy.errstate(all="ignore"):
        many = numpy.asarray(function(*map(gpupy.array, operands)))[:FEW]
        few = [gpupy.array(values[:FEW]) for values in operands]
        function(*few)
        gpupy.reset_stats()
        made = function(*few)
        assert gpupy.stats().launches <= 1
        assert bits(made) == bits(many)
        steps = [gpupy.array(values[:FEW])[::-3] for values in operands]
        assert bits(function(*steps)) == bits(many[::-3])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_elements_are_numpys_numbers_with_all_bits(auto, dtype):
    given = numbers(dtype)[:90].reshape(9, 10)
    x = gpupy.array(given)
    for read in (lambda a: a[0, 7], lambda a: a[3][-2], lambda a: a.T[4, 1], lambda a: a[2:, 3][...][1]):
        found, want = read(x), read(given)
        assert type(found) is type(want) and found.tobytes() == want.tobytes()
    x[1, 2] = 3 - 4j
    assert x[1, 2] == 3 - 4j and x[1, 3] == given[1, 3]


def test_a_number_beside_few_elements_is_walked_with_them(auto):
    """An operand of one element broadcasts as a number does, wherever its axes are."""
    given = numbers("complex128")[8 : 8 + FEW]
    for number in (1 - 2j, numpy.complex128(0.5j), numpy.array([[2j]]), numpy.array(3 + 1j)):
        one = gpupy.array(number) if isinstance(number, numpy.ndarray) else number
        for left, right in ((given, number), (number, given)):
            ours = [one if part is number else gpupy.array(part) for part in (left, right)]
            made = numpy.asarray(ours[0] * ours[1])
            numpy.testing.assert_allclose(made, left * right, rtol=1e-15, strict=True)
    real = gpupy.array(numpy.arange(12.0).reshape(3, 4))
    for shape in ((), (1,), (1, 1), (1, 1, 1)):
        one = numpy.full(shape, 3.0)
        for given in (real, real.T, real[::2, 1:]):
            want = numpy.asarray(given) - one
            numpy.testing.assert_array_equal(numpy.asarray(given - gpupy.array(one)), want, strict=True)
            numpy.testing.assert_array_equal(numpy.asarray(gpupy.array(one) - given), -want, strict=True)
