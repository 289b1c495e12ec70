"""``gpupy.accelerator``: the body computes by gpupy, and NumPy's arrays have its results afterwards.

Not here: what is computed (every other file).
"""

import asyncio
import sys
import threading

import numpy as np
import pytest

import gpupy as gp

# Inside, `np.ndarray` is gpupy's.
THEIRS = np.ndarray
shared = np.arange(4.0)
other = shared[1:3]


def is_ours(*arrays):
    return all(type(array) is gp.ndarray for array in arrays)


def is_numpys(*arrays):
    return all(type(array) is THEIRS for array in arrays)


def helper():
    return np.ones(3)


def test_a_body_is_lazy_and_its_results_are_numpys(auto):
    a, b = np.full((300, 300), 2.0), np.ones((300, 300))
    gp.reset_stats()
    with gp.accelerator():
        assert is_ours(a, b)
        y = a * 3 + b
        z = np.sqrt(y)
        assert is_ours(y, z) and gp.stats()["launches"] == 0
        total = y.sum()
    assert gp.stats()["launches"] > 0
    assert is_numpys(a, b, y, z)
    assert (y == 7).all() and (z == np.sqrt(7.0)).all()
    assert isinstance(total, np.float64) and total == 7 * 300 * 300


def test_the_same_objects_have_what_was_written(auto):
    a = np.arange(12.0).reshape(3, 4)
    row, column, kept = a[1], a[:, 2], a
    transposed, unwritten = a.T, np.arange(3)
    before = unwritten.copy()
    with gp.accelerator():
        assert is_ours(a, row, column, kept, transposed)
        row += 10
        column[0] = -1
        transposed[3, 2] = 99
        assert a[1, 1] == 15 and a[0, 2] == -1 and a[2, 3] == 99
    assert (
        is_numpys(a, row, column, transposed)
        and a is kept
        and row.base is a.base
        and transposed.base is a.base
    )
    wanted = np.arange(12.0).reshape(3, 4)
    wanted[1] += 10
    wanted[0, 2], wanted[2, 3] = -1, 99
    np.testing.assert_array_equal(a, wanted)
    np.testing.assert_array_equal(unwritten, before)
    row[0] = 7
    assert a[1, 0] == 7


def test_other_code_sees_what_was_written(auto):
    a = np.zeros(5)
    held = [a]
    view = a[::-2]

    def write(x):
        with gp.accelerator():
            x[:2] = 3

    write(a)
    assert held[0].tolist() == [3, 3, 0, 0, 0] and view.tolist() == [0, 0, 3]


def test_new_views_of_old_arrays_view_them_afterwards(auto):
    a = np.zeros(6)
    with gp.accelerator():
        part = a[2:5:2]
        part += 1
    assert is_numpys(part) and np.shares_memory(part, a)
    part[0] = 5
    assert a.tolist() == [0, 0, 5, 0, 1, 0]


def test_globals_are_swapped_and_given_back(auto):
    with gp.accelerator():
        assert is_ours(shared, other)
        made = helper()
        assert is_ours(made)
        other[:] = 8
    try:
        assert is_numpys(shared, other, made, helper())
        assert shared.tolist() == [0, 8, 8, 3]
        assert sys.modules[__name__].np is np
    finally:
        shared[1:3] = [1, 2]


def test_what_is_stored_elsewhere_stays_ours(auto):
    kept = []
    a = np.ones(3)
    with gp.accelerator():
        kept.append(a + 1)
    assert is_ours(*kept) and kept[0].tolist() == [2, 2, 2]


def test_exceptions_give_back_too(auto):
    a = np.ones(3)
    with pytest.raises(ZeroDivisionError):
        with gp.accelerator():
            a[0] = 5
            raise ZeroDivisionError
    assert is_numpys(a) and a.tolist() == [5, 1, 1]
    assert is_numpys(helper())


def test_immutable_arrays_refuse_writes_at_their_line(auto):
    a, b = np.ones(3), np.zeros(3)
    with gp.accelerator(immutable=True):
        c = a + b
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 2
        with pytest.raises(ValueError, match="read-only"):
            b += 1
        c[0] = 7
    assert a.tolist() == [1, 1, 1] and c.tolist() == [7, 1, 1]
    a[0] = 2
    assert a[0] == 2


def test_closures_see_the_body(auto):
    a = np.ones(3)

    def total():
        return a.sum()

    with gp.accelerator():
        a[0] = 5
        inside = total()
        assert is_ours(a)
    assert is_numpys(a) and total() == inside == 7


