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


OUTSIDE = {
    "records": lambda a: a.view([("x", a.dtype)]),
    "a field of records": lambda a: a.view([("x", a.dtype)])["x"],
    "bytes": lambda a: a[::2].view("S8"),
    "another byte order": lambda a: a.view(">f8"),
    "times": lambda a: a.view("i8").view("M8[s]"),
    "an array of records": lambda a: a.view(np.recarray),
    "a matrix": lambda a: np.asmatrix(a)[:, 1:],
    "a buffer": lambda a: memoryview(a),
    "a buffer of a part": lambda a: memoryview(a[1:7]),
    "a buffer of every other element": lambda a: memoryview(a[1::2]),
    "a buffer backwards": lambda a: memoryview(a[::-1]),
}


@pytest.mark.parametrize("make", OUTSIDE.values(), ids=OUTSIDE)
@pytest.mark.parametrize("size", [8, 400_000])
@pytest.mark.parametrize("name", [row["name"] for row in gp.drivers() if row["starts"]])
def test_what_no_driver_has_a_view_for_shares_memory(name, size, make):
    gp._gpupy.reconfigure(name, strict=False)
    old = np.zeros(size)
    with gp.accelerator():
        new = np.zeros(size) + 1
        of_old, of_new = make(old), make(new)
        # A write inside is one of the view, too.
        old[3] = 5
    assert is_numpys(old, new)
    for array, view in [(old, of_old), (new, of_new)]:
        array[5] = 7
        wanted = make(array)
        assert type(view) is type(wanted)
        one, other = np.asarray(view), np.asarray(wanted)
        assert one.dtype == other.dtype and one.strides == other.strides
        assert one.tobytes() == other.tobytes() and np.shares_memory(one, array)
        assert one.flags.writeable


def test_a_buffer_that_may_not_be_written_stays_so(auto):
    a = np.arange(8.0)
    with gp.accelerator():
        fixed, part = memoryview(a).toreadonly(), memoryview(a)[2:5]
    assert fixed.readonly and not part.readonly
    a[3] = 7
    assert fixed[3] == part[1] == 7


def test_what_other_code_writes_inside_is_the_arrays_afterwards(auto):
    for size in [8, 400_000]:
        a, b = np.arange(float(size)), np.arange(float(size))
        with gp.accelerator():
            part = memoryview(a[1:7])
            part[2] = -1
            records = b[2:].view([("x", b.dtype)])
            records["x"][1] = -2
            c = a + b
        assert a[3] == -1 and b[3] == -2 and c[3] == -3
        a[3], records["x"][2] = 5, 6
        assert part[2] == 5 and b[4] == 6


def test_scopes_in_scopes_lend_the_outer_ones_memory(auto):
    a = np.arange(8.0)
    with gp.accelerator():
        with gp.accelerator():
            part = memoryview(a[1:7])
        part[2] = -1
    assert a[3] == -1
    a[3] = 5
    assert part[2] == 5


def test_a_buffer_from_before_stays_as_it_is(auto):
    a = np.arange(8.0)
    before = held = memoryview(a)
    with gp.accelerator():
        a += 1
    assert before is held and before[3] == a[3] == 4


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
