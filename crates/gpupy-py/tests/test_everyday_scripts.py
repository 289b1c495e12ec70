"""Everyday scripts print the same with a thousand elements and with a million, by NumPy and by gpupy.

What they print are the types of numbers, and what Python's modules make of numbers: these ask for NumPy's own
scalars, in C or by their class. A script is a program of its own, as the names of a program are followed in
another way than those of a function.

Not here: functions (``test_scalar_types.py``), operands of the program's own classes
(``test_classes_beside_numbers.py``).
"""

import importlib.util
import json
import os
import subprocess
import sys
import textwrap

import pytest

# Computed at once, and pending.
SIZES = (1_000, 1_000_000)
HEAD = """
import sys
import {library} as np
size = int(sys.argv[1])
x = np.asarray(__import__("numpy").arange(size) % 10 / 4)
n = (x * 4).astype("i8")
def kind(*found):
    print(*[type(each).__name__ for each in found])
"""
SCRIPTS = {
    "json": """
    import json
    stats = {"mean": x.mean(), "low": x.min(), "high": round(x.max(), 2), "all": [x.std() > 0]}
    stats["all"] = bool(stats["all"][0])
    print(json.dumps(stats, sort_keys=True))
    kind(*stats.values())
    try:
        json.dumps({"n": n.max()})
    except TypeError as error:
        print(error)
    """,
    "dates": """
    import datetime
    step = datetime.timedelta(seconds=x.max())
    start = datetime.datetime(2026, 1, 1)
    print(start + step, start + datetime.timedelta(days=float(n.max())), step * x.max())
    for each in (x.max(), x.mean() * 2):
        print(datetime.timedelta(minutes=each), datetime.datetime.fromtimestamp(each, datetime.timezone.utc))
    """,
    "decimal": """
    import decimal, fractions
    high = x.max()
    print(decimal.Decimal(high), decimal.Decimal(x.mean()), decimal.Decimal(int(n.max())) / 3)
    print(fractions.Fraction(high), high + fractions.Fraction(1, 3))
    kind(high + fractions.Fraction(1, 3), decimal.Decimal(x.min() + high))
    """,
    "sqlite": """
    import sqlite3
    base = sqlite3.connect(":memory:")
    base.execute("create table t (name, low real, high)")
    base.execute("insert into t values (?, ?, ?)", ("x", x.min(), x.max()))
    base.executemany("insert into t values (?, ?, ?)", [(k, (x * k).min(), (x * k).max()) for k in range(3)])
    base.execute("insert into t values (:a, :b, :c)", {"a": "y", "b": x.mean(), "c": n.max()})
    for row in base.execute("select * from t"):
        print(row)
        kind(*row)
    """,
    "statistics": """
    import statistics, random
    means = [(x * k).mean() for k in range(1, 5)]
    print(statistics.mean(means), statistics.median(means), statistics.pstdev(means), statistics.fmean(means))
    kind(statistics.mean(means), statistics.mode([n.max(), n.max()]))
    kind(max(means), sum(means), sorted(means)[0])
    random.seed(int(n.max()))
    print(random.random(), random.Random(x.max()).random(), random.randint(0, n.max()))
    print(random.uniform(x.min(), x.max()), random.gauss(x.mean(), x.std()))
    """,
    "struct": """
    import struct, array
    print(struct.pack("<dfq", x.max(), x.min(), n.max()), struct.pack("<?", x.max() > 2))
    print(array.array("d", [x.max(), x.mean()]), array.array("q", [n.max()]), bytes([n.max(), n.min()]))
    numbers = array.array("d")
    numbers.append(x.max())
    print(n.max().to_bytes(2, "big") if hasattr(n.max(), "to_bytes") else "no bytes", numbers)
    """,
    "text": """
    mean, high, top = x.mean(), x.max(), n.max()
    print(f"{mean:.3f} {high!r} {high!s} {top:5d} {top:x} {mean:>10.2e} {mean:%} {top:,}")
    print("%s %r %d %.2f" % (high, high, top, mean), "{:08.3f} {}".format(mean, top), str(high) + repr(top))
    print(format(mean, ".2f"), mean, [high], (top,), {"k": high})
    print("ab" * top, "abcdefghijkl"[top], "{0:{1}}".format("x", top), "x".ljust(top) + "|")
    """,
    "keys": """
    counts = {}
    for each in (n.max(), n.min(), x.max(), x.max() > 1):
        counts[each] = counts.get(each, 0) + 1
    print(counts, n.max() in counts, 9 in counts, 2.25 in {x.max()}, hash(x.max()) == hash(2.25))
    kind(*counts)
    print(counts == {9: 1, 0: 1, 2.25: 1, True: 1}, {x.max(): "high"}[2.25], len({x.max(), 2.25, n.max(), 9}))
    """,
    "classes": """
    import numbers, collections
    mean, top, some = x.mean(), n.max(), x.max() > 1
    print(isinstance(mean, float), isinstance(top, int), isinstance(some, bool))
    print(isinstance(mean, numbers.Real), isinstance(mean, numbers.Number))
    print(isinstance(top, numbers.Integral), isinstance(mean, (int, float)))
    print(mean.is_integer(), top.bit_count())
    kind(mean, top, some, mean.item(), top.item(), mean.real, mean + 1, 1 + top, mean * top, -mean, not some)
    Point = collections.namedtuple("Point", "x y")
    point = Point(x.min(), x.max())
    kind(point.x, *point, *point._asdict().values())
    match top:
        case int():
            print("an int")
        case numbers.Integral():
            print("integral")
    """,
    "math": """
    import math, cmath, operator
    mean, high, top = x.mean(), x.max(), n.max()
    print(math.sqrt(high), math.floor(high), math.ceil(mean), math.isclose(high, 2.25), math.factorial(top))
    print(math.gcd(top, 6), math.comb(top, 2), math.fsum([high, high]), math.hypot(high, 3))
    print(cmath.sqrt(-high))
    kind(math.sqrt(high), math.floor(high), round(high), round(high, 1), int(high), float(top), abs(high))
    kind(divmod(high, 2)[0], high // 1, top % 4, top ** 2, high ** top, top / 2, pow(top, 2), complex(high))
    print(operator.index(top), bin(top), hex(top), math.trunc(high), math.modf(high), math.frexp(high))
    """,
    "places": """
    import itertools, time
    top, place = n.max(), x.argmax()
    print(list(range(top))[-1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10][top], list("abcdefghijk")[:place][-1])
    print(list(itertools.islice(itertools.count(), top))[-1], [0] * top, slice(0, top).indices(5))
    kind(place, top, x.argmin(), range(top)[-1], range(place)[0], np.count_nonzero(x))
    print(np.zeros(top).shape, np.arange(top)[-1], x[place], x[: top].shape, x.reshape(-1, top + 1).shape)
    time.sleep(x.min())
    row = [0.0] * 3
    row[n.min()] = x.max()
    kind(*row)
    """,
    "files": """
    import csv, io, pickle, copy, configparser
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\\n")
    writer.writerow([x.mean(), x.max(), n.max(), x.max() > 1])
    writer.writerows([[k, (x * k).max()] for k in range(2)])
    csv.DictWriter(out, ["a"], quoting=csv.QUOTE_NONNUMERIC, lineterminator="\\n").writerow({"a": x.max()})
    print(out.getvalue())
    stored = pickle.dumps({"mean": x.mean(), "n": n.max()})
    kind(*pickle.loads(stored).values(), copy.copy(x.max()), copy.deepcopy([x.max()])[0])
    print(b"gpupy" in stored, x.max().tobytes(), memoryview(x.max()).tobytes())
    """,
    "containers": """
    import heapq, bisect, functools, collections, dataclasses, queue
    totals = []
    for k in range(3):
        heapq.heappush(totals, (x * k).sum())
        bisect.insort(totals, (x + k).max())
    kind(*totals)
    kind(functools.reduce(lambda a, b: a + b, [x.max(), x.min()]), next(iter(x)))
    kind(min(x.max(), 1), max([x.max(), 1]))
    kind(*collections.deque([x.max()]), *collections.Counter([n.max()]), *map(np.max, [x, n]), *{x.min()})
    @dataclasses.dataclass
    class Row:
        low: float
        high: float = 0.0
    row = Row(x.min())
    row.high += x.max()
    kind(row.low, row.high, *dataclasses.astuple(row))
    print(row)
    waiting = queue.Queue()
    waiting.put(x.max())
    kind(waiting.get())
    """,
    "pandas": """
    import pandas as pd
    frame = pd.DataFrame({"mean": [x.mean(), x.max()], "n": [n.max(), n.min()]}, index=[x.min(), x.max()])
    print(frame, frame.dtypes.tolist(), frame.loc[x.max(), "n"], frame["n"].clip(upper=n.max()).tolist())
    series = pd.Series({"low": x.min(), "high": x.max()})
    print(series * x.max(), series > x.mean(), pd.Timedelta(seconds=x.max()), pd.isna(x.mean()))
    print(pd.Timestamp(2026, 1, n.max()) + pd.Timedelta(x.max(), "h"), series.map({x.max(): "high"}).tolist())
    """,
    "loop": """
    total, best, history = 0, None, []
    for k in range(4):
        y = x * k
        total += y.sum()
        norm = np.sqrt((y * y).sum())
        if best is None or norm > best:
            best = norm
        history.append(norm / size)
    kind(total, best, *history)
    print(best == norm, f"{total / size:.6f}", [round(float(each), 9) for each in history])
    rows = {name: getattr(x, name)() for name in ("sum", "mean", "min", "max", "std", "any", "argmax")}
    kind(*rows.values())
    """,
}


