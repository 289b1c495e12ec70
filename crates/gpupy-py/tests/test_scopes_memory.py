"""``gpupy.accelerator``: arrays of a body share memory afterwards as NumPy's would, and all come back.

Not here: which names are swapped (``test_scopes.py``), interruptions (``test_one_step.py``).
"""

import numpy as np
import pytest

import gpupy as gp

# Inside, `np.ndarray` is gpupy's.
THEIRS = np.ndarray
shared = np.arange(4.0)


def is_ours(*arrays):
    return all(type(array) is gp.ndarray for array in arrays)


def is_numpys(*arrays):
    return all(type(array) is THEIRS for array in arrays)


def helper():
    return np.ones(3)


DTYPES = [np.dtype(name) for name in "?bhilqBHILQefdFD"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_new_views_under_another_dtype_share_memory(auto, dtype):
    a = np.ones(64, dtype)
    b = np.ones((4, 4), dtype, order="F")
    for other in DTYPES:
        if other.kind == "?" or a.nbytes % other.itemsize:
            continue
        with gp.accelerator():
            v = a.view(other)
            part = v[1:]
            made = a.copy()
            w = made.view(other)
            last = made[3:]
        assert is_numpys(v, part, made, w, last)
        assert np.shares_memory(v, a) and np.shares_memory(part, a), other
        assert np.shares_memory(w, made) and np.shares_memory(last, made), other
        assert v.dtype == w.dtype == other
        a[:] = 0
        made[:] = 0
        assert not v.view(np.uint8).any() and not w.view(np.uint8).any()
        a[:] = 1
    if dtype.kind == "c":
        with gp.accelerator():
            real, imaginary, below = b.real, b.imag[1:], (b + 1).real
        b[2, 1] = 3 + 4j
        assert real[2, 1] == 3 and imaginary[1, 1] == 4 and below[2, 1] == 2


def test_new_views_of_arrays_of_any_order_share_memory(auto):
    f = np.zeros((3, 4), order="F")
    with gp.accelerator():
        new = np.zeros((3, 2), order="F") + np.ones((3, 2), order="F")
        below, back, column, turned = new[1:], new[::-1, 0], new[:, 1], new.T
        old, corner = f[1:], f.T[::2]
        three = np.transpose(np.zeros((2, 3, 4)), (1, 2, 0))
        inside = three[0]
        copied = np.array(np.arange(6.0).reshape(2, 3).T, order="K")
        row = copied[1]
    for view in (below, back, column, turned):
        assert np.shares_memory(view, new)
    assert np.shares_memory(old, f) and np.shares_memory(corner, f)
    assert np.shares_memory(inside, three) and np.shares_memory(row, copied)
    new[1, 0], new[2, 1] = 7, 8
    assert below[0, 0] == back[1] == turned[0, 1] == 7 and column[2] == 8
    assert new.flags.f_contiguous and below.strides == new.strides == (8, 24)


def test_views_without_elements_end_as_any_other(auto):
    for shape in [(0,), (2, 0), (0, 3), (2, 0, 3)]:
        a, b = np.zeros(shape), np.arange(3.0)
        with gp.accelerator():
            b += 1
            views = a[1:], a.reshape(0, 3)[:, 1:], a.T, a[..., 0:0], a.view("i8")
            first, second, third, fourth, fifth = views
            nothing = b[3:]
            last = b[-1:0]
            new = np.zeros(shape)[1:]
        assert is_numpys(a, b, first, second, third, fourth, fifth, nothing, last, new)
        assert b.tolist() == [1, 2, 3]
        assert first.shape == a[1:].shape and fourth.shape == a[..., 0:0].shape and last.shape == (0,)
    v = np.zeros((2, 3))
    with gp.accelerator():
        w = v[-1, 0:0]
        u = v[2:, ::-1]
    assert is_numpys(v, w, u) and w.shape == (0,) and u.shape == (0, 3)


def test_an_array_that_cannot_be_given_back_keeps_no_other_one(auto):
    a, b = np.zeros(2), np.zeros(3)
    with pytest.raises(MemoryError):
        with gp.accelerator():
            a += 1
            b += 2
            big = np.zeros((1 << 40, 1 << 10)) + 1
    # It was too large to be computed.
    assert is_numpys(a, b) and is_numpys(helper()) and is_ours(big)


MODULE = """
import numpy as np
import gpupy as gp

a, b = np.ones(3), np.zeros(3)
view = a[1:]
refused = []
with gp.accelerator(immutable=True):
    c = a + b
    for write in (lambda: a.__setitem__(0, 2), lambda: view.fill(3), lambda: np.add(a, 1, out=b)):
        try:
            write()
        except ValueError as error:
            refused.append("read-only" in str(error))
    c[0] = 7
a[0] = 5
with gp.accelerator():
    a += 1
    with gp.accelerator(immutable=True):
        try:
            b += 1
        except ValueError as error:
            refused.append("read-only" in str(error))
    b += 1
"""


def test_immutable_at_a_modules_level(auto):
    names = {"__name__": "a module"}
    exec(MODULE, names)
    assert names["refused"] == [True] * 4
    assert is_numpys(names["a"], names["b"], names["c"])
    assert names["a"].tolist() == [6, 2, 2] and names["b"].tolist() == [1, 1, 1]
    assert names["c"].tolist() == [7, 1, 1] and names["np"] is np


def test_immutable_covers_globals_of_a_function(auto):
    with gp.accelerator(immutable=True):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 9
    shared[0] = 0
    assert is_numpys(shared) and shared.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("size", [10, 1_000_000])
@pytest.mark.parametrize("end", [5, None])
def test_memory_of_ours_that_an_array_of_numpys_shows_is_written_in_its_place(auto, size, end):
    ours = gp.arange(size).astype("f4") * 2 + 1
    shown = np.asarray(ours[:end])
    again = np.asarray(memoryview(ours[:end]))
    with gp.accelerator():
        shown[0] = 5
        assert ours[0].item() == 5
        ours[1] = 6
        assert shown[1].item() == 6
        again[2] = 7
    assert is_numpys(shown, again)
    assert ours[:4].tolist() == [5, 6, 7, 7]
    assert shown[:4].tolist() == again[:4].tolist() == [5, 6, 7, 7]


def test_memory_that_other_code_took_inside_is_the_arrays_afterwards(auto):
    a = np.arange(8, dtype="f4")
    with gp.accelerator():
        made = a * 2
        memory = memoryview(made)
        part = made[2:]
    memory[3] = -1.0
    assert is_numpys(made, part)
    assert made[3] == part[1] == -1
    made[2] = -2
    assert memory[2] == part[0] == -2
