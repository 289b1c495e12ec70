"""Everyday operations on few elements by NumPy and by gpupy in turns: what a call costs.

Owns the operations, what is aimed at, and their table. Invariants: each side ends with what NumPy gives; both
see the same numbers; arrays are made anew for each round, and ``k`` is another number in the next call, so
that no answer is one that is still known. Not here: programs on many elements (``programs``, ``timing``).
"""

import itertools
import re
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy

import gpupy

SIZES = (10, 1000)

# Operations, with the ratio NumPy / gpupy that is aimed at; 0 where there is no aim.
EXPRESSIONS = {
    **dict.fromkeys(("x + y", "2.5 * x + y", "x > y", "np.sqrt(x)", "np.maximum(x, y)"), 0.0),
    **dict.fromkeys(("np.where(m, x, y)", "x.sum()", "x.max()", "x.mean()", "m.any()", "x.cumsum()"), 0.0),
    **dict.fromkeys(("np.sort(x)", "x @ y", "x[1:-1] + x[2:]", "x[m]", "len(x)", "x.shape"), 0.0),
    **dict.fromkeys(("x[3]", "float(x[3])", "x[k]", "x[i]", "x[1:]", "x[k:]"), 0.9),
    **dict.fromkeys(("x[0] > 3", "t[2, k]", "0.5 + np.tanh(t[k, k])"), 0.8),
    **dict.fromkeys(("x[cols[k:k + 5]]", "x.reshape(2, -1)"), 0.9),
    **dict.fromkeys(("np.zeros(n)", "np.arange(n)", "np.concatenate([x, y])", "2.5 * g + h"), 1.0),
    **dict.fromkeys(("np.array(values)", "x.copy()", "x.astype('float64')", "x.tolist()"), 0.0),
    "numpy.asarray(x)": 0.0,
}
STATEMENTS = {
    **dict.fromkeys(("z[2] = 1.0", "z[k] = 1.0"), 0.9),
    **dict.fromkeys(("z[2:5] = 0.5", "z[:] = y", "z += y"), 0.0),
}
# Of an array of many elements, gone through as a whole.
LOOPS = dict.fromkeys(("for e in w: pass", "w.tolist()", "sum(w)"), 1.0)
MANY = 100_000
# What programs do with few elements beside their long arrays. `s` are numbers from an array, `u`, `v` and
# `v8` have 1, 3 and 8 elements, `c` complex ones, `r` fields, and `d` days.
RARER = dict.fromkeys(
    (
        *("np.array([s[0], s[1], s[2]])", "np.array([v[1] - v[0], v[0] * v[2], v[2]])", "np.array([s, s])"),
        *("np.array([[1, s[0]], [2, 3]])", "np.stack([x, y])", "np.stack((x, y), axis=1)"),
        *("np.concatenate([[np.inf], x])", "np.hstack((0, x))", "np.vstack((x, y))", "np.append(x, 1.0)"),
        *("np.column_stack((x, y))", "np.r_[0, x]", "np.pad(x, 1)", "np.tile(x, 2)", "np.repeat(v, 2)"),
        *("np.arange(20, -1, -1.0)", "np.arange(0, 1, 0.1)", "np.linspace(0, 1, 10)", "np.eye(3)"),
        *("np.full(3, 0.5)", "np.ones(3)", "np.zeros_like(x)", "np.copyto(x, 1.0)", "np.copyto(x, y)"),
        *("r['a']", "r['a'][1]", "r[1]", "r['a'] += 1", "r['a'] + r['b']", "r[1]['a'] = 2"),
        *("c[2] = 1j", "c[k] = 2.0", "b[2] = True", "c[3]", "c + c", "b & b", "~b"),
        *("d - d", "d + day", "d[3] - d[0]", "d > d[2]", "d[1:] - d[:-1]", "d.min()", "d.astype('M8[h]')"),
        *("np.lexsort((x, y))", "np.nonzero(t > 0.5)", "np.nonzero(m)", "np.argwhere(m)", "np.argsort(x)"),
        *("np.kron(v, v)", "np.outer(v, v)", "np.cross(v, v)", "np.dot(v, v)", "np.linalg.norm(v)"),
        *("np.select([m, b], [x, y])", "np.average(x)", "np.average(x, weights=y)", "np.insert(x, 2, 1.0)"),
        *("np.delete(x, 2)", "np.clip(x, 2, 5)", "np.roll(x, 1)", "np.flip(x)", "np.diff(x)", "np.unique(i)"),
        *("x.sum(keepdims=True)", "t.max(1, keepdims=True)", "t.mean(0, keepdims=True)", "t.sum(axis=1)"),
        *("t - t.mean(1, keepdims=True)", "x.std()", "x.var()", "x.argmax()", "np.isclose(x, y)"),
        *("np.any(x > 3)", "np.all(x > 3)", "np.allclose(x, y)", "np.isfinite(x).all()", "np.abs(x).max()"),
        *("u + u", "u * 2.0", "v + v", "v * 2.0", "v - 1", "-v", "v8 + v8", "v8 * v8 + 1", "v @ v"),
        *("np.exp(v)", "np.sqrt(u)", "v ** 2", "v.sum()", "v8 > 3", "v8.max()", "v8[v8 > 3]", "v.tolist()"),
        *("x[[0, 2]]", "v8[:, None] * v8", "np.where(v8 > 3, v8, 0)", "v.copy()", "v[::-1]", "t[3]"),
        *("x[2] += 1", "x[2:4] += 1", "x[i] = 0", "x[m] = 0", "v += 1", "v *= 1.0", "t[:, 2] = 0"),
        *("v8.reshape(2, 4)",),
        *("t.T", "t @ t.T", "t.ravel()", "t[2].sum()", "np.maximum(v, 0)", "np.sum(v)", "np.max(x)"),
        *("np.where(m)", "np.searchsorted(x, 3.0)", "np.round(x, 2)", "np.sign(x)", "x.dot(y)", "x.min()"),
    ),
    0.8,
)
# What NumPy does, of one and of two arrays, with arrays and with numbers for results.
FALLBACKS = (
    *("np.packbits(m)", "np.nancumsum(x)", "np.partition(x, 3)", "np.bincount(i)", "np.spacing(x)"),
    *("np.gradient(x)", "np.fft.rfft(x)", "np.trapezoid(x)", "np.linalg.norm(x)", "np.median(x)"),
    *("np.interp(x, x, y)", "np.digitize(y, x)", "np.convolve(x, y)", "np.nextafter(x, y)"),
    *("np.array_equal(x, y)", "x.argpartition(3)"),
)

