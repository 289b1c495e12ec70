"""What is only moved keeps every bit, of signalling NaN too, of each dtype and for sizes of each way to move.

The oracle is NumPy. Not here: the bits of what is computed (``test_dtypes.py``).
"""

import numpy
import pytest

import gpupy

UNSIGNED = {2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}


def _specials(dtype):
    """Bits of NaN of both kinds and signs, of infinities and numbers; of two bytes, all there are."""
    size = numpy.dtype(dtype).itemsize
    if size == 2:
        return numpy.arange(65536, dtype=numpy.uint16)
    fraction, unsigned = (23 if size == 4 else 52), UNSIGNED[size]
    infinity = ((1 << (8 * size - 1 - fraction)) - 1) << fraction
    starts = [
        infinity,
        infinity | 1 << (8 * size - 1),
        infinity | 1 << (fraction - 1),
        1 << (8 * size - 1),
        0,
    ]
    return numpy.concatenate([unsigned(start) + numpy.arange(5000, dtype=unsigned) for start in starts])


def _written(np, a, write):
    made = np.zeros(a.shape, a.dtype)
    write(made)
    return made


def _few(np, a):
    return np.arange(a.size) % 3 == 0


# Conditions tell no subnormal number from zero, as a device may flush it there.
MOVES = {
    "copy": lambda np, a: a.copy(),
    "a cast to its own dtype": lambda np, a: a.astype(a.dtype),
    "backwards": lambda np, a: a[::-1].copy(),
    "steps": lambda np, a: a[1::3].copy(),
    "transpose": lambda np, a: a.reshape(8, -1).T.copy(),
    "axes swapped": lambda np, a: np.swapaxes(a.reshape(2, 4, -1), 0, 2).copy(),
    "concatenate": lambda np, a: np.concatenate([a, a[::-1]]),
    "stack": lambda np, a: np.stack([a, a], axis=1),
    "roll": lambda np, a: np.roll(a, 5),
    "pad": lambda np, a: np.pad(a, 3),
    "tile": lambda np, a: np.tile(a, 2),
    "repeat": lambda np, a: np.repeat(a, 2),
    "broadcast": lambda np, a: np.broadcast_to(a, (3, a.size)).copy(),
    "take": lambda np, a: np.take(a, np.arange(a.size)[::-1]),
    "index": lambda np, a: a[np.arange(a.size) // 2],
    "along": lambda np, a: np.take_along_axis(a, np.arange(a.size)[::-1], 0),
    "mask": lambda np, a: a[_few(np, a)],
    "compress": lambda np, a: np.compress(_few(np, a), a),
    "insert": lambda np, a: np.insert(a, 1, 0),
    "delete": lambda np, a: np.delete(a, 1),
    "where": lambda np, a: np.where(_few(np, a), a, a[::-1]),
    "where, beside a number": lambda np, a: np.where(_few(np, a), a, np.asarray(0, a.dtype)),
    "where, by itself": lambda np, a: np.where(np.isnan(a), a, a[::-1]),
    "where, by what is computed of it": lambda np, a: np.where(a + a > 2, a[::-1], a),
    "where, nested": lambda np, a: np.where(_few(np, a), np.where(a > 1, a, a[::-1]), np.roll(a, 1)),
    "select": lambda np, a: np.select([_few(np, a)], [a], a[::-1]),
    "choose": lambda np, a: np.choose(np.arange(a.size) % 2, [a, a[::-1]]),
    "a triangle": lambda np, a: np.tril(a.reshape(8, -1)),
    "an assignment": lambda np, a: _written(np, a, lambda x: x.__setitem__(slice(1, None), a[1:])),
    "one by a mask": lambda np, a: _written(np, a, lambda x: x.__setitem__(_few(np, a), a[_few(np, a)])),
    "one by an index": lambda np, a: _written(np, a, lambda x: x.__setitem__(np.arange(a.size)[::-1], a)),
    "putmask": lambda np, a: _written(np, a, lambda x: np.putmask(x, _few(np, a), a)),
    "copyto": lambda np, a: _written(np, a, lambda x: np.copyto(x, a, where=_few(np, a))),
    "one element": lambda np, a: _written(np, a, lambda x: x.__setitem__(..., a[7])),
    "a number of one element": lambda np, a: np.full(40, a[-1], a.dtype),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_moves_keep_every_bit(device, dtype, move):
    ml_dtypes = pytest.importorskip("ml_dtypes") if dtype == "bfloat16" else None
    dtype = numpy.dtype(ml_dtypes.bfloat16 if ml_dtypes else dtype)
    bits = _specials(dtype)
    for some in (
        bits,
        bits[bits.size // 2 - 24 :][:48],
        bits[31744:32000] if bits.size > 32000 else bits[:64],
    ):
        theirs = some.copy().view(dtype)
        with numpy.errstate(all="ignore"):
            wanted = numpy.asarray(MOVES[move](numpy, theirs))
            found = numpy.asarray(MOVES[move](gpupy, gpupy.asarray(theirs)))
        unsigned = UNSIGNED[dtype.itemsize]
        assert found.dtype == wanted.dtype
        numpy.testing.assert_array_equal(found.view(unsigned), wanted.view(unsigned))
