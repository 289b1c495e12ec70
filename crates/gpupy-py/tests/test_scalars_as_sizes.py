"""Scalars where NumPy takes a shape, a size, an axis or a count: those of ours are no sequences."""

import collections.abc
import operator

import numpy
import pytest

import gpupy

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()

# Uses of an integer in NumPy's functions; the number is 2.
CALLS = {
    "zeros": lambda xp, n: xp.zeros(n),
    "ones": lambda xp, n: xp.ones(n),
    "empty": lambda xp, n: xp.empty(n).shape,
    "full": lambda xp, n: xp.full(n, 3.0),
    "shapes of several": lambda xp, n: xp.zeros((n, 3, n)),
    "zeros_like": lambda xp, n: xp.zeros_like(xp.ones(3), shape=n),
    "full_like": lambda xp, n: xp.full_like(xp.ones(3), 5, shape=n),
    "broadcast_to": lambda xp, n: xp.broadcast_to(1.5, n),
    "broadcast_shapes": lambda xp, n: xp.broadcast_shapes(n, (3, 1)),
    "arange": lambda xp, n: xp.arange(n),
    "linspace": lambda xp, n: xp.linspace(0, 1, n),
    "logspace": lambda xp, n: xp.logspace(0, 1, n),
    "geomspace": lambda xp, n: xp.geomspace(1, 10, n),
    "eye": lambda xp, n: xp.eye(n, n, n - 1),
    "identity": lambda xp, n: xp.identity(n),
    "tri": lambda xp, n: xp.tri(n, n + 1),
    "indices": lambda xp, n: xp.indices((n, n)),
    "fromfunction": lambda xp, n: xp.fromfunction(lambda i: i * 2, (n,)),
    "vander": lambda xp, n: xp.vander(xp.arange(3.0), n),
    "tril_indices": lambda xp, n: xp.tril_indices(n, 0, n + 1),
    "diag": lambda xp, n: xp.diag(xp.ones(2), n),
    "ravel_multi_index": lambda xp, n: xp.ravel_multi_index((n, n), (5, 5)),
    "unravel_index": lambda xp, n: xp.unravel_index(n, (3, 3)),
    "reshape": lambda xp, n: xp.reshape(xp.arange(6), (n, -1)),
    "the method reshape": lambda xp, n: xp.arange(6).reshape(n, n + 1),
    "resize": lambda xp, n: xp.resize(xp.arange(6), n),
    "tile": lambda xp, n: xp.tile(xp.arange(3), n),
    "repeat": lambda xp, n: xp.repeat(xp.arange(3), n),
    "pad": lambda xp, n: xp.pad(xp.arange(3), n),
    "roll": lambda xp, n: xp.roll(xp.arange(5), n),
    "rot90": lambda xp, n: xp.rot90(xp.arange(6).reshape(2, 3), n),
    "split": lambda xp, n: xp.split(xp.arange(6), n),
    "array_split": lambda xp, n: xp.array_split(xp.arange(7), n),
    "hsplit": lambda xp, n: xp.hsplit(xp.arange(6), n),
    "vsplit": lambda xp, n: xp.vsplit(xp.arange(8).reshape(4, 2), n),
    "dsplit": lambda xp, n: xp.dsplit(xp.arange(8).reshape(2, 2, 2), n),
    "sum": lambda xp, n: xp.sum(xp.ones((2, 3, 4)), n),
    "sum over several axes": lambda xp, n: xp.sum(xp.ones((2, 3, 4)), (0, n)),
    "mean": lambda xp, n: xp.mean(xp.ones((2, 3, 4)), axis=n),
    "cumsum": lambda xp, n: xp.cumsum(xp.ones((2, 3, 4)), axis=n),
    "argmax": lambda xp, n: xp.argmax(xp.ones((2, 3, 4)), axis=n),
    "sort": lambda xp, n: xp.sort(xp.ones((2, 3, 4)), axis=n),
    "median": lambda xp, n: xp.median(xp.ones((2, 3, 4)), axis=n),
    "concatenate": lambda xp, n: xp.concatenate([xp.ones((2, 3, 4))] * 2, axis=n),
    "stack": lambda xp, n: xp.stack([xp.ones((2, 3))] * 2, axis=n),
    "flip": lambda xp, n: xp.flip(xp.ones((2, 3, 4)), n),
    "expand_dims": lambda xp, n: xp.expand_dims(xp.ones((2, 3)), n),
    "squeeze": lambda xp, n: xp.squeeze(xp.ones((2, 3, 1)), n),
    "moveaxis": lambda xp, n: xp.moveaxis(xp.ones((2, 3, 4)), n, 0),
    "swapaxes": lambda xp, n: xp.swapaxes(xp.ones((2, 3, 4)), 0, n),
    "take": lambda xp, n: xp.take(xp.arange(5), n),
    "diff": lambda xp, n: xp.diff(xp.arange(5) ** 2, n),
    "partition": lambda xp, n: xp.partition(xp.array([3, 1, 2, 0]), n),
    "bincount": lambda xp, n: xp.bincount([0, 1], minlength=n),
    "histogram": lambda xp, n: xp.histogram([0.0, 1.0, 2.0], n)[0],
    "histogram2d": lambda xp, n: xp.histogram2d([0.0, 1.0], [0.0, 1.0], n)[0],
    "trace": lambda xp, n: xp.trace(xp.ones((3, 3)), n),
    "cross": lambda xp, n: xp.cross(xp.ones((2, 2, 3)), xp.ones((2, 2, 3)), axis=n),
    "tensordot": lambda xp, n: xp.tensordot(xp.ones((2, 2)), xp.ones((2, 2)), n),
    "round": lambda xp, n: xp.round(xp.array([1.2345]), n),
    "norm": lambda xp, n: xp.linalg.norm(xp.ones((2, 3, 4)), axis=n),
    "matrix_power": lambda xp, n: xp.linalg.matrix_power(xp.ones((2, 2)), n),
    "fft": lambda xp, n: xp.fft.fft(xp.arange(4.0), n),
    "fftfreq": lambda xp, n: xp.fft.fftfreq(n),
    "sliding_window_view": lambda xp, n: xp.lib.stride_tricks.sliding_window_view(xp.arange(5), n),
    "a generator": lambda xp, n: xp.random.default_rng(0).normal(size=n),
    "a generator's integers": lambda xp, n: xp.random.default_rng(0).integers(9, size=n),
    "a generator's choice": lambda xp, n: xp.random.default_rng(0).choice(5, n),
    "a generator's permutation": lambda xp, n: xp.random.default_rng(0).permutation(n),
    "RandomState": lambda xp, n: xp.random.RandomState(0).uniform(size=n),
    "random.rand": lambda xp, n: (xp.random.seed(0), xp.random.rand(n, n))[1],
    "numbers of polynomials": lambda xp, n: xp.polyfit(xp.arange(5.0), xp.arange(5.0) ** 2, n).round(6),
    "roots": lambda xp, n: xp.poly1d(xp.array([-3, -2.5, 3])).roots,
    "masked arrays": lambda xp, n: numpy.asarray(xp.ma.zeros(n)),
    "an index": lambda xp, n: xp.arange(5)[n],
    "a slice": lambda xp, n: xp.arange(5)[:n],
}


