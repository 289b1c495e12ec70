"""Scalars serve wherever NumPy's do; those that are pending are of a class of ours."""

import copy
import json
import math
import operator
import pickle

import numpy
import numpy as np
import pytest
from pairs import check

import gpupy


def three(xp, dtype="float32"):
    return xp.array([1, 3, 2], dtype=dtype)[1]


def pending(xp, dtype="float32"):
    """A number in NumPy and a pending one in gpupy, as one comes out of a scope."""
    elements = xp.array([1, 3, 2] * 2000, dtype=dtype), xp.zeros(6000, dtype)
    if xp is numpy:
        return np.maximum(*elements)[1]
    with gpupy.accelerator():
        return gpupy.maximum(*elements)[1]


# Known scalars are NumPy's own, and so are their results with NumPy's arrays and lists, and as an array.
KINDS = {"known": three, "pending": pending}


def test_a_pending_element_is_computed_at_first_need(device):
    s = pending(gpupy)
    assert type(s) is gpupy.scalar
    assert gpupy.stats().blocks_evaluated == 0
    assert s == 3 and gpupy.stats().blocks_evaluated > 0
    assert isinstance(s, np.float32) and isinstance(s, np.floating) and np.isscalar(s)


def test_a_truth_value_that_is_known_is_one_of_numpys_two():
    for size in (1, 3, 64, 2000):
        mask = gpupy.array([True, False] * size)
        assert mask[0] is np.True_ and mask[1] is np.False_ and mask[-1] is np.False_
        assert mask.reshape(2, -1)[0, 0] is np.True_ and list(mask)[1] is np.False_
    assert gpupy.strings.isalpha(gpupy.array(["a", "1"]))[1] is np.False_


def test_a_scalar_keeps_its_value(device):
    a = gpupy.arange(4, dtype=gpupy.float32)
    s = a[2]
    a[2] = 100
    assert float(s) == 2 and float(a[2]) == 100


def as_ours(xp, result):
    return xp.asarray(result) if isinstance(result, np.ndarray) else result


def unchanged(xp, result):
    return result


CALLS = {
    "repr": repr,
    "str": str,
    "format": lambda s: f"{s:.3f}",
    "hash": hash,
    "float": float,
    "int": int,
    "bool": bool,
    "complex": complex,
    "round": round,
    "round 1": lambda s: round(s, 1),
    "sqrt": math.sqrt,
    "floor": math.floor,
    "item": lambda s: s.item(),
    "tolist": lambda s: s.tolist(),
    "dtype": lambda s: s.dtype,
    "shape": lambda s: s.shape,
    "ndim": lambda s: s.ndim,
    "size": lambda s: s.size,
    "nbytes": lambda s: s.nbytes,
    "astype": lambda s: s.astype(np.float64),
    "real": lambda s: s.real,
    "sum": lambda s: s.sum(),
    "key": lambda s: {3: "x"}.get(s),
    "range": lambda s: list(range(s)),
    "index": operator.index,
    "sorted": lambda s: sorted([5, s, 1])[1] == 3,
    "divmod": lambda s: divmod(s, 2),
    "json": lambda s: json.dumps(s.item()),
    "getitem": lambda s: s[()],
    "ellipsis": lambda s: s[...],
    "missing": lambda s: s.no_such_name,
    "percent": lambda s: "%d %s" % (s, s),
    "is_integer": lambda s: s.is_integer(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_uses_of_scalars_are_numpys(device, name, kind):
    for dtype in ("float32", "int32", "bool"):
        made = as_ours if kind == "known" else unchanged
        check(lambda xp: made(xp, CALLS[name](KINDS[kind](xp, dtype))), f"{name} {dtype}")


OTHERS = [2, -2, 0.5, True, np.float32(2), np.float64(2), np.int32(2), np.int64(7), np.ones(3), [1]]
OPS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.eq]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_arithmetic_of_scalars_is_numpys(device, op, kind):
    number, made = KINDS[kind], as_ours if kind == "known" else unchanged
    for dtype in ("float32", "int32", "bool"):
        for other in OTHERS:
            check(lambda xp: made(xp, op(number(xp, dtype), other)), f"{dtype} {op.__name__} {other!r}")
            check(lambda xp: made(xp, op(other, number(xp, dtype))), f"{other!r} {op.__name__} {dtype}")
        for side in ("float32", "int32", "bool"):
            check(lambda xp: op(number(xp, dtype), three(xp, side)), f"{dtype} {side}")
            check(lambda xp: op(three(xp, dtype), number(xp, side)), f"{dtype} {side}")
            check(lambda xp: op(number(xp, dtype), xp.ones(3, side)), f"{dtype} array {side}")
            check(lambda xp: op(xp.ones(3, side), number(xp, dtype)), f"array {side} {dtype}")


EDGES = {
    "int8": [-128, -1, 0, 1, 127],
    "uint8": [0, 1, 200, 255],
    "int64": [-(2**63), -1, 0, 3, 2**63 - 1],
    "uint64": [0, 5, 2**64 - 1],
    "float32": [0.0, -0.0, 1.5, -2.0, 1e-30, 3e38, np.inf, -np.inf, np.nan],
    "float64": [0.0, -0.0, 1.5, -2.0, 1e-300, 1e308, np.inf, -np.inf, np.nan, 5e-324],
    "bool": [False, True],
}
MORE = [*OPS, operator.floordiv, operator.mod, operator.and_, operator.xor, operator.gt, operator.ne]
CALLED = ["maximum", "minimum", "bitwise_or", "negative", "absolute", "sqrt", "invert", "floor"]


@pytest.mark.parametrize("dtype", EDGES)
def test_known_elements_compute_as_numpys_to_the_bit(device, dtype):
    def of(xp, value):
        return xp.array([value], dtype)[0]

    for a in EDGES[dtype]:
        for b in EDGES[dtype]:
            for op in MORE:
                check(lambda xp: op(of(xp, a), of(xp, b)), f"{a!r} {op.__name__} {b!r}")
            for name in CALLED[:3]:
                check(lambda xp: getattr(xp, name)(of(xp, a), of(xp, b)), f"{name} {a!r} {b!r}")
        for name in CALLED[3:]:
            check(lambda xp: getattr(xp, name)(of(xp, a)), f"{name} {a!r}")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "float32", "bool"])