def test_a_body_in_a_body(auto):
    a = np.ones(3)
    with gp.accelerator():
        a += 1
        with gp.accelerator():
            a *= 2
            b = a + 1
        assert is_ours(a)
        a += 1
    assert is_numpys(a) and a.tolist() == [5, 5, 5] and np.asarray(b).tolist() == [5, 5, 5]
    assert is_numpys(helper())


def test_a_generator_between_its_steps_is_outside(auto):
    def steps():
        a = np.ones(3)
        with gp.accelerator():
            for _ in range(2):
                a += 1
                yield is_ours(np.zeros(2))
        yield a

    found = []
    for step in steps():
        found.append(step)
        assert is_numpys(helper())
    assert found[:2] == [True, True] and is_numpys(found[2]) and found[2].tolist() == [3, 3, 3]


def test_tasks_that_wait_are_outside(auto):
    async def inside(a):
        with gp.accelerator():
            a += 1
            await asyncio.sleep(0)
            assert is_ours(helper())
            a += 1
        return a

    async def outside():
        for _ in range(3):
            assert is_numpys(helper())
            await asyncio.sleep(0)

    async def both():
        return (await asyncio.gather(inside(np.ones(2)), outside(), inside(np.zeros(2))))[::2]

    first, second = asyncio.run(both())
    assert is_numpys(first, second) and first.tolist() == [3, 3] and second.tolist() == [2, 2]


def test_threads_are_inside_for_themselves(auto):
    started, ended = threading.Event(), threading.Event()
    found = []

    def outside():
        started.wait(10)
        found.append(is_numpys(helper()))
        ended.set()

    thread = threading.Thread(target=outside)
    thread.start()
    with gp.accelerator():
        started.set()
        ended.wait(10)
        found.append(is_ours(helper()))
    thread.join()
    assert found == [True, True]


def test_a_function_is_decorated(auto):
    @gp.accelerator()
    def both(x, *, y):
        """Adds."""
        assert is_ours(x, y, np.zeros(1))
        x[0] = 9
        return x + y, y.sum(), "text"

    x, y = np.arange(3.0), np.ones(3)
    total, number, text = both(x, y=y)
    assert both.__doc__ == "Adds." and is_numpys(total, x, y) and isinstance(number, np.float64)
    assert total.tolist() == [10, 2, 3] and x.tolist() == [9, 1, 2] and number == 3 and text == "text"


def test_arrays_that_gpupy_does_not_compute_stay(auto):
    words, dates = np.array(["a"]), np.array(["2020-01-01"], "M8[D]")
    ours = gp.ones(2)
    with gp.accelerator():
        assert is_numpys(words, dates)
        assert is_ours(ours)
    assert is_ours(ours)


def test_kinds_of_arrays(auto):
    empty, scalar, fortran = np.zeros((0, 3)), np.array(5.0), np.asfortranarray(np.arange(6.0).reshape(2, 3))
    booleans, whole, complexes = np.ones(2, bool), np.arange(3, dtype=np.int16), np.ones(2, np.complex64)
    fixed = np.ones(3)
    fixed.flags.writeable = False
    strided = np.lib.stride_tricks.as_strided(np.arange(5.0), (3, 2), (8, 8))
    with gp.accelerator():
        assert is_ours(empty, scalar, fortran, booleans, whole, complexes, fixed)
        scalar[()] = 6
        fortran[1, 2] = -1
        whole[1] = 7
        booleans[0] = False
        complexes *= 2j
        with pytest.raises(ValueError, match="read-only"):
            fixed[0] = 2
        total = strided.sum()
    assert scalar == 6 and fortran[1, 2] == -1 and fortran.flags.f_contiguous and whole.tolist() == [0, 7, 2]
    assert booleans.tolist() == [False, True] and complexes.tolist() == [2j, 2j] and total == 9
    assert empty.shape == (0, 3)


def test_many_threads_at_once(auto):
    failed = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work():
        for _ in range(50):
            x = np.zeros(5)
            try:
                with gp.accelerator():
                    x += 1
                    y = x * 2
                assert is_numpys(x, y) and x.tolist() == [1] * 5 and y.tolist() == [2] * 5
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failed and is_numpys(shared) and sys.modules[__name__].np is np


def test_a_scope_that_waits_keeps_nothing_old(auto):
    def waits():
        with gp.accelerator():
            yield 1

    def add(x):
        with gp.accelerator():
            x += 1

    waiting = waits()
    next(waiting)
    a = np.zeros(3)
    add(a)
    a[:] = 10
    add(a)
    waiting.close()
    assert a.tolist() == [11, 11, 11]


