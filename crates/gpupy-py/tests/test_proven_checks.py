"""Checks that compiled loops leave out because they hold, where they almost hold: by one at each end.

Each text runs with arguments for which its indices and numbers are within, and then, by the same code, with
others.
Not here: random loops (`test_compiled_loops.py`).
"""

import numpy as np
import pytest
from drawn_loops import outcome
from test_compiled_loops import MODES, both

from gpupy._loops import entries

pytestmark = pytest.mark.usefixtures("compiles_loops")


def loop(*lines, after="return locals()"):
    """A function of arrays and numbers, with a loop."""
    body = "".join(f"    {line}\n" for line in (*lines, after))
    return f"def f(x, y, m, a, n):\n    s = k = 0\n{body}"


def drawn(extent, other=None, shape=(0, 0), dtype="i8"):
    other = extent if other is None else other
    return (
        np.arange(extent).astype(dtype),
        np.arange(other).astype(dtype),
        np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype),
    )


# Extents, and numbers at, below and above them.
NEAR = [(e, n) for e in (5, 1, 0, 2, 6) for n in (e, e - 1, e + 1, 0, -1, 1)]
BIG = 2**63


def of_extents(a=0, dtype="i8"):
    return [(lambda e=e, n=n: (*drawn(e, dtype=dtype), a, n)) for e, n in NEAR]


def of_shapes():
    shapes = [(5, 5), (4, 5), (5, 4), (1, 5), (5, 1), (0, 5), (6, 6), (2, 2)]
    return [(lambda s=s, n=n: (*drawn(5, shape=s), 0, n)) for s in shapes for n in (5, 4, 6, 1, 0)]


def of_numbers(*numbers):
    return [(lambda a=a, n=n: (*drawn(5), a, n)) for a in numbers for n in (3, 1, 0, 5)]


