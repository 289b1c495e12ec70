"""Sums of integers by ``at`` and ``reduceat``: NumPy's, whatever the indices are, on any driver."""

import numpy as np
import pytest
from pairs import check

import gpupy

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


def integers(dtype, shape, seed):
    ends = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(ends.min, ends.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["add", "subtract"])
def test_elements_are_changed_as_often_as_they_are_named(forbidding, name, dtype):
    a, more = integers(dtype, 12, 1), integers(dtype, (3, 5), 2)
    places = np.random.default_rng(3).integers(-12, 12, (3, 5))

    def changed(xp, places, values, view=slice(None)):
        given = xp.array(a)
        getattr(xp, name).at(given[view], xp.asarray(places), values)
        return given

    check(lambda xp: changed(xp, places, xp.asarray(more)))
    check(lambda xp: changed(xp, places, more[0, 0]))
    if dtype != "uint64":
        check(lambda xp: changed(xp, places, 3))
    check(lambda xp: changed(xp, places % 6, xp.asarray(more), slice(None, None, -2)))
    check(lambda xp: changed(xp, [0, 0, 1], xp.asarray(more[0, :3]).astype("int8").astype(dtype)))


def test_calls_with_other_arguments_are_numpys(auto):
    def changed(xp, a, *rest):
        given = xp.array(a)
        xp.add.at(given, *[xp.asarray(x) if isinstance(x, np.ndarray) else x for x in rest])
        return given

    whole, places = np.arange(6), np.array([0, 5, 5])
    with gpupy.fallback("warn"):
        for rest in (
            (np.array([6]), 1),
            (np.array([-7]), 1),
            (places, 2.5),
            (places, np.arange(4)),
            (places, 10**30),
            (places[:0], 1),
            (places > 1, 1),
            (np.array([], int), np.array([], int)),
            (slice(1, 3), 1),
            (3, 4),
        ):
            check(lambda xp: changed(xp, whole, *rest), rest)
        check(lambda xp: changed(xp, integers("uint64", 6, 1), places, 3))
        check(lambda xp: changed(xp, whole * 0.1, places, np.array([0.1, 0.2, 1e17])))
        check(lambda xp: changed(xp, whole.reshape(2, 3), np.array([0, 1, 1]), 1))
        check(lambda xp: changed(xp, whole.astype("int8"), places, np.arange(3)))
        check(lambda xp: changed(xp, np.broadcast_to(whole, (1, 6))[0], places, 1))


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_segments(forbidding, dtype):
    a = integers(dtype, (4, 9), 4) if dtype != "bool" else integers("int8", (4, 9), 4) > 0
    for starts in ([0], [0, 3, 6], [8, 2, 2, 5, 0], [3, 3]):
        check(lambda xp: xp.add.reduceat(xp.asarray(a), starts, axis=1), starts)
        check(lambda xp: xp.add.reduceat(xp.asarray(a)[:, ::-1], xp.asarray(starts), -1), starts)
        check(lambda xp: xp.add.reduceat(xp.asarray(a)[2], np.array(starts, "int32")), starts)
        check(lambda xp: xp.add.reduceat(xp.asarray(a).T, starts), starts)


def test_segments_with_other_arguments_are_numpys(auto):
    a = np.arange(12).reshape(3, 4)
    with gpupy.fallback("warn"):
        for starts in ([4], [-1], [], [[0]], [0.5], 1):
            check(lambda xp: xp.add.reduceat(xp.asarray(a), starts, 1), starts)
        check(lambda xp: xp.add.reduceat(xp.asarray(a), [0, 1], 2))
        check(lambda xp: xp.add.reduceat(xp.asarray(a), [0, 1], dtype="int8"))
        check(lambda xp: xp.add.reduceat(xp.asarray(a), [0, 1], out=xp.zeros((2, 4), int)))
        check(lambda xp: xp.add.reduceat(xp.asarray(a) * 0.1, [0, 2]))
        check(lambda xp: xp.multiply.reduceat(xp.asarray(a), [0, 2]))