if importlib.util.find_spec("pandas") is None:
    del SCRIPTS["pandas"]

# Runs scripts one after another, each as a program: what they print, by their names.
RUNNER = """
import contextlib, io, json, runpy, sys
found = {}
for path in sys.argv[2:]:
    sys.argv[1:] = [sys.argv[1]]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(path, run_name="__main__")
    found[path] = out.getvalue()
print(json.dumps(found))
"""


def printed(arguments):
    environment = {**os.environ, "GPUPY_DRIVER": "cpu"}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The files of the scripts, by library and name."""
    folder = tmp_path_factory.mktemp("scripts")
    made = {}
    for library in ("numpy", "gpupy"):
        for name, text in SCRIPTS.items():
            path = folder / f"{name}_by_{library}.py"
            path.write_text(HEAD.format(library=library) + textwrap.dedent(text))
            made[library, name] = str(path)
    return made


@pytest.fixture(scope="module")
def texts(paths):
    """What each script prints, by library, name and size."""
    found = {}
    for library in ("numpy", "gpupy"):
        names = {paths[library, name]: name for name in SCRIPTS}
        for size in SIZES:
            by_path = json.loads(printed(["-c", RUNNER, str(size), *names]))
            found |= {(library, names[path], size): text for path, text in by_path.items()}
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_what_it_prints_by_numpy(texts, name, size):
    wanted = texts["numpy", name, size]
    assert wanted.strip() and texts["gpupy", name, size] == wanted


@pytest.mark.parametrize("name", SCRIPTS)
def test_so_it_does_when_only_its_numpy_is_gpupy(texts, paths, name):
    size = SIZES[1]
    assert printed(["-m", "gpupy", paths["numpy", name], str(size)]) == texts["numpy", name, size]