# What is named in operations: elements of `g` and `h`, extents of `t`, and what `k` is in turn.
FEW, TABLE, NUMBERS = 100, (10, 12), (3, 0, 4, 1, 2)

# The least time of a side in a round, in seconds.
LEAST = 2e-3
# The time of this thread alone, where it is told finely enough: other programs count for less.
_CLOCK = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter

Names = dict[str, Any]


def run(names: Iterable[str] | None, rounds: int) -> int:
    """Times every operation on these drivers, or the one in use; returns the status of the command."""
    right = True
    for name in names or [gpupy.current_driver()]:
        gpupy.use(name)
        aimed: list[tuple[float, float]] = []
        for title, operations, size in (
            *((f"{size} elements of float32", EXPRESSIONS | STATEMENTS, size) for size in SIZES),
            (f"{SIZES[0]} elements and fewer", RARER, SIZES[0]),
            (f"{MANY} elements of float32, all of them", LOOPS, MANY),
        ):
            print(f"\n{name}, {title}: nanoseconds, NumPy / gpupy\n")
            same, ratios = _table("ratio", operations, size, rounds)
            right &= same
            aimed += [(ratio, aim) for ratio, aim in zip(ratios, operations.values(), strict=True) if aim]
        reached = sum(ratio >= aim for ratio, aim in aimed)
        mean = statistics.geometric_mean(ratio for ratio, _ in aimed)
        print(f"\n{reached} of {len(aimed)} aims are reached; the geometric mean of these rows is {mean:.3f}")
        print(f"\n{name}, calls that NumPy does, 10 elements: nanoseconds, and how many more\n")
        right &= _table("more", dict.fromkeys(FALLBACKS, 0.0), 10, rounds)[0]
    return 0 if right else 1


def _table(column: str, operations: dict[str, float], size: int, rounds: int) -> tuple[bool, list[float]]:
    """Prints the times of operations; returns whether all results are right, and the ratios."""
    print(f"| {'operation':24} |   NumPy |   gpupy | {column:5} |  aim |")
    print(f"|{'-' * 26}|--------:|--------:|------:|-----:|")
    right, ratios = True, []
    for operation, aim in operations.items():
        same = _same(operation, *(setting(module, size) for module in (numpy, gpupy)))
        a, b = (1e9 * time for time in _times(operation, size, rounds))
        last = f"{a / b:5.2f}" if column == "ratio" else f"{b - a:5.0f}"
        wanted = f"{aim:4.1f}" if aim else "    "
        words = f"| {operation:24} | {a:7.0f} | {b:7.0f} | {last} | {wanted} |"
        print(f"{words}{'' if same else ' wrong'}", flush=True)
        ratios.append(a / b)
        right &= same
    return right, ratios


