"""Microseconds a node of recording and of planning, by kind and length: `cargo xtask bench --loops --nodes`.

Owns `KINDS`: programs of n operations on a few elements, so that what takes time is their number. A kind
has a process of its own. There each length is recorded and then evaluated, with a clock for either: the
first time, and twice more, of which the faster is the replay. The placement is `strict`, so that nothing is
eager. Long programs are evaluated in parts while they are recorded, so a bend shows in the sum of both. A
length is left out where the shorter one lets expect more than `CAP` seconds. Not here: loops
(`benches/loops.py`, which starts this).
"""

import json
import sys
import time

import numpy

import gpupy
from gpupy._bench import table

LENGTHS = (100, 1000, 10_000, 100_000)
WIDTH = 16
# Seconds of one kind at one length; a process that needs more than `LIMIT` for all lengths is given up.
CAP, LIMIT = 20.0, 300
HEADS = (
    *("kind", "operations", "record, µs", "first, µs", "both", "again: record", "replay", "both"),
    *("launches", "compiled", "parts", ""),
)


def chain(np, x, n):
    for _ in range(n // 2):
        x = x * 0.5 + 0.25
    return x


def tree(np, x, n):
    values = [x + k for k in range(n // 2 + 1)]
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        values = [a + b for a, b in pairs] + values[len(values) // 2 * 2 :]
    return values[0]


def shared_graph(np, x, n):
    y = x * 0.5
    for _ in range(n // 4):
        x, y = (x + y) * 0.5, (x - y) * 0.5
    return x + y


def joins(np, x, n):
    for _ in range(n // 2):
        x = np.concatenate([x[1:] * 0.5, x[:1]])
    return x


def slice_updates(np, x, n):
    x = x.copy()
    for _ in range(n // 3):
        x[1:-1] += 0.1 * (x[2:] - x[1:-1])
    return x


def masks(np, x, n):
    for _ in range(n // 3):
        x = np.where(x > 0.5, x * 0.5, x)
    return x


def masked_writes(np, x, n):
    x = x.copy()
    for _ in range(n // 3):
        x[x > 0.5] = 0.25
        x += 0.01
    return x


def gathers(np, x, n):
    at = np.arange(WIDTH)[::-1].copy()
    for _ in range(n // 2):
        x = x[at] * 0.5
    return x


KINDS = {
    kind.__name__.replace("_", " "): kind
    for kind in (chain, tree, shared_graph, joins, slice_updates, masks, masked_writes, gathers)
}


def once(kind, n, base, number):
    """The seconds of recording and of evaluating, and what was counted."""
    x = base * (1 + number / 7)
    gpupy.reset_stats()
    start = time.perf_counter()
    result = kind(gpupy, x, n)
    recorded = time.perf_counter()
    gpupy.evaluate(result)
    done = time.perf_counter()
    counts = gpupy.stats()
    wanted = kind(numpy, numpy.linspace(0, 1, WIDTH) * (1 + number / 7), n) if n <= LENGTHS[1] else None
    right = wanted is None or numpy.array_equal(numpy.asarray(result), wanted)
    return recorded - start, done - recorded, counts, right


def measure(kind):
    """The rows of a kind."""
    base = gpupy.linspace(0, 1, WIDTH)
    gpupy.evaluate(base, gpupy.zeros(3) + 1)
    rows, grows, before = [], 10.0, 0.0
    for n in LENGTHS:
        if before * grows > CAP:
            rows.append({"n": n, "expected": before * grows})
            before *= grows
            continue
        record, first, counts, right = once(kind, n, base, 0)
        took = record + first
        again = []
        while len(again) < 2 and took + sum(sum(each[:2]) for each in again) < CAP / 2:
            again.append(once(kind, n, base, len(again) + 1))
        right = right and all(each[3] for each in again)
        if before:
            grows = max(10.0, took / before)
        before = took
        rows.append(
            {
                "n": n,
                "record": record,
                "first": first,
                "again": min((each[:2] for each in again), key=sum, default=None),
                "launches": counts["launches"],
                "compiled": counts["kernels_compiled"],
                "parts": counts["automatic_flushes"],
                "eager": counts["computed_at_once"],
                "right": right,
            }
        )
    return rows


def cells(name, row):
    """The row of the table."""
    n = row["n"]
    if "expected" in row:
        return (name, str(n), *["" for _ in HEADS[3:]], f"left out: about {row['expected']:.0f} s")
    first, again = (row["record"], row["first"]), row["again"]
    times = [*first, sum(first)] + ([*again, sum(again)] if again else [None] * 3)
    said = [] if row["right"] else ["WRONG"]
    said += [f"eager {row['eager']}"] if row["eager"] else []
    return (
        name,
        str(n),
        *("" if seconds is None else table.three(1e6 * seconds / n) for seconds in times),
        *(str(row[key]) for key in ("launches", "compiled", "parts")),
        "; ".join(said),
    )


def report(options, started):
    """Prints the table; the status is 1 if a kind failed or was wrong."""
    rows, failed = [], False
    for name in options.programs:
        measured = started("loop_nodes.py", {"kind": name}, options, LIMIT)
        if isinstance(measured, str):
            failed = True
            rows.append((name, *["" for _ in HEADS[2:]], f"FAILED: {measured}"))
        else:
            failed |= not all(row.get("right", True) for row in measured)
            rows += [cells(name, row) for row in measured]
        for row in rows:
            if row[0] == name:
                print("   " + "  ".join(row), file=sys.stderr, flush=True)
    print("\n".join(table.aligned(HEADS, rows)))
    print("\nµs an operation. Parts: how often recording evaluated by itself, which counts as recording.")
    return 1 if failed else 0


if __name__ == "__main__":
    print(json.dumps(measure(KINDS[json.loads(sys.argv[1])["kind"]])))
