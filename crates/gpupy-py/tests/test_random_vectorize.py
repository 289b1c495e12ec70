"""Random functions of Python's numbers: `vectorize` has NumPy's results, errors and warnings.

Operations are those that are exact; points are zeros of both signs, infinities, ints around 2**53 and 2**63,
and numbers around the thresholds of the code. What is not compiled is NumPy's own, and counted here, so that
most functions have to be. Functions with bounds are in ``test_vectorize.py``.
"""

import random
import warnings

import numpy as np
import pytest

import gpupy as gp

COUNT = 1000
WHOLE = [0, 1, -1, 2, 3, -3, 7, -8, 100, 2**31 - 1, -(2**31), 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
REAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e16, 2.0**53, -1e300, 1e308, 5e-324, np.inf, -np.inf, np.nan]
DTYPES = ["f8", "f8", "f8", "i8", "i8", "f4", "f2", "i4", "i2", "u1", "?"]
# Functions of one number and of two; each is exact.
ONE = [
    "abs",
    "int",
    "float",
    "bool",
    "math.floor",
    "math.ceil",
    "math.sqrt",
    "math.fabs",
    "math.isnan",
    "-",
    "+",
]
ONE += ["np.sqrt", "np.floor", "np.abs", "np.sign", "not ", "~"]
TWO = [
    "+",
    "-",
    "*",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&",
    "|",
    "^",
    "<<",
    ">>",
]
CALLS = ["min", "max", "math.copysign", "np.maximum", "np.add", "np.multiply", "math.fmod"]
NUMBERS = ["0", "1", "2", "-1", "3", "0.0", "0.5", "-2.0", "1e9", "True", "2**40", "7"]


HEAD = [
    "import math",
    "import numpy as np",
    "",
    "def g(x, k=2):",
    "    if x > k:",
    "        return x - k",
    "    return x",
    "",
]


class Writer:
    """Writes one function of two numbers."""

    def __init__(self, r):
        self.r, self.lines, self.loops = r, [*HEAD, "def f(a, b):"], 0
        self.names = ["a", "b"]

    def line(self, text, indent):
        self.lines.append("    " * indent + text)

    def value(self, depth=2):
        kind = self.r.randrange(11)
        if depth == 0 or kind == 0:
            return self.r.choice(self.names) if self.r.random() < 0.7 else self.r.choice(NUMBERS)
        if kind < 6:
            return f"({self.value(depth - 1)} {self.r.choice(TWO)} {self.value(depth - 1)})"
        if kind == 6:
            return f"({self.r.choice(ONE)}({self.value(depth - 1)}))"
        if kind == 7:
            return f"{self.r.choice(CALLS)}({self.value(depth - 1)}, {self.value(depth - 1)})"
        if kind == 8:
            return f"({self.value(depth - 1)} {self.r.choice(['and', 'or'])} {self.value(depth - 1)})"
        if kind == 9:
            return f"g({self.value(depth - 1)}{self.r.choice(['', ', 1', f', k={self.value(0)}'])})"
        return f"({self.value(depth - 1)} if {self.test()} else {self.value(depth - 1)})"

    def test(self):
        return f"{self.value(1)} {self.r.choice(TWO[9:15])} {self.value(0)}"

    def block(self, indent, length):
        for _ in range(length):
            kind = self.r.randrange(9)
            if kind < 4 or indent > 3:
                self.line(f"{self.r.choice('abc')} = {self.value()}", indent)
            elif kind < 6:
                self.line(f"if {self.test()}:", indent)
                self.block(indent + 1, 1)
                if self.r.random() < 0.5:
                    self.line("else:", indent)
                    self.block(indent + 1, 1)
            elif kind == 6:
                self.line(f"if {self.test()}:", indent)
                self.line(f"return {self.result()}", indent + 1)
            elif self.loops < 2 and kind == 7:
                self.loops += 1
                counter = f"m{self.loops}"
                self.line(f"{counter} = 0", indent)
                self.line(f"while {counter} < 3 and {self.test()}:", indent)
                self.line(f"{counter} += 1", indent + 1)
                self.block(indent + 1, 1)
            elif self.loops < 2:
                self.loops += 1
                self.line(f"for n in range({self.r.choice(['3', '2, 9, 3', '4, 0, -1'])}):", indent)
                self.block(indent + 1, 1)
                if self.r.random() < 0.5:
                    self.line(f"if {self.test()}:", indent + 1)
                    self.line("break", indent + 2)
            else:
                self.line("pass", indent)

    def result(self):
        return f"{self.value(1)}, {self.value(0)}" if self.is_pair else self.value(1)

    def text(self):
        self.is_pair = self.r.random() < 0.2
        self.line(f"c = {self.value(1)}", 1)
        self.names.append("c")
        self.block(1, self.r.randint(0, 3))
        self.line("return " + self.result(), 1)
        return "\n".join(self.lines) + "\n"


