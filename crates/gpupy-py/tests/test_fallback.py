"""Fallbacks to NumPy are counted with the user's line, warned about, or forbidden."""

import gc
import math
import pickle
import subprocess
import sys
import warnings

import numpy
import pytest
from pairs import check

import gpupy


def mixed():
    return gpupy.linalg.eigvals(gpupy.eye(3, dtype=gpupy.float32))  # the line that the tests look for


# A dtype that no driver has; its name is the platform's.
LONG = str(numpy.dtype(numpy.longdouble))
LINE = mixed.__code__.co_firstlineno + 1


def test_fallbacks_are_counted_with_the_users_line(driver):
    mixed()
    mixed()
    stats = gpupy.stats()
    assert stats.fallbacks == stats["fallbacks"] == 2
    assert stats.fallback_sites == [("eigvals", __file__, LINE, 2)]
    gpupy.reset_stats()
    assert gpupy.stats().fallbacks == 0


def test_a_call_that_numpy_serves_spoils_no_other(auto):
    add = type(gpupy.add)("add", numpy.add)
    add([1.0, 2.0], 3, out=gpupy.zeros(2))
    # What was asked of the int alone stands not for a bool and an int.
    with gpupy.fallback("error"):
        assert add(gpupy.arange(3) > 1, 3).tolist() == [3, 3, 4]


def test_calls_are_counted_from_any_number_of_places(driver):
    a = gpupy.eye(3, dtype=gpupy.float32)
    for number in range(3000):
        exec(compile("gpupy.linalg.eigvals(a)\n" * 2, f"<{number % 1500}>", "exec"), {"gpupy": gpupy, "a": a})
    sites = gpupy.stats().fallback_sites
    assert gpupy.stats().fallbacks == 6000
    assert {(name, file, line) for name, file, line, _ in sites} == {
        ("eigvals", f"<{number}>", line) for number in range(1500) for line in (1, 2)
    }
    assert {count for *_, count in sites} == {2}