def test_views_go_from_one_scope_to_the_next(auto):
    a, sums = np.zeros(6), []
    with gp.accelerator():
        inner, back = a[1:-1], a[::-1]
    for _ in range(3):
        with gp.accelerator():
            a += 1
            back += 0
            total = inner.sum()
        sums.append(float(total))
    assert sums == [4, 8, 12] and np.shares_memory(inner, a)


def test_views_of_an_inner_body_are_seen_in_the_outer_one(auto):
    @gp.accelerator()
    def rest(x):
        return x[1:]

    @gp.accelerator()
    def write(x):
        part = rest(x)
        part += 10
        x[0] = 1
        return x.sum()

    a = np.zeros(4)
    assert write(a) == 31 and a.tolist() == [1, 10, 10, 10]
    with gp.accelerator():
        with gp.accelerator():
            part = a[1:]
        a += 1
        total = part.sum()
    part[0] = 0
    assert total == 33 and a.tolist() == [2, 0, 11, 11]


def test_new_arrays_share_what_they_shared(auto):
    with gp.accelerator():
        y = np.zeros((2, 3))
        row, column, same = y[1], y[:, 2], y
    assert same is y and is_numpys(row, column)
    row[2], y[0, 2] = 7, 8
    assert column.tolist() == [8, 7] and y[1, 2] == 7


def test_memory_that_is_seen_in_several_ways(auto):
    a = np.arange(4.0)
    whole = a.view(np.int64)
    with gp.accelerator():
        assert is_ours(a, whole)
        whole[0] = 5
        a[1] = 9
    assert whole[0] == 5 and a[1] == 9
    c = np.arange(4) + 0j
    parts = c.real
    with gp.accelerator():
        c *= 2
        total = parts.sum()
        parts[:] = 7
    assert total == 12 and c.tolist() == [7] * 4
    buffer = bytearray(32)
    alone = np.frombuffer(buffer)
    with gp.accelerator():
        assert is_ours(alone)
        alone[3] = 4
    assert np.frombuffer(buffer)[3] == 4
    del alone
    first, second = np.frombuffer(buffer), np.frombuffer(buffer)
    with gp.accelerator():
        first[0] = 1
        second[1] = 2
    assert first.tolist() == second.tolist() == [1, 2, 0, 4]
    windows = np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))
    with gp.accelerator():
        windows[0, 1] = 50
        a[2] = 7
    assert a[1:3].tolist() == [50, 7]
    matrix = np.matrix([[1.0, 2], [3, 4]])
    plain = np.asarray(matrix)
    with gp.accelerator():
        plain[0] = 5
        matrix *= 2
    assert matrix.tolist() == [[10, 10], [6, 8]]


def test_one_that_cannot_be_written_keeps_nothing_from_the_others(auto):
    a, b = np.zeros(2), np.zeros(3)
    part = a[:]
    a.flags.writeable = False
    with gp.accelerator():
        part[0] = 9
        b[0] = 7
    assert a.tolist() == [9, 0] and b.tolist() == [7, 0, 0]


def test_cells_of_a_decorated_function(auto):
    c = np.zeros(3)

    @gp.accelerator()
    def f(x):
        c[0] += 5
        x += 1
        return x.sum()

    assert f(c) == 8 and c.tolist() == [6, 1, 1] and is_numpys(c)
    assert type(gp.accelerator()(lambda x: np.linalg.slogdet(x))(np.eye(3))).__name__ == "SlogdetResult"


def test_what_gives_its_results_later_is_not_decorated():
    with pytest.raises(TypeError, match="inside it"):

        @gp.accelerator()
        def later(x):
            yield x


def test_one_object_in_two_frames(auto):
    scope = gp.accelerator()

    def steps(a, count):
        with scope:
            a += 1
            for _ in range(count):
                yield
        a += 10
        yield

    x = np.ones(3)
    first, second = steps(x, 1), steps(np.ones(2), 3)
    next(first), next(second), next(first)
    assert x.tolist() == [12, 12, 12]


def test_nothing_is_kept_alive(auto):
    a = np.zeros(3)
    with gp.accelerator():
        a += 1
    a.resize(5)
    assert a.tolist() == [1, 1, 1, 0, 0]


def test_immutable_in_a_body(auto):
    a = np.zeros(2)
    with gp.accelerator():
        with gp.accelerator(immutable=True):
            with pytest.raises(ValueError, match="read-only"):
                a[0] = 1
        a[1] = 1
    assert a.tolist() == [0, 1]
