"""Functions that change no element of some dtypes give the array itself, a view or a new one, as NumPy does.

Not here: views of functions that only change shapes (``test_views_of_functions.py``).
"""

import warnings

import ml_dtypes
import numpy
import pytest

import gpupy

BF16 = ml_dtypes.bfloat16
DTYPES = [*"? i1 u2 i4 u8 f2 f4 f8 F D g O M8[s] m8[s] S3 U2".split(), BF16]

_OF_ONE = """
    abs absolute around asanyarray asarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d
    array ceil conj conjugate copy fabs fix floor imag invert max mean nan_to_num negative positive ravel real
    real_if_close require rint round sign sort squeeze sum trunc unique
""".split()
FUNCTIONS = {name: lambda xp, a, name=name: getattr(xp, name)(a) for name in _OF_ONE} | {
    "append nothing": lambda xp, a: xp.append(a, []),
    "astype": lambda xp, a: xp.astype(a, a.dtype, copy=False),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, a.shape),
    "clip": lambda xp, a: xp.clip(a, None, None),
    "concatenate": lambda xp, a: xp.concatenate([xp.atleast_1d(a)]),
    "delete nothing": lambda xp, a: xp.delete(a, []),
    "diff": lambda xp, a: xp.diff(a, 0),
    "expand_dims": lambda xp, a: xp.expand_dims(a, 0),
    "pad": lambda xp, a: xp.pad(a, 0),
    "repeat": lambda xp, a: xp.repeat(a, 1),
    "reshape": lambda xp, a: xp.reshape(a, a.shape),
    "resize": lambda xp, a: xp.resize(a, a.shape),
    "roll": lambda xp, a: xp.roll(a, 0),
    "tile": lambda xp, a: xp.tile(a, 1),
    "where": lambda xp, a: xp.where(True, a, a),
    "the method astype": lambda xp, a: a.astype(a.dtype, copy=False),
    "the method clip": lambda xp, a: a.clip(None, None),
    "the method conj": lambda xp, a: a.conj(),
    "the method conjugate": lambda xp, a: a.conjugate(),
    "the method copy": lambda xp, a: a.copy(),
    "the method flatten": lambda xp, a: a.flatten(),
    "the method ravel": lambda xp, a: a.ravel(),
    "the method repeat": lambda xp, a: a.repeat(1),
    "the method round": lambda xp, a: a.round(),
    "the method squeeze": lambda xp, a: a.squeeze(),
    "the method view": lambda xp, a: a.view(),
    "the attribute real": lambda xp, a: a.real,
    "the attribute imag": lambda xp, a: a.imag,
    "the attribute T": lambda xp, a: a.T,
    "plus": lambda xp, a: +a,
    "itself in place": lambda xp, a: a.__iadd__(a),
}


def given(xp, dtype, shape):
    values = numpy.arange(6)[: numpy.prod(shape, dtype=int)].reshape(shape)
    return xp.array(values.astype("i8" if dtype == "M8[s]" else dtype).astype(dtype))


def outcome(xp, function, dtype, shape):
    """What a function of an array gives: the array, memory of it or not; the error of one that is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = given(xp, dtype, shape)
        try:
            made = function(xp, a)
        except Exception as error:
            return type(error)
        if not isinstance(made, (numpy.ndarray, gpupy.ndarray)):
            return "no array", getattr(made, "dtype", type(made))
        of_a = None if made.base is None else made.base is a
        return made is a, xp.shares_memory(a, made), of_a, made.dtype, made.shape, made.flags.writeable


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_the_array_a_view_or_a_new_one_as_numpys(auto, name):
    for dtype in DTYPES:
        for shape in ((6,), (2, 3), (3, 2, 1), (1,), ()):
            got, want = (outcome(xp, FUNCTIONS[name], dtype, shape) for xp in (gpupy, numpy))
            assert got == want, (dtype, shape)


@pytest.mark.parametrize("name", ["conj", "conjugate"])
def test_a_conjugate_of_bfloat16_keeps_what_it_was(driver, name):
    a = gpupy.arange(4).astype(BF16)
    made = getattr(a, name)()
    a[0] = 7
    assert made.dtype == BF16 and made.tolist() == [0, 1, 2, 3]