# Compiled code of NumPy's that asks for its own classes and takes no other number: (name, dtype) or name.
REFUSED_BY_NUMPY = {"a generator's permutation", ("repeat", "uint64")}


def scalars(dtype):
    """The number 2 as an element, as a known maximum, and as an element and a maximum that are pending."""
    array, many = gpupy.array([2, 0, 0], dtype=dtype), gpupy.array([2, 0, 0] * 2000, dtype=dtype)
    return {
        "an element": array[0],
        "a maximum": array.max(),
        "a pending element": (many + gpupy.zeros(6000, dtype))[0],
        "a pending maximum": (many + gpupy.zeros(6000, dtype)).max(),
    }


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", CALLS)
def test_numpy_takes_a_scalar_of_ours_for_the_number_that_it_is(name, dtype):
    # A driver that leaves a dtype to NumPy gives NumPy's own scalars; this one leaves none.
    gpupy._gpupy.reconfigure("cpu")
    call = CALLS[name]
    try:
        wanted = call(numpy, numpy.dtype(dtype).type(2))
    except (TypeError, ValueError, OverflowError):
        # Some functions take no unsigned numbers of NumPy's own.
        assert dtype.startswith("u")
        return
    for origin, number in scalars(dtype).items():
        for module in (numpy, gpupy):
            of_ours = type(number) is gpupy.scalar
            if of_ours and module is numpy and not REFUSED_BY_NUMPY.isdisjoint({name, (name, dtype)}):
                with pytest.raises((TypeError, ValueError)):
                    call(module, number)
                continue
            found = call(module, number)
            if isinstance(wanted, (list, tuple)) and wanted and hasattr(wanted[0], "shape"):
                pairs = list(zip(found, wanted, strict=True))
            else:
                pairs = [(found, wanted)]
            for got, want in pairs:
                assert numpy.shape(got) == numpy.shape(want), (origin, module.__name__)
                numpy.testing.assert_array_equal(numpy.asarray(got), numpy.asarray(want), strict=False)


def test_scalars_have_what_numpys_scalars_have_of_a_sequence():
    for ours in (gpupy.arange(3).sum(), gpupy.ones(3).sum(), (gpupy.ones(3) > 0).all()):
        theirs = ours._value() if hasattr(ours, "_value") else ours
        for ask in (len, iter, operator.length_hint, reversed):
            outcomes = []
            for value in (ours, theirs):
                try:
                    outcomes.append(ask(value))
                except TypeError as error:
                    outcomes.append(str(error).split(" ", 1)[0])
            assert type(outcomes[0]) is type(outcomes[1]), ask
        for kind in (collections.abc.Sized, collections.abc.Iterable, collections.abc.Sequence):
            assert isinstance(ours, kind) == isinstance(theirs, kind), kind
        assert ours[()] == theirs and ours[...].shape == ()
        with pytest.raises(IndexError, match="invalid index to scalar variable"):
            ours[0]


def test_lists_are_shuffled_as_they_are():
    for module in (numpy, gpupy):
        module.random.seed(3)
        numbers, arrays = list(range(8)), [gpupy.full(2, k) for k in range(8)]
        scalars = [a[0] for a in arrays]
        for given in (numbers, arrays, scalars):
            before = list(given)
            for shuffle in (
                module.random.shuffle,
                module.random.default_rng(1).shuffle,
                module.random.RandomState(1).shuffle,
            ):
                old = list(given)
                shuffle(given)
                assert sorted(map(id, given)) == sorted(map(id, before))
                assert [id(x) for x in given] != [id(x) for x in old], shuffle


def test_functions_get_the_callers_own_lists_and_dictionaries():
    seen = []
    gpupy.apply_along_axis(lambda row, into: into.append(float(row[0])) or 0, 1, gpupy.ones((3, 2)), seen)
    assert seen == [1.0, 1.0, 1.0]