def setting(np: Any, size: int) -> Names:
    """What the operations are about, made by NumPy or by gpupy."""

    def line(start: float, size: int) -> Any:
        return np.asarray(numpy.linspace(start, 9 - start, size, dtype=numpy.float32))

    x, y, z = (line(k, size) for k in (1, 2, 3))
    return {
        "np": np,
        "numpy": numpy,
        "n": size,
        **{"x": x, "y": y, "z": z, "w": x, "m": x > y},
        **{"g": line(4, FEW), "h": line(5, FEW)},
        "t": np.asarray(numpy.linspace(0, 1, TABLE[0] * TABLE[1], dtype=numpy.float32).reshape(TABLE)),
        "i": np.asarray(numpy.array([3, 1, 4, 1, 5]) % size),
        "cols": np.asarray(numpy.arange(FEW, dtype=numpy.int32) * 7 % size),
        "k": NUMBERS[0],
        "values": [1.5, 2.5, 3.5],
        **_few(np),
    }


def _few(np: Any) -> Names:
    """What the rarer operations are about."""
    records = numpy.zeros(5, [("a", "f8"), ("b", "i4")])
    arrays = {
        "u": numpy.array([1.5]),
        "v": numpy.array([1.5, 2.5, 4.5]),
        "v8": numpy.arange(8.0),
        "b": numpy.arange(10) % 3 == 0,
        "c": numpy.arange(10) + 1j,
        "r": records,
        "d": numpy.arange("2020-01-01", "2020-01-11", dtype="M8[D]"),
    }
    made = {name: np.asarray(array) for name, array in arrays.items()}
    return {**made, "s": list(numpy.array([1.5, 2.5, 3.5])), "day": numpy.timedelta64(1, "D")}


def _same(operation: str, theirs: Names, ours: Names) -> bool:
    """Whether both sides end with the same, up to the last bits of sums."""
    wanted, found = (_outcome(operation, names) for names in (theirs, ours))
    if isinstance(wanted, tuple):
        wanted, found = numpy.hstack(wanted), numpy.hstack(found)
    if numpy.shape(wanted) != numpy.shape(found):
        return False
    numbers = numpy.asarray(wanted).dtype.kind in "biufc"
    if not numbers:
        return bool(numpy.all(wanted == found))
    return numpy.allclose(wanted, found, rtol=1e-5, atol=1e-6)


def _outcome(operation: str, names: Names) -> Any:
    """The value of an expression; of a statement, what it changed."""
    try:
        code = compile(operation, "operation", "eval")
    except SyntaxError:
        exec(operation, names)
        return names["e" if operation in LOOPS else operation[0]]
    result = eval(code, names)
    return names["x"] if result is None else result


def repeated(operation: str) -> Callable[[Names, int], float]:
    """What does an operation so many times on what names stand for, and gives the seconds of one."""
    # A variable that is assigned to would be a local one of the function.
    name, kind = re.match(r"(\w*) ?(\S*)", operation).groups()  # type: ignore[union-attr]
    body = f"global {name}; {operation}" if kind in ("+=", "*=") else operation

    def timed(names: Names, number: int) -> float:
        exec(f"def loop(numbers):\n for k in numbers:\n  {body}\n", names)
        numbers = list(itertools.islice(itertools.cycle(NUMBERS), number))
        before = _CLOCK()
        names["loop"](numbers)
        return (_CLOCK() - before) / number

    return timed


def _times(operation: str, size: int, rounds: int) -> list[float]:
    """The seconds of one operation on each side: medians of rounds in turns."""
    timed = repeated(operation)
    repeats = []
    for module in (numpy, gpupy):
        names, number = setting(module, size), 1 if operation in LOOPS else 1000
        timed(names, number)
        repeats.append(max(1, round(LEAST / timed(names, -(-number // 10)))))
    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for module, number, seen in zip((numpy, gpupy), repeats, times, strict=True):
            seen.append(timed(setting(module, size), number))
    return [statistics.median(seen) for seen in times]