def points(r, dtype):
    """Elements of a dtype, most of them harmless."""
    ordinary = r.random() < 0.8
    if dtype == "?":
        given = [r.random() < 0.5 for _ in range(12)]
    elif dtype[0] == "f":
        given = [r.choice(REAL[2:8]) if ordinary else r.choice(REAL) for _ in range(12)]
    else:
        given = [r.choice(WHOLE[1:9]) if ordinary else r.choice(WHOLE) for _ in range(12)]
        limits = np.iinfo(dtype)
        given = [min(max(one, int(limits.min)), int(limits.max)) for one in given]
    with np.errstate(all="ignore"):
        return np.array(given).astype(dtype)


def lent(value):
    """An argument of ours: what NumPy does with it is a fallback."""
    return gp.asarray(value) if isinstance(value, np.ndarray) else value


def outcome(run):
    """The result of a call, or its error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = run()
        except gp.FallbackError as error:
            return "NumPy's", str(error), None
        except Exception as error:
            result = (type(error), str(error))
        else:
            parts = result if isinstance(result, tuple) else (result,)
            result = [(part.dtype, part.shape, np.asarray(part).tobytes()) for part in parts]
    return "done", result, {str(one.message) for one in caught}


def same(ours, numpys):
    """Whether outcomes are equal; not a number is equal whatever its bits."""
    (_, own, told), (_, want, wanted) = ours, numpys
    if not isinstance(own, list) or not isinstance(want, list):
        return own == want and told == wanted
    arrays = [
        [(dtype, shape, np.frombuffer(data, dtype)) for dtype, shape, data in parts] for parts in (own, want)
    ]
    return told == wanted and all(
        one[:2] == other[:2]
        and np.array_equal(one[2], other[2], equal_nan=one[0].kind == "f")
        and (one[0].kind != "f" or np.array_equal(*(np.signbit(x[2]) | np.isnan(x[2]) for x in (one, other))))
        for one, other in zip(*arrays, strict=True)
    )


@pytest.mark.parametrize("part", range(4))
def test_random_functions_are_numpys(auto, part, tmp_path):
    compiled = 0
    for seed in range(part, COUNT, 4):
        r = random.Random(seed)
        text = Writer(r).text()
        path = tmp_path / f"function_{seed}.py"
        path.write_text(text)
        names = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, path, "exec"), names)
        dtypes = [r.choice(DTYPES) for _ in "ab"]
        given = [points(r, dtype) for dtype in dtypes]
        if r.random() < 0.2:
            given[1] = r.choice([True, 2, -3, 0.5, 1e300, 2**70])
        otypes = r.choice([*[None] * 6, *"dlfi?Be"])
        ours = gp.vectorize(names["f"], otypes=otypes)
        with gp.fallback("error"):
            own = outcome(lambda: ours(*map(lent, given)))
        if own[0] == "done":
            compiled += 1
            want = outcome(lambda: np.vectorize(names["f"], otypes=otypes)(*given))
            assert same(own, want), f"seed {seed}: {given}\n{own}\n{want}\n{text}"
    assert compiled > COUNT / 4 / 10
