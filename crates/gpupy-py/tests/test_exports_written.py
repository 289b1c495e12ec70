"""Writes to pinned bases are seen by exports; expressions on pinned bases keep their elements."""

import numpy as np
import pytest
from exported import VIEWS

import gpupy

WRITES = {
    "an element": lambda xp, a: a.__setitem__(3, 9),
    "an element, last": lambda xp, a: a.__setitem__(-1, -2.5),
    "a slice by a number": lambda xp, a: a.__setitem__(slice(1, None, 2), 4),
    "a slice by itself": lambda xp, a: a.__setitem__(slice(1, None), a[:-1]),
    "a slice, reversed": lambda xp, a: a.__setitem__(slice(None), a[::-1]),
    "all by an expression": lambda xp, a: a.__setitem__(slice(None), a * 3 + xp.arange(float(a.size))),
    "a mask": lambda xp, a: a.__setitem__(a > 5, 1),
    "a mask by elements": lambda xp, a: a.__setitem__(a > 5, a[a > 5] * 2),
    "an index array": lambda xp, a: a.__setitem__(xp.array([0, 2, 2, -1]), xp.array([5.0, 6, 7, 8])),
    "+=": lambda xp, a: a.__iadd__(1),
    "*= of a part": lambda xp, a: a[2:].__imul__(a[:-2]),
    "**=": lambda xp, a: a.__ipow__(2),
    "out=": lambda xp, a: xp.add(a, a[::-1], out=a),
    "fill": lambda xp, a: a.fill(3),
    "sort": lambda xp, a: a.sort(),
    "flat": lambda xp, a: a.flat.__setitem__(2, 6),
    "flat slice": lambda xp, a: a.flat.__setitem__(slice(1, 4), [6, 7, 8]),
    "copyto": lambda xp, a: xp.copyto(a, 8),
    "copyto where": lambda xp, a: xp.copyto(a, 8, where=a > 2),
    "put": lambda xp, a: xp.put(a, [1, 3], [20, 30]),
    "place": lambda xp, a: xp.place(a, a > 3, [1, 2]),
    "putmask": lambda xp, a: xp.putmask(a, a > 3, a * 2),
    "bits": lambda xp, a: a.view("u8").__setitem__(slice(0, 3), 0),
    "half of the bits": lambda xp, a: a.view("u4").__setitem__(slice(1, None, 2), 0),
    "bits by an index array": lambda xp, a: a.view("i8").__setitem__(xp.array([1, 2]), 0),
    "a part of pairs": lambda xp, a: a[: a.size // 2 * 2].view("c16").real.__setitem__(slice(None), 4),
    "nan_to_num": lambda xp, a: xp.nan_to_num(a, copy=False, posinf=1.0),
    "cumsum out": lambda xp, a: xp.cumsum(a, out=a),
    "matmul out": lambda xp, a: xp.matmul(xp.eye(4), a[:4].copy(), out=a[:4]),
    "a row from python": lambda xp, a: a.__setitem__(slice(0, 3), [1, 2, 3]),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("n", [8, 1025])
def test_every_way_of_writing_reaches_the_exports_and_no_earlier_expression(device, n, write):
    _write_and_compare(n, WRITES[write])


@pytest.mark.parametrize("write", WRITES)
def test_every_way_of_writing_much_reaches_the_exports_and_no_earlier_expression(driver, write):
    _write_and_compare(40_000, WRITES[write])


def _write_and_compare(n, write):
    results = {}
    for xp in (gpupy, np):
        a = (xp.arange(float(n)) * 7) % 11
        before, pending = a + 0, a * 2 + 1
        export = np.asarray(a)
        during = a * 3
        export[1] = 100
        write(xp, a)
        after = a * 5
        export[2] = 50
        results[xp] = [np.array(x.tolist()) for x in (before, pending, during, after, a, a[::-2])]
        assert export.tolist() == a.tolist()
    for got, want in zip(*results.values(), strict=True):
        np.testing.assert_array_equal(got, want)


INTO = {
    "itself": lambda xp, a, v: v.__iadd__(1),
    "itself twice": lambda xp, a, v: xp.add(v, v, out=v),
    "several operations": lambda xp, a, v: xp.hypot(v, v, out=v),
    "others": lambda xp, a, v: xp.multiply(xp.arange(float(v.size)), 2, out=v),
    "by a scalar of the base": lambda xp, a, v: xp.multiply(v, a[0], out=v),
    "reversed": lambda xp, a, v: xp.add(v, v[::-1], out=v),
    "moved": lambda xp, a, v: xp.add(v[1:], v[:-1], out=v[1:]),
    "moved back": lambda xp, a, v: xp.add(v[1:], v[:-1], out=v[:-1]),
    "spread": lambda xp, a, v: xp.add(v, v[:1], out=v),
    "other elements": lambda xp, a, v: xp.add(v[: v.size // 2], 1, out=v[v.size // 2 :][: v.size // 2]),
    "bits": lambda xp, a, v: v.view("i8").__iand__(-2) if v.strides == (8,) else v.__imul__(3),
    "bits of what is written": lambda xp, a, v: xp.add(v, a.view("i8")[: v.size], out=v),
    "bits moved": lambda xp, a, v: xp.add(v[1:], a.view("i8")[: v.size - 1], out=v[1:]),
    "halves moved": lambda xp, a, v: xp.add(v[1:], a.view("u4")[: v.size - 1], out=v[1:]),
    "a mask": lambda xp, a, v: v.__setitem__(v > 5, 3),
    "a mask, by the base": lambda xp, a, v: v.__setitem__(a[: v.size] > 5, a[1]),
    "places": lambda xp, a, v: v.__setitem__(xp.arange(0, v.size, 3), 8),
    "places, by the base": lambda xp, a, v: v.__setitem__(
        xp.arange(0, v.size // 2), v[v.size // 2 :][: v.size // 2]
    ),
    "nothing to do": lambda xp, a, v: xp.multiply(v, 1, out=v),
    "another dtype": lambda xp, a, v: xp.add(v, xp.arange(v.size), out=v),
}


@pytest.mark.parametrize("into", INTO)
def test_an_operation_writes_into_pinned_memory_itself(driver, into):
    views = ["whole", "slice", "strided", "reversed", "reversed strided", "second column"]
    sizes = [40_000, 1026, 32_770]
    for view, n in zip(views, sizes * 2, strict=True):
        got = {}
        for xp in (gpupy, np):
            a = (xp.arange(float(n)) * 7) % 11 + 1
            export = np.asarray(a)
            where = export.__array_interface__["data"]
            INTO[into](xp, a, VIEWS[view](a))
            assert np.asarray(a).__array_interface__["data"] == where
            got[xp] = [export.tolist(), a.tolist(), (a * 2).tolist()]
        assert got[gpupy] == got[np], (view, n)


def test_foreign_memory_that_overlaps_is_read_before_it_is_written(driver):
    for n in (1026, 40_000):
        for shift in (1, 700):
            got = []
            for xp in (gpupy, np):
                memory = np.arange(float(n))
                x = xp.asarray(memory[:-shift], copy=False)
                y = xp.asarray(memory[shift:], copy=False)
                xp.add(x, 1, out=y)
                xp.multiply(y, 2, out=x)
                got.append(memory.tolist())
            assert got[0] == got[1], (n, shift)


@pytest.mark.parametrize("write", ["+=", "a mask", "out"])
def test_large_work_on_pinned_memory_makes_no_copy(write):
    gpupy._gpupy.reconfigure("cpu")
    a = gpupy.arange(1e6) * 2
    b = gpupy.arange(1e6)
    export = np.asarray(a)
    gpupy.evaluate(b)
    before = gpupy.stats().in_place
    WRITES.get(write, lambda xp, a: xp.add(a, b, out=a))(gpupy, a)
    assert gpupy.stats().in_place > before
    assert export.tolist() == a.tolist()


OPERATIONS = {
    "map": lambda xp, a: xp.sqrt(a) * 2 + a,
    "itself": lambda xp, a: a * 1,
    "itself, shown": lambda xp, a: +a,
    "copy": lambda xp, a: a.copy(),
    "copy of a part": lambda xp, a: a[5:].copy(),
    "reversed": lambda xp, a: a[::-1] + a,
    "sum": lambda xp, a: a.sum(),
    "max": lambda xp, a: a[1:].max(),
    "cumsum": lambda xp, a: a.cumsum(),
    "sorted": lambda xp, a: xp.sort(a),
    "argsort": lambda xp, a: xp.argsort(a, kind="stable"),
    "argmax": lambda xp, a: a.argmax(),
    "joined": lambda xp, a: xp.concatenate([a, a[::-1]]),
    "picked": lambda xp, a: a[xp.array([1, 5, -1])],
    "masked": lambda xp, a: a[a > 4],
    "where": lambda xp, a: xp.where(a > 4, a, -a),
    "product": lambda xp, a: xp.dot(a, a),
    "matrix": lambda xp, a: a[:1000].reshape(10, -1) @ a[:1000].reshape(10, -1).T,
    "cast": lambda xp, a: a.astype("f4"),
    "bits": lambda xp, a: a.view("i8") >> 1,
    "rolled": lambda xp, a: xp.roll(a, 3),
    "square power": lambda xp, a: a.astype("i8") ** 3,
    "by numpy": lambda xp, a: xp.median(a),
    "einsum": lambda xp, a: xp.einsum("i,i", a, a),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_on_a_pinned_base_has_its_elements_of_then(device, operation):
    _operate_and_compare(1000, OPERATIONS[operation])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_on_a_large_pinned_base_has_its_elements_of_then(driver, operation):
    _operate_and_compare(40_000, OPERATIONS[operation])


def _operate_and_compare(n, operation):
    results = []
    for xp in (gpupy, np):
        a = (xp.arange(float(n)) * 7) % 11
        export = np.asarray(a)
        first = operation(xp, a)
        export[:] = export[::-1] + 1
        second = operation(xp, a)
        export[:] = 0
        results.append([np.array(x.tolist()) for x in (first, second)])
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