CASES = {
    "up": (loop("for i in range(n): x[i] = i + a"), of_extents()),
    "by its length": (loop("for i in range(len(x) + a): x[i] += 1"), of_numbers(0, 1, -1)),
    "between": (loop("for i in range(1, n - 1): x[i] = x[i - 1] + x[i + 1]"), of_extents()),
    "from below": (
        loop("for i in range(a, n): x[i - 1] += x[i]"),
        of_extents(0) + of_extents(1) + of_extents(-2),
    ),
    "down": (loop("for i in range(n - 1, -1, -1): x[i] = x[i - 1] + i"), of_extents()),
    "down to one": (loop("for i in range(n, 0, -1): x[i - 1] += i"), of_extents()),
    "mirrored": (loop("for i in range(n): x[n - 1 - i] += y[i]"), of_extents()),
    "from the end": (loop("for i in range(n): s += x[-1] + x[-2] - x[-i]"), of_extents()),
    "before the end": (loop("for i in range(-n, 0): x[i] += i"), of_extents()),
    "by steps": (loop("for i in range(0, n, 3): x[i + 2] += x[i]"), of_extents()),
    "by steps down": (loop("for i in range(n - 1, -1, -2): x[i] += x[i - 1]"), of_extents()),
    "a triangle": (loop("for i in range(n):", "    for j in range(i + 1): x[j] += y[i - j]"), of_extents()),
    "a part": (
        loop("for i in range(n):", "    for j in range(i, n): m[i, j] += m[j, i] + x[j - i]"),
        of_shapes(),
    ),
    "neighbours": (
        loop("for i in range(1, n):", "    for j in range(1, n): m[i, j] += m[i - 1, j - 1] + m[i - 1, j]"),
        of_shapes(),
    ),
    "rests": (
        loop("for i in range(n):", "    for k in range(-1, 2): s += x[(i + k) % n] + y[(i - k) % len(y)]"),
        of_extents(),
    ),
    "rests by a number": (
        loop("for i in range(5): s += x[(i - 2) % a]"),
        of_numbers(5, 6, 4, 1, 0, -1, -5, -6),
    ),
    "assigned inside": (
        loop("for i in range(n):", "    x[i] = 1", "    i += a", "    x[i] += 2", "    k = i"),
        of_extents() + of_extents(1) + of_extents(-1) + of_extents(3),
    ),
    "an end that moves": (
        loop("for i in range(n):", "    n += a", "    for j in range(n): x[j] += i"),
        of_extents() + of_extents(1) + of_extents(-1),
    ),
    "until": (
        loop("j = 0", "while j < n:", "    x[j] += 1", "    j += a"),
        of_extents(1) + of_extents(2) + of_extents(BIG - 2),
    ),
    "sums at the end": (
        loop("for i in range(n): s = a + i - 1; k = a - i"),
        of_numbers(BIG - 4, BIG - 1, -BIG, -BIG + 2, 2**62, 0),
    ),
    "ranges at the end": (
        loop("for i in range(a, a + n): s += i; k = i + 1"),
        of_numbers(BIG - 4, BIG - 6, -BIG, 2**40 - 1, 2**40, -(2**40) - 1, 0),
    ),
    "products at the end": (
        loop("for i in range(n): s = a * i; k += a * a"),
        of_numbers(2**62, 2**31, 3 * 10**9, -BIG),
    ),
    "sums of elements": (
        loop("for i in range(len(x)): s += x[i]; k = x[i] + a"),
        of_numbers(0, np.int64(BIG - 4), BIG - 4, 1),
    ),
    "starts that elements give": (
        loop("for i in range(n):", "    for k in range(y[i], y[i + 1]): x[k] += 1"),
        of_extents() + of_extents(dtype="u1") + of_extents(dtype="i4"),
    ),
    "choices": (
        loop(
            "for i in range(n):", "    k = i if x[i] > a else a", "    s = max(s, min(x[i], k)) if k else 0.5"
        ),
        of_extents(2) + of_extents(2.5) + of_extents(2, "f8") + of_extents(float("nan"), "f8"),
    ),
    "chosen places": (
        loop(
            "for i in range(n): x[i] += x[0 if i == 0 else i - 1] + x[min(i + 1, n - 1)] + y[max(i - 2, 0)]"
        ),
        of_extents(),
    ),
    "inner loops without rounds": (
        loop(
            "for i in range(n):",
            "    for j in range(i - 2):",
            "        k = j",
            "        s += y[k]",
            "    x[i + 1] = s",
        ),
        of_extents(),
    ),
    "names of loops behind": (
        loop(
            "for i in range(n):",
            "    for j in range(2): k = j * 0.5",
            "    for j in range(i):",
            "        k += x[j]",
            "        if j > 2: y[j + a] = k",
        ),
        of_extents() + of_extents(1) + of_extents(2, "f8"),
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_what_is_off_by_one_leaves_behind_what_it_leaves_in_python(name, mode, monkeypatch):
    monkeypatch.setattr(entries, "is_interpreted", mode == "interpreted")
    text, given = CASES[name]
    runs = 0
    for order in (given, given[::-1]):
        plain, code, sites = both(text)
        for arguments in order:
            wanted = outcome(plain, text, arguments)
            assert outcome(code, text, arguments) == wanted, arguments()
        # A site that is left too often is closed: in one order it is run.
        runs += sum(site.runs for site in sites)
    assert runs > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shift", [-1, 0, 1, 2])
def test_arrays_of_one_memory_change_ends_and_places_under_the_loop(shift, mode, monkeypatch):
    monkeypatch.setattr(entries, "is_interpreted", mode == "interpreted")
    text = loop("for i in range(n):", "    for k in range(x[i], y[i]): x[k] = y[k + a] + 1; s += x[y[i]]")
    plain, code, sites = both(text)

    def arguments(n):
        base = np.array([0, 1, 2, 2, 1, 3, 0, 4])
        return base[:6], base[2:], base.reshape(2, 4), shift, n

    for n in (3, 5, 6, 7):
        wanted = outcome(plain, text, lambda n=n: arguments(n))
        assert outcome(code, text, lambda n=n: arguments(n)) == wanted
    assert any(site.runs for site in sites)
