"""Small work is computed at once, with NumPy's results; what else happens is not delayed by it."""

import threading

import numpy
import pytest

import gpupy


@pytest.fixture(params=["cpu", "soft"])
def auto(request):
    """A driver with the host driver beside it, as users have them."""
    gpupy._gpupy.reconfigure(request.param, strict=False)
    gpupy.reset_stats()


def small(seed, shape=(10,)):
    return numpy.random.default_rng(seed).normal(size=shape).astype(numpy.float32)


PROGRAMS = {
    "operators": lambda xp, x, y: 2.5 * x + y / 3 - x * y,
    "comparisons": lambda xp, x, y: (x < y) | (x >= 1) & ~(y == x),
    "ufuncs": lambda xp, x, y: xp.sqrt(xp.abs(x)) + xp.floor(y),
    "views": lambda xp, x, y: x[1:] - x[:-1] * y[::-1][1:],
    "strides": lambda xp, x, y: x[::3] + y[1::3][:3].sum() + x[::3][::-1],
    "broadcasting": lambda xp, x, y: x[:, None] * y[None, :] + x,
    "reductions": lambda xp, x, y: xp.stack([x.max(), y.min(), (x > 0).any().astype("f4")]),
    "integers": lambda xp, x, y: (x * 100).astype("int32") // 7 % 5 + xp.arange(10, dtype="int32"),
    "ranges": lambda xp, x, y: xp.arange(10, dtype="float32") * 2 + xp.zeros(10, "float32"),
    "selections": lambda xp, x, y: xp.where(x > y, x, y),
    "joins": lambda xp, x, y: xp.concatenate([x[2:5] * 2, y, x[::-1]]),
    "scalars": lambda xp, x, y: x * x[3] + float(y[2]) - int(y[1] * 10),
    "copies": lambda xp, x, y: x.reshape(2, 5).T.copy() + y.reshape(5, 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_small_programs_give_what_numpy_gives(auto, name):
    x, y = small(1), small(2)
    want = PROGRAMS[name](numpy, x, y)
    for _ in range(3):
        found = PROGRAMS[name](gpupy, gpupy.array(x), gpupy.array(y))
        assert found.dtype == want.dtype
        numpy.testing.assert_array_equal(numpy.asarray(found), want)
    assert gpupy.stats().computed_at_once > 0
    assert gpupy.stats().blocks_evaluated == gpupy.stats().fallbacks == 0


def test_writes_give_what_numpy_gives(auto):
    def program(xp):
        a, b = xp.array(small(1)), xp.array(small(2))
        before, row = a * 1, a[2:5]
        a[2:5] = b[:3]
        a[1:] = a[:-1]
        a[::2] = -1
        a[3] = b[3]
        a += b
        a *= 2
        row -= 0.5
        return [numpy.array(v) for v in (a, b, before, row)]

    for found, want in zip(program(gpupy), program(numpy), strict=True):
        numpy.testing.assert_array_equal(found, want)
    assert gpupy.stats().blocks_evaluated == 0


def test_what_was_asked_for_before_a_write_stays(auto):
    a = gpupy.array(small(1))
    element, double, total = a[3], a * 2, a.sum()
    a[:] = 0
    want = small(1)
    assert element == want[3] and (numpy.asarray(double) == want * 2).all()
    assert total != 0 and a.sum() == 0


def test_mistakes_are_numpys_at_their_line(auto):
    x = gpupy.array(small(1))
    with pytest.raises(ValueError, match="could not be broadcast together"):
        x + gpupy.array(small(2, (3,)))
    with pytest.raises(ValueError, match="read-only"):
        gpupy.broadcast_to(x, (3, 10))[0] += 1
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        x.astype("int32").__iadd__(0.5)


def test_an_element_does_not_keep_its_array(auto):
    x = gpupy.array(small(1))
    element = x[3]
    x.dispose()
    assert float(element) == small(1)[3]


def test_threads_compute_at_once_beside_an_evaluation(auto):
    large = gpupy.array(small(3, (3_000_000,)))
    wrong = []

    def evaluate():
        for k in range(4):
            numpy.asarray(gpupy.sqrt(large * large + k)[:1])

    def compute():
        x = gpupy.array(small(4))
        for k in range(300):
            if not (numpy.asarray(2.5 * x + k) == numpy.float32(2.5) * small(4) + k).all():
                wrong.append(k)

    threads = [threading.Thread(target=t) for t in (evaluate, compute, compute)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_explanation_says_so(auto):
    x = gpupy.array(small(1))
    assert "computed at once" in str(gpupy.explain(2.5 * x))


def test_large_work_stays_lazy(auto):
    x = gpupy.array(small(1, (100_000,)))
    y = 2.5 * x + x
    assert gpupy.stats().computed_at_once == gpupy.stats().launches == 0
    numpy.testing.assert_array_equal(numpy.asarray(y), numpy.float32(2.5) * numpy.asarray(x) + x)


def test_strict_placement_computes_nothing_at_once():
    gpupy._gpupy.reconfigure("cpu")
    gpupy.reset_stats()
    x = 2.5 * gpupy.array(small(1))
    assert gpupy.stats().computed_at_once == gpupy.stats().launches == 0
    assert (numpy.asarray(x) == numpy.float32(2.5) * small(1)).all()
