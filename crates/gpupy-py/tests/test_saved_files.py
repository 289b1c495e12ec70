"""Files of traced functions: saved traces are repeated, in another process too; damage is an error."""

import os
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest

import gpupy as gp

DATA = pathlib.Path(__file__).parents[3] / "tests" / "data" / "functions"


@gp.jit
def heat(u, rate):
    inner = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = inner + rate * (around - 4 * inner)
    return u.mean(), u.max(axis=0)


@gp.jit
def decides(x, y):
    if x.sum() > 0:
        y[::2] -= x[::2]
        if y.min() < 0:
            return {"low": y + 1, "of": (x, 3)}
        return {"high": y[::-1] * x}
    while y.max() > 1:
        y *= 0.5
    return [y, x.max()]


@gp.jit
def operations(x, y, m):
    rows = gp.sort(m, axis=1) + gp.cumsum(m, axis=0)
    picked = gp.where(x > 0, x, y)
    both = gp.concatenate([x, y[::-1]])
    out = gp.zeros(x.shape, x.dtype)
    out[1:] = gp.roll(picked, 1)[1:]
    return rows, gp.argsort(y), m @ m.T, both.reshape(2, -1).sum(axis=1), out, gp.arange(4) * 2 + x[:4]


def floats(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


CALLS = {
    "heat": (heat, lambda n: (floats(n, n, n + 3), np.float32(0.01 * n))),
    "decides": (decides, lambda n: (floats(n, n), floats(n + 1, n))),
    "operations": (operations, lambda n: (floats(n, n), floats(n + 1, n), floats(n + 2, n, n + 1))),
}


def called(function, arguments, sizes, shifts=(0,)):
    """Records calls of these sizes, of which numbers and what decides are others each time."""
    function.clear()
    for n in sizes:
        for shift in shifts:
            function(*ours(shifted(arguments(n), shift)))


def shifted(args, shift):
    return [arg + np.float32(shift) if arg.ndim == 1 else arg for arg in args]


def ours(args):
    return [gp.array(arg) if isinstance(arg, np.ndarray) and arg.ndim else arg for arg in args]


def compared(found, wanted):
    """Whether two results are the same, of the same kinds."""
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            compared(one, other)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        compared(list(found.values()), list(wanted.values()))
    else:
        found, wanted = np.asarray(found), np.asarray(wanted)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def check(loaded, function, args):
    """A call of a loaded function returns and writes the same as the function."""
    theirs, own = ours(args), ours(args)
    wanted = function.__wrapped__(*theirs)
    found = loaded(*own)
    compared(found, wanted)
    compared(own, theirs)


SHIFTS = (-3, 0, 3)


@pytest.mark.parametrize("name", ["heat", "decides"])
def test_a_saved_function_gives_what_the_function_gives(driver, name, tmp_path):
    check_saved(name, tmp_path)


def test_operations_over_axes_are_saved(auto, tmp_path):
    check_saved("operations", tmp_path)


def check_saved(name, tmp_path):
    function, arguments = CALLS[name]
    called(function, arguments, (6, 9, 10), SHIFTS)
    path = tmp_path / "function.gpupy"
    function.save(path)
    loaded = gp.load(path)
    assert loaded.__name__ == name
    for n in (9, 10):
        for shift in SHIFTS * 2:
            check(loaded, function, shifted(arguments(n), shift))
    assert loaded.stats()["replays"] > 0


@pytest.mark.parametrize("name", ["heat", "decides"])
def test_extents_that_follow_from_the_arguments_are_open(driver, name, tmp_path):
    function, arguments = CALLS[name]
    called(function, arguments, (4, 5, 7, 12, 33, 150), SHIFTS)
    path = tmp_path / "function.gpupy"
    function.save(path, open=True)
    loaded = gp.load(path)
    done = 0
    for n in (6, 8, 29, 31, 33, 64, 100, 149):
        for shift in SHIFTS:
            try:
                check(loaded, function, shifted(arguments(n), shift))
                done += 1
            except TypeError as error:
                assert "a decision that went another way" in str(error)
    assert done > 12
    with pytest.raises(TypeError, match=r"from . to 150"):
        loaded(*ours(arguments(151)))


def test_means_and_products_have_open_extents(auto, tmp_path):
    @gp.jit
    def scaled(x, w):
        centred = x - x.mean(axis=0)
        return (centred @ w) / x.shape[0], centred.std(), np.cumsum(centred, axis=0)[-1], x.T.copy()

    for n, m in [(3, 5), (8, 4), (20, 7), (33, 12), (90, 31), (3, 5)]:
        scaled(gp.array(floats(n, n, m)), gp.array(floats(m, m, 3)))
    scaled.save(tmp_path / "f", open=True)
    loaded = gp.load(tmp_path / "f")
    (takes,) = loaded.takes()
    assert takes == "(float32[n, m], float32[m, 3]) with n from 3 to 90, m from 4 to 31"
    for n, m in [(50, 6), (3, 31), (90, 4), (17, 17)]:
        args = gp.array(floats(n, n, m)), gp.array(floats(m, m, 3))
        compared(loaded(*args), scaled.__wrapped__(*args))


def test_a_file_is_called_in_a_process_without_the_source(tmp_path):
    function, arguments = CALLS["heat"]
    called(function, arguments, (5, 9))
    args = arguments(9)
    wanted = function(*ours(args))
    function.save(tmp_path / "heat.gpupy")
    np.save(tmp_path / "u.npy", args[0])
    program = [
        sys.executable,
        "-m",
        "gpupy",
        "run",
        "heat.gpupy",
        "u.npy",
        "0.09",
        "mean.npy",
        "most.npy",
        "after.npy",
    ]
    found = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    compared(np.load(tmp_path / "mean.npy"), wanted[0])
    compared(np.load(tmp_path / "most.npy"), wanted[1])
    own = ours(args)
    function.__wrapped__(*own)
    compared(np.load(tmp_path / "after.npy"), own[0])
    np.save(tmp_path / "v.npy", arguments(5)[0])
    wrong = [["none.gpupy"], ["u.npy", "u.npy"], ["heat.gpupy", "u.npy"], ["heat.gpupy", "u.npy", "x"]]
    for words in (*wrong, ["heat.gpupy", "v.npy", "x", "y.npy"]):
        found = subprocess.run(
            [sys.executable, "-m", "gpupy", "run", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 1
        assert found.stderr.startswith("gpupy-run: ")
        assert found.stderr.count("\n") == 1


def test_what_was_read_outside_is_in_the_file_as_it_was(auto, tmp_path):
    table = gp.array(floats(1, 7))

    @gp.jit
    def plus(x):
        return x + table

    x = gp.array(floats(2, 7))
    wanted = np.asarray(plus(x)).copy()
    plus.save(tmp_path / "f")
    table += 1
    compared(gp.load(tmp_path / "f")(x), wanted)

    @gp.jit
    def writes(x):
        table[:] = x
        return x

    writes(x)
    with pytest.raises(gp.JitError, match="writes or gives an array from outside"):
        writes.save(tmp_path / "g")
    assert not (tmp_path / "g").exists()


def test_arguments_of_other_looks_are_copied_or_refused(auto, tmp_path):
    @gp.jit
    def double(x, y):
        y *= 2
        return x + y

    double(gp.array(floats(1, 5, 4)), gp.array(floats(2, 5, 4)))
    double.save(tmp_path / "f")
    loaded = gp.load(tmp_path / "f")
    x, y = floats(3, 5, 4), gp.array(floats(4, 5, 4))
    before = np.array(y)
    for other in (x, gp.array(x.T.copy()).T, gp.array(np.repeat(x, 2, 0))[::2]):
        y[:] = before
        compared(loaded(other, y), x + 2 * before)
    with pytest.raises(TypeError, match="writes an argument"):
        loaded(y, x)
    with pytest.raises(TypeError, match="was recorded for"):
        loaded(y, y.astype(np.float64))
    with pytest.raises(TypeError, match="was not recorded for such a call"):
        loaded(y, y)


def opened(function, calls, path):
    """The function, recorded for these arguments and loaded from a file with open extents."""
    jit = gp.jit(function)
    for args in calls:
        jit(*ours(args))
    jit.save(path, open=True)
    return gp.load(path)


def test_what_was_read_is_in_the_file_as_it_is_when_that_is_written(auto, tmp_path):
    scale = 1.0

    @gp.jit
    def scaled(x):
        return x * scale

    x = gp.ones(4)
    scale = 2.0
    scaled(x)
    scale = 3.0
    scaled(x)
    scaled.save(tmp_path / "f")
    compared(gp.load(tmp_path / "f")(x), gp.full(4, 3.0))
    scale = 4.0
    with pytest.raises(gp.JitError, match="has changed since"):
        scaled.save(tmp_path / "f")


# A branch by a size has to be recorded on both sides.
ODD, POWERS, MIXED = [5, 7, 9, 33], [4, 8, 16, 64], [4, 5, 10, 11, 30, 33, 64]
MANY = [14, 51, 70, 32, 12, 75, 68, 20]


@pytest.mark.parametrize(
    ("by_size", "recorded"),
    [
        (lambda x: x + 1 if len(x) % 2 == 0 else x * 100, [MIXED, MANY]),
        (lambda x: x[::5] * 2, [ODD, POWERS, MIXED, MANY]),
        (lambda x: x - (len(x) - 1) / 2, [ODD, POWERS, MIXED, MANY]),
        (lambda x: x * (1 / len(x)) if len(x) < 20 else x / len(x), [MIXED, MANY]),
        (lambda x: x[: len(x) // 3 * 3].reshape(-1, 3).sum(axis=1), [ODD, POWERS, MIXED, MANY]),
    ],
)
def test_a_call_is_right_or_refused_whatever_sizes_decide(auto, by_size, recorded, tmp_path):
    for sizes in recorded:
        try:
            loaded = opened(by_size, [(floats(n, n),) for n in sizes], tmp_path / "f")
        except gp.JitError:
            continue
        for n in range(4, 76):
            x = gp.array(floats(n + 1, n))
            try:
                found = loaded(x)
            except TypeError:
                continue
            compared(found, by_size(x))


def _padded(x, to):
    padded = gp.zeros(-(-len(x) // to) * to)
    padded[: len(x)] = x
    return padded


@pytest.mark.parametrize(
    "by_size",
    [
        lambda x: _padded(x, 2),
        lambda x: _padded(x, 4) * 2,
        lambda x: _padded(x, 50),
        lambda x: x[: len(x) // 10 * 10],
        lambda x: x[: len(x) - len(x) % 4] + 1,
        lambda x: gp.roll(x, len(x) % 4),
        lambda x: x + len(x) % 5,
        lambda x: x * (len(x) & 1),
        lambda x: x[: len(x) & ~3],
        lambda x: gp.repeat(x[::2], 2),
        lambda x: gp.concatenate([x[: len(x) // 2], x[: len(x) // 2]]),
        lambda x: x[: int(len(x) / 4) * 4],
        lambda x: x[: round(len(x) / 20) * 20],
        lambda x: gp.full(len(x), divmod(len(x), 4)[1]),
        lambda x: gp.outer(x, x)[: len(x) // 2 * 2, : len(x) // 4 * 4].sum(axis=0),
        lambda x: _padded(gp.outer(x, x).ravel(), 4),
    ],
)
def test_what_is_rounded_is_right_or_refused(auto, by_size, tmp_path):
    for sizes in (
        *([100, 200, 300, 1000], [100, 120, 140, 160, 200, 300], [101, 201, 301], [3, 103, 203, 403]),
        *([100, 200, 301, 1000], [100, 103, 140, 167, 200, 300], [101, 201, 300], [64, 128, 192, 255]),
    ):
        try:
            loaded = opened(by_size, [(np.arange(float(n)),) for n in sizes], tmp_path / "f")
        except gp.JitError:
            continue
        for n in (101, 102, 103, 110, 128, 131, 160, 199, 200, 254, 303):
            x = gp.arange(float(n))
            try:
                found = loaded(x)
            except TypeError:
                continue
            compared(found, by_size(x))


def test_sizes_are_open_in_the_steps_in_which_they_were_recorded(auto, tmp_path):
    def shapes(x, y):
        return x[1:] * 2, gp.roll(x, len(x) % 4), gp.outer(x, y).ravel(), _padded(y, 2)

    calls = [(floats(1, n), floats(2, m)) for n, m in [(8, 3), (24, 5), (16, 9), (40, 13), (32, 7), (8, 11)]]
    loaded = opened(shapes, calls, tmp_path / "f")
    (takes,) = loaded.takes()
    assert takes.endswith("with n from 8 to 40 in steps of 8, m from 3 to 13 in steps of 2")
    args = gp.array(floats(3, 24)), gp.array(floats(4, 13))
    compared(loaded(*args), shapes(*args))
    for n, m in [(12, 5), (24, 6), (9, 3)]:
        with pytest.raises(TypeError, match="was recorded for"):
            loaded(gp.array(floats(3, n)), gp.array(floats(4, m)))


def test_parts_of_extents_are_told_by_all_remainders(auto, tmp_path):
    def part(x):
        return x[1::3] * 2, x[: len(x) // 2], x.reshape(len(x), 1)[::-1]

    loaded = opened(part, [(floats(n, n),) for n in (7, 12, 14, 18, 23, 29, 40, 61)], tmp_path / "f")
    for n in range(7, 62):
        x = gp.array(floats(n + 1, n))
        compared(loaded(x), part(x))


def test_extents_stand_to_each_other_as_they_did(auto, tmp_path):
    def write(x, v):
        x[1:-1, : len(v)] = v
        return x.sum()

    sizes = [(5, 8, 4), (6, 30, 9), (12, 20, 17), (9, 11, 3), (7, 14, 10), (8, 9, 6)]
    calls = [(floats(h, h, w), floats(w, n)) for h, w, n in sizes]
    loaded = opened(write, calls, tmp_path / "f")
    args = floats(1, 10, 25), floats(2, 16)
    check(loaded, gp.jit(write), args)
    x = gp.array(floats(1, 10, 9))
    with pytest.raises(TypeError, match="was recorded for"):
        loaded(x, gp.array(floats(2, 16)))
    compared(x, floats(1, 10, 9))


def test_what_is_not_in_a_file_is_not_guessed(auto, tmp_path):
    @gp.jit
    def half(x):
        return 1 / x

    half(gp.ones((2, 2)))
    half.save(tmp_path / "f")
    loaded = gp.load(tmp_path / "f")
    with np.errstate(divide="raise"), gp.errstate(divide="raise"):
        with pytest.raises(TypeError, match="errors of arithmetic"):
            loaded(gp.zeros((2, 2)))
    for other in (np.matrix(np.ones((2, 2))), np.ma.array(np.ones((2, 2)))):
        with pytest.raises(TypeError, match="was recorded for"):
            loaded(other)
    found = gp.jit(lambda x: loaded(x) + 1)
    with pytest.raises(TypeError, match="inside another"):
        found(gp.ones((2, 2)))


def test_what_a_file_cannot_have_is_said(auto, tmp_path):
    @gp.jit
    def of(x, what):
        return what(x)

    with pytest.raises(gp.JitError, match="nothing is recorded"):
        of.save(tmp_path / "f")
    of(gp.array(floats(1, 5)), np.sin)
    with pytest.raises(gp.JitError, match="an argument of class ufunc"):
        of.save(tmp_path / "f")
    heat.clear()
    heat(*ours(CALLS["heat"][1](5)))
    with pytest.raises(gp.JitError, match="at least 3"):
        heat.save(tmp_path / "f", open=True)
    with pytest.raises(FileNotFoundError):
        heat.save(tmp_path / "none" / "f")


def test_numbers_and_constants_come_back_as_they_were(auto, tmp_path):
    constants = [
        None,
        True,
        3,
        -(10**30),
        2.5,
        float("nan"),
        -0.0,
        1 + 2j,
        "a'b",
        b"\x00\xff",
        np.int8(3),
        np.float64(0.1),
    ]
    constants += [slice(1, None, -2), range(3, 9, 2), np.dtype("float32"), np.float32]

    @gp.jit
    def echo(x, items, *, key):
        return [*items, key, x + 1, x.sum()]

    x = gp.array(floats(1, 5))
    echo(x, tuple(constants), key={"a": 1.5})
    echo.save(tmp_path / "f")
    found = gp.load(tmp_path / "f")(x, tuple(constants), key={"a": 1.5})
    for one, other in zip(found, constants, strict=False):
        assert type(one) is type(other)
        assert repr(one) == repr(other)


def test_damaged_files_are_errors(tmp_path):
    source = (DATA / "operations.gpupy").read_bytes()
    path = tmp_path / "f"

    def load(data):
        path.write_bytes(data)
        return gp.load(path)

    assert load(source).__name__ == "operations"
    chance = random.Random(1)
    for cut in sorted(chance.sample(range(8, len(source)), 60)):
        with pytest.raises(ValueError, match="f: "):
            load(source[:cut])
    loaded = 0
    for _ in range(300):
        data = bytearray(source)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(8, len(data))] = chance.randrange(256)
        try:
            load(bytes(data))
            loaded += 1
        except ValueError as error:
            assert "\n" not in str(error)
    assert loaded < 300
    with pytest.raises(ValueError, match="version"):
        load(source[:8] + (2).to_bytes(4, "little") + source[12:])


@pytest.mark.parametrize("name", CALLS)
def test_files_of_before_are_read(auto, name):
    """Of the version that is written; `GPUPY_BLESS=1` writes them again."""
    function, arguments = CALLS[name]
    if os.environ.get("GPUPY_BLESS"):
        called(function, arguments, (4, 5), SHIFTS)
        DATA.mkdir(exist_ok=True)
        function.save(DATA / f"{name}.gpupy")
    loaded = gp.load(DATA / f"{name}.gpupy")
    for shift in SHIFTS:
        check(loaded, function, shifted(arguments(5), shift))