def test_what_numpy_is_lent_outlives_the_array(driver):
    lent, views = [], []
    for size in (3, 50, 5000):
        a = gpupy.arange(size, dtype=gpupy.float32) * 2
        lent.append((size, a._host()))
        views.append((size, a[::-2]._host()))
        del a
        gc.collect()
        gpupy.trim()
        gpupy.evaluate(gpupy.ones(size, gpupy.float32) + 1)
    for size, host in lent:
        numpy.testing.assert_array_equal(host, numpy.arange(size, dtype="f4") * 2)
        assert not host.flags.writeable and host.flags.c_contiguous and not host.flags.owndata
    for size, host in views:
        numpy.testing.assert_array_equal(host, (numpy.arange(size, dtype="f4") * 2)[::-2])


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,), (3, 1, 2), (2, 3)])
@pytest.mark.parametrize("dtype", numpy.typecodes["AllInteger"] + "?efdFD")
def test_what_numpy_is_lent_is_what_numpy_would_have(driver, shape, dtype):
    want = (numpy.arange(numpy.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    for way in (lambda a: a, lambda a: a.T, lambda a: a[..., ::-1] if a.ndim else a):
        host = way(gpupy.asarray(want))._host()
        assert host.dtype == want.dtype and (host.strides == way(want).strides or not want.size)
        numpy.testing.assert_array_equal(host, way(want))


def test_results_in_containers_are_ours(driver):
    a = gpupy.asarray(numpy.array([[2.0, 1.0], [1.0, 3.0]], numpy.float32))
    for result in (gpupy.linalg.svd(a), gpupy.linalg.eigh(a), gpupy.histogram(a), gpupy.frexp(a)):
        assert all(type(part) is gpupy.ndarray for part in result)
    assert type(gpupy.linalg.svd(a)).__name__ == "SVDResult"
    counts, edges = gpupy.histogram(a, bins=gpupy.asarray([0.0, 1.5, 4.0]))
    assert counts.tolist() == [2, 2] and edges.tolist() == [0.0, 1.5, 4.0]
    # The call returns its argument, as in NumPy.
    assert numpy.linalg.matrix_transpose(a).base is a


def test_a_fallback_within_numpy_names_the_users_line(driver):
    a = gpupy.ones((3, 3), gpupy.float32)
    numpy.linalg.matrix_rank(a)
    (site,) = gpupy.stats().fallback_sites
    assert site[1] == __file__


def test_warn_names_function_reason_and_line(driver):
    with gpupy.fallback("warn"), pytest.warns(gpupy.FallbackWarning) as caught:
        mixed()
    assert caught[0].filename == __file__ and caught[0].lineno == LINE
    words = str(caught[0].message)
    # The reason is that of docs/coverage.md.
    assert words == f"`eigvals` runs in NumPy: a decomposition, which is LAPACK's ({__file__}:{LINE})"
    with gpupy.fallback("warn"), pytest.warns(gpupy.FallbackWarning, match=f"`{driver}` does not compute"):
        gpupy.einsum("i->i", gpupy.ones(3, gpupy.float32), dtype=float)


def test_error_forbids_and_leaves_the_array(driver):
    a = gpupy.arange(3, dtype=gpupy.float32)
    with gpupy.fallback("error"):
        with pytest.raises(gpupy.FallbackError, match="`eigvals` runs in NumPy: a decomposition"):
            mixed()
        with pytest.raises(gpupy.FallbackError, match=f"{LONG} is NumPy's own"):
            gpupy.ones(3, LONG) + 1
        assert (a + 1).tolist() == [1, 2, 3]
    assert gpupy.linalg.eigvals(gpupy.diag(a)).tolist() == [0, 1, 2]


def test_a_wrong_mode_lists_the_right_ones():
    with pytest.raises(ValueError, match="`allow`, `warn`, `error`"):
        gpupy.fallback("never")
    code = "import gpupy"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=_environment(GPUPY_FALLBACK="loud"),
        capture_output=True,
        text=True,
    )
    assert run.returncode and "GPUPY_FALLBACK is `loud`; choose one of `allow`" in run.stderr


def _environment(**more):
    import os

    path = os.pathsep.join(p for p in sys.path if p)
    return {**os.environ, "PYTHONPATH": path, **more}


def test_the_environment_sets_the_mode():
    code = "import gpupy; gpupy.ones(3, 'longdouble') + 1"
    for mode, words in {"error": "FallbackError", "warn": "FallbackWarning"}.items():
        run = subprocess.run(
            [sys.executable, "-c", code],
            env=_environment(GPUPY_FALLBACK=mode),
            capture_output=True,
            text=True,
        )
        assert words in run.stderr, run.stderr
        assert bool(run.returncode) == (mode == "error")


@pytest.mark.parametrize(
    "call",
    [
        "random.default_rng(0).gamma(2.0, size=4)",
        "random.rand(3)",
        "linalg.cholesky([[2.0]])",
        "linalg.inv([[2.0]])",
        "histogram([1, 2])",
        "mgrid[0:2, 0:3]",
        "linalg.inv(gpupy.eye(5))",
        "linalg.solve(gpupy.eye(5), gpupy.ones(5))",
    ],
)
def test_what_numpy_makes_is_counted_at_the_users_line(call, auto):
    gpupy.reset_stats()
    eval(compile(f"gpupy.{call}", "<the line>", "eval"), {"gpupy": gpupy, "numpy": numpy})
    assert [site[1:] for site in gpupy.stats().fallback_sites] == [("<the line>", 1, 1)]
    with gpupy.fallback("error"), pytest.raises(gpupy.FallbackError, match="<the line>:1"):
        eval(compile(f"gpupy.{call}", "<the line>", "eval"), {"gpupy": gpupy, "numpy": numpy})


@pytest.mark.parametrize("seed", [5, None, (1, 2), "a sequence", "bits", "a generator", "ours", "an array"])
def test_generators_of_ours_have_bits_of_ours_and_numpys_numbers(seed):
    random = numpy.random
    given = {
        "a sequence": random.SeedSequence(4),
        "bits": random.PCG64(4),
        "a generator": random.default_rng(4),
        "ours": gpupy.random.PCG64(4),
        "an array": gpupy.arange(3),
    }.get(seed, seed)
    ours = gpupy.random.default_rng(given)
    bits = ours.bit_generator
    assert isinstance(bits, random.PCG64) and isinstance(bits, gpupy.random.PCG64)
    assert not isinstance(bits, gpupy.random.Philox) and repr(ours).startswith("Generator(PCG64) at ")
    if seed not in ("bits", "a generator"):
        assert type(bits) is gpupy.random.PCG64
    again = pickle.loads(pickle.dumps(ours))
    assert type(again.bit_generator) is type(bits)
    theirs = random.default_rng()
    theirs.bit_generator.state = bits.state
    assert ours.normal(size=3).tolist() == theirs.normal(size=3).tolist() == again.normal(size=3).tolist()
    assert gpupy.random.default_rng(ours) is ours
    if seed in (5, "ours"):
        expected = random.default_rng(5 if seed == 5 else random.PCG64(4))
        assert (
            gpupy.random.default_rng(given if seed == 5 else gpupy.random.PCG64(4)).random()
            == expected.random()
        )


def test_what_is_given_or_read_is_not_counted(tmp_path, auto):
    a = gpupy.arange(6.0)
    with gpupy.fallback("error"):
        gpupy.save(tmp_path / "a.npy", a)
        assert gpupy.load(tmp_path / "a.npy").tolist() == a.tolist()
        gpupy.array([1, 2]), gpupy.frombuffer(b"12345678"), gpupy.random.default_rng(0).random()
        gpupy.array2string(a), gpupy.array_repr(a), gpupy.isscalar(a), gpupy.einsum_path("i,i", a, a)
        gpupy.multiply(a.shape, (2,)), gpupy.random.seed(0)


def test_fields_of_records_are_viewed_written_and_computed_with_where_fallbacks_are_forbidden(auto):
    records = gpupy.zeros(5, [("x", "f8"), ("n", "i8")])
    with gpupy.fallback("error"):
        records["x"] = gpupy.arange(5.0)
        records["n"][1:3] = 7
        x = records["x"]
        assert (x * 2 + records["n"]).tolist() == [0, 9, 11, 6, 8]
        assert x.sum() == 10 and x[2] == 2 and records[["x", "n"]].dtype.names == ("x", "n")
        assert gpupy.sqrt(records["x"][1:2]).tolist() == [1] and records[3]["x"] == 3
    assert records["x"].tolist() == [0, 1, 2, 3, 4]


FIELDS = [
    "r['m'].argmax()", "r['n'].argsort()", "r['m'].cumsum()", "xp.sort(r['n'])", "xp.dot(r['m'], r['m'])",
    "r['m'][r['m'] > 2]", "r['n'][[3, 1, -1]]", "r['m'].astype(xp.int32)", "xp.diff(r['m'])",
    "xp.concatenate([r['m'], r['m']])", "xp.stack([r['m'], r['m']])", "xp.count_nonzero(r['m'])",
    "xp.einsum('ij,ij->i', r['p'], r['p'])", "xp.add(r['m'], r['n'])", "r['p'].repeat(2, axis=0)",
    "r[[3, 1, -1]]['m']", "r[r['m'] > 2]['n']", "r.take([1, 2])['p']", "xp.concatenate([r, r])['m']",
    "xp.roll(r, 1)['m']", "r.ravel()['p'] * 2", "r.astype(r.dtype)['n']",
]  # fmt: skip


@pytest.mark.parametrize("call", FIELDS)
def test_calls_of_fields_are_the_drivers_and_records_are_moved_without_any(auto, call):
    def made(xp):
        r = xp.zeros(50, [("p", "f4", 3), ("m", "f4"), ("n", "i4")])
        r["m"], r["n"], r["p"] = xp.arange(50) * 13 % 7, xp.arange(50)[::-1], xp.arange(150).reshape(50, 3)
        return r

    records = made(gpupy)
    with gpupy.fallback("error"):
        mine = eval(call, {"xp": gpupy, "r": records})
    theirs = eval(call, {"xp": numpy, "r": made(numpy)})
    assert numpy.array_equal(mine, theirs)
    assert numpy.asarray(mine).dtype == numpy.asarray(theirs).dtype


def test_a_field_is_changed_in_place_by_the_driver(driver):
    records = gpupy.zeros(9, [("m", "f4"), ("n", "i4")])
    with gpupy.fallback("error"):
        mass = records["m"]
        mass += gpupy.arange(9, dtype=gpupy.float32)
        mass *= 2
        records["n"][::2] -= 3
        assert mass.tolist() == [2 * n for n in range(9)] and records["n"].tolist() == [-3, 0] * 4 + [-3]
        assert records["m"].tolist() == mass.tolist()
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add'"):
        records["n"] += 0.5
    assert records["n"].tolist() == [-3, 0] * 4 + [-3]


def test_reading_is_no_fallback(driver):
    a = gpupy.arange(6, dtype=gpupy.float32).reshape(2, 3) * 2
    repr(a), str(a), a.tolist(), a.tobytes(), float(a[0, 1]), bool(a[1, 1] > 0)
    numpy.asarray(a), memoryview(a), list(a.flat), [row.sum() for row in a], a.item(3)
    assert gpupy.stats().fallbacks == 0


def test_no_plain_ndarray_leaves_the_namespace(driver):
    a = gpupy.arange(1, 7, dtype=gpupy.float32).reshape(2, 3)
    skipped = set()
    for name in sorted(set(numpy.__all__)):
        value = getattr(gpupy, name)
        if isinstance(value, type) or not callable(value) or name in ("test", "info", "lookfor"):
            continue
        for args in ((a,), (a, a), (a, 2), (3,), ((a, a),), (a, a, a)):
            try:
                with warnings.catch_warnings(), numpy.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    result = value(*args)
            except Exception:
                skipped.add(name)
                continue
            _no_plain(result, name)
    assert len(skipped) > 10


def test_no_plain_ndarray_leaves_methods(driver):
    a = gpupy.arange(1, 7, dtype=gpupy.float32).reshape(2, 3)
    plain = {"__array__", "_constant", "_host", "_meta_array", "_pinned", "to_numpy"}
    for name in dir(a):
        value = getattr(a, name)
        if name in plain or name.startswith("__"):
            continue
        if not callable(value):
            _no_plain(value, name)
            continue
        for args in ((), (0,), (a,), (2,)):
            try:
                _no_plain(value(*args), name)
            except AssertionError:
                raise
            except Exception:
                continue
        a = gpupy.arange(1, 7, dtype=gpupy.float32).reshape(2, 3)


def test_no_plain_ndarray_leaves_submodules(driver):
    a = gpupy.arange(1, 5, dtype=gpupy.float32).reshape(2, 2)
    for value in (
        gpupy.random.rand(3),
        gpupy.random.default_rng(1).normal(size=2),
        gpupy.random.RandomState(1).rand(2),
        gpupy.linalg.inv(a),
        gpupy.linalg.eig(a),
        gpupy.fft.fft2(a),
        gpupy.lib.stride_tricks.sliding_window_view(a, 2, axis=0),
        gpupy.polynomial.polynomial.polyval(a, [1, 2]),
        gpupy.mgrid[0:2, 0:3],
        gpupy.ogrid[0:2, 0:3],
        gpupy.c_[a, a],
        gpupy.vectorize(lambda x: x * 2)(a),
        gpupy.frompyfunc(lambda x: x * 2, 1, 1)(a),
        gpupy.nditer(a) and a,
    ):
        _no_plain(value, repr(value))


def _no_plain(value, name):
    assert type(value) is not numpy.ndarray, f"{name} gives a plain ndarray"
    if isinstance(value, (tuple, list)):
        for item in value:
            _no_plain(item, name)
    if isinstance(value, dict):
        for item in value.values():
            _no_plain(item, name)


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
@pytest.mark.parametrize("number", [70000, -70000, 2**70, 7])
def test_comparisons_with_integers_that_the_dtype_has_not_take_a_mask(name, number):
    # NumPy 2.4 itself crashes on these: without its mask it says what is right.
    numbers = numpy.array([-5, 7, 9], dtype=numpy.int16)
    mask = numpy.array([True, False, True])
    compare = getattr(gpupy, name)
    for given in [(gpupy.array(numbers), number), (number, gpupy.array(numbers))]:
        plain = [numbers if isinstance(x, gpupy.ndarray) else x for x in given]
        want = getattr(numpy, name)(*plain) & mask
        out = gpupy.zeros(3, dtype=bool)
        assert compare(*given, where=mask, out=out) is out
        numpy.testing.assert_array_equal(numpy.asarray(out), want)


@pytest.mark.parametrize(
    ("shape", "strides"), [((7,), (0,)), ((3, 4), (0, 8)), ((3, 4), (8, 0)), ((3, 4), (8, 8))]
)
def test_numpy_sees_that_an_output_shows_the_operand(driver, shape, strides):
    def program(xp):
        a = xp.arange(40.0)
        out = xp.lib.stride_tricks.as_strided(a, shape, strides)
        xp.add.reduce(a[: 2 * math.prod(shape)].reshape(2, *shape), axis=0, out=out)
        return a

    check(program)


@pytest.mark.parametrize("step", [-1, -2, 2])
def test_parts_are_read_as_the_parts_before_them_left_the_output(driver, step):
    def program(xp):
        a = xp.arange(64, dtype=numpy.int32)
        part = a[::step]
        first = xp.full(64 - part.size, 7, dtype=numpy.int32)
        xp.concatenate([first, part], out=a)
        return a

    check(program)


def test_nothing_is_evaluated_for_what_another_class_does(driver):
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc.__name__, [type(each) for each in inputs]

    x = gpupy.ones(40000, numpy.float32) + 1
    gpupy.reset_stats()
    assert x * Other() == ("multiply", [gpupy.ndarray, Other])
    assert numpy.subtract(Other(), x) == ("subtract", [Other, gpupy.ndarray])
    assert gpupy.stats()["launches"] == 0