def test_an_element_is_written_as_numpys_is(dtype):
    def program(xp, source, value):
        array = xp.zeros(3, dtype)
        array[1] = xp.array([value], source)[0]
        return array

    for source, values in EDGES.items():
        for value in values:
            check(lambda xp: program(xp, source, value), f"{value!r} of {source} to {dtype}")


def test_elements_are_keys(device):
    check(lambda xp: xp.arange(12).reshape(3, 4)[xp.array([2, 1])[0], xp.array([-1], "int8")[0]])
    check(lambda xp: xp.arange(12)[xp.array([2.0])[0]])
    check(lambda xp: xp.arange(3)[xp.array([7])[0]])


def test_evaluated_scalars_compute_the_same(device):
    s = pending(gpupy)
    float(s)
    assert s + 1 == 4 and (s + 1).dtype == np.float32
    ones = gpupy.ones(2, gpupy.float32)
    assert (s * ones).tolist() == [3, 3] and (ones / s).tolist() == [np.float32(1 / 3)] * 2


def test_scalar_arithmetic_stays_lazy(driver):
    a = gpupy.arange(10, dtype=gpupy.float32)
    scaled = (a - a.min()) / (a.max() - a.min())
    assert gpupy.stats().launches == 0
    assert scaled.tolist() == (np.arange(10, dtype=np.float32) / np.float32(9)).tolist()
    assert gpupy.stats().fallbacks == 0


@pytest.mark.parametrize("kind", KINDS)
def test_scalars_copy_and_pickle(device, kind):
    s = KINDS[kind](gpupy)
    assert copy.copy(s) == s and copy.deepcopy(s) == s
    assert pickle.loads(pickle.dumps(s)) == 3
    assert np.asarray(s).dtype == np.float32 and np.asarray(s).shape == ()
    assert numpy.float32(s) == 3 and numpy.float64(s) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_in_place_operators_rebind_scalars(device, kind):
    def function(xp):
        s = t = KINDS[kind](xp)
        s += 1
        s *= xp.ones(2, xp.float32)
        return [s, t]

    check(function)


def test_walking_an_array_computes_it_once(driver):
    a = gpupy.sqrt(gpupy.arange(500, dtype=gpupy.float32))
    total = most = 0.0
    for i in range(500):
        if a[i] > most:
            most = a[i]
        total += abs(a[i] - 1)
    want = np.sqrt(np.arange(500, dtype=np.float32))
    assert most == want.max()
    np.testing.assert_allclose(float(total), abs(want - 1).sum(), rtol=1e-4)
    assert gpupy.stats().launches <= 50
