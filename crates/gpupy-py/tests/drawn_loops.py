"""Random functions of loops over elements, and what they leave behind.

Owns ``Drawn``, ``DrawnOfRows``, ``DrawnOfEdges`` and ``outcome``. A drawn function has arguments of many
kinds: arrays of each dtype, strided, of one memory, read-only, empty, NumPy's and gpupy's; numbers of
Python's and NumPy's, at the ends of their ranges. Not here: the tests.
"""

import linecache
import random
import re
import traceback
import types
import warnings

import numpy as np

import gpupy

FILE = "of_loops.py"

EXPRESSIONS = (
    """\
a; b; s; i; j; k; n; x[i]; y[j]; m[i, j]; m[i][j]; x[-1]; x[i - 1]; y[i + 1]; m[i - 1, j]; len(x)
m.shape[0]; y.shape[-1]; 0; 1; 2; -3; 7; 0.5; -1.5; 2.0; 1e300; True; a + 1; b - i; i * 2; a * i
a * 3; a + s; s * 0.5; s + x[i]; b - y[j]; a / b; x[i] / y[j]; a // b; a % b; i % 3; i // 2; s // 2
s % 1.5; 2 ** i; s ** 0.5; x[i] ** 2; i ** 3; a & 3; b | 1; a ^ b; i << 2; a >> 1; -a; +s; ~i; -x[i]
not a; abs(a); abs(x[i]); max(a, b); min(x[i], s); max(0, x[i]); min(a, b, s); int(s); float(a)
bool(a); int(x[i]); float(y[j]); math.sqrt(s); math.sin(s); math.exp(a); math.log(s); math.floor(s)
math.ceil(x[i]); math.atan2(a, s); math.pow(s, 2); np.sqrt(s); np.abs(x[i]); np.maximum(s, y[j])
np.minimum(x[i], s); np.float64(a); np.float32(s); np.int64(a); math.pi; np.pi * s
a if i > j else b; x[i] if s else a; a and b; a or x[i]; x[i] and y[j]; a < b; x[i] > y[j]
0 <= i < n; a == b; s != x[i]; i == j or a > 2; not (i and j); a < s <= 3; s + x[i] * y[j]
x[i] + m[i, j]; (a + b) * 0.5; a - b - i; K + a; x[x[i]]; y[b]; a | i; x[i] | 1
s - x[i] * x[i] * 0.5 + y[j]; (x[i] + y[j]) * s / (a - x[i]); x[i] * y[j] - y[j] * x[i] + s * x[i]
(x[i] - s) // y[j] + x[i]; s / (x[i] * 1e300); max(x[i] * 2, y[j] + s)
""".strip()
    .replace("\n", "; ")
    .split("; ")
)
TARGETS = "a b s k x[i] y[j] m[i,j] x[-1] m[i][j] y[i+1] m[i-1,j] x[k]".split()
HEADS = """\
for i in range(n):
for i in range(len(x)):
for j in range(i):
for j in range(n):
for k in range(1, n):
for i in range(n, 0, -1):
for j in range(0, n, 2):
for i in range(2):
for j in range(m.shape[1]):
for k in range(max(a, -3), min(b, 9)):
for i in range(0):
for k in range(n, n + 3, K):
for j in range(3, i, -1):
for i in range(min(b, 4)):
""".splitlines()
PLAIN_SIGNS = "+= -= /= //= %=".split()


ROWS = (
    "x[:] x[1:] y[:-1] m[i] m[i,:] m[:,j] m[i,:k] m[:i,j] x[::2] x[::-1] y[i:] m[i,1:] m[j][1:] x[a:b] x[:n]"
    " y[:n] y[-3:] x[i:i+2] y[j:n] m[-1] m[i-1,:-1] m[:,-1] x[k:1:-1] y[5:0:-2] m[:2,b] m[i][::-1]"
).split()
OPERANDS = "x y a b s 2 0.5 -1 i True x[i] m[i,j] np.float64(1.5) np.float32(3) np.int64(2)".split()
MADE = """\
{} + {}; {} - {}; {} * {}; {} / {}; {} * {} + {}; {} - {} * {}; -{}; abs({}); np.abs({}); np.sqrt({}); {} ** 2
np.maximum({}, {}); np.minimum({}, {}); {} > {}; {} <= {}; {} == {}; {} & {}; {} ** {}; {} % {}; {} * {} * {}
""".strip().replace("\n", "; ").split("; ")  # fmt: skip
REDUCED = """\
{} @ {}; np.dot({}, {}); {}.sum(); np.sum({}); {}.max(); {}.min(); np.max({}); {}.mean(); np.mean({})
{}.argmin(); np.argmax({}); np.any({}); ({} > {}).all(); np.min({} * 2); np.sum({} * {}); {}.dot({})
{}.any(); np.dot({}, {} + 1); np.sqrt(np.dot({}, {})); {} @ ({} - {})
""".strip().replace("\n", "; ").split("; ")  # fmt: skip


HEADS_OF_ARRAYS = """\
for s in x:
for k, s in enumerate(x):
for a, b in zip(x, y):
for k, (a, s) in enumerate(zip(x, y)):
for i in reversed(range(n)):
for s in reversed(x):
for j in reversed(range(1, n)):
for k, s in enumerate(y, 2):
for a in m:
""".splitlines()
OWN_FUNCTIONS = """\
def g(u, v):
    if u > v:
        return u * 2
    w = u + v
    if w: w -= K
    return w
def h(z, p):
    return z[p] + z[-1] * len(z)
def e(u, v):
    return math.sqrt(u) if u > 1 else 0.5
""".splitlines()
OWN_CALLS = (
    "g(a, b); g(x[i], s); h(x, i); h(y, b); g(h(x, j), 1); e(s, b); e(x[i], y[j]); g(m[i, j], k)".split("; ")
)


class Drawn:
    """A function that ends."""

    LIBRARY, FUNCTIONS = "numpy", ()
    EXPRESSIONS, HEADS = EXPRESSIONS, HEADS

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.whiles = 0
        self.lines = ["import math", f"import {self.LIBRARY} as np", "K = 2", *self.FUNCTIONS]
        self.lines.append("def f(x, y, m, a, b, s, n):")
        if self.rng.random() < 0.8:
            self.line(1, "i = j = k = 0")
        for _ in range(self.rng.choice([1, 1, 2])):
            self.loop(1, 3)
        self.line(1, "return locals()")
        self.text = "\n".join(self.lines) + "\n"

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def expression(self, depth=1):
        if depth and self.rng.random() < 0.25:
            sign = self.rng.choice("+ - / < >".split())
            return f"({self.expression(0)}) {sign} ({self.expression(0)})"
        return self.rng.choice(self.EXPRESSIONS)

    def simple(self, is_in_loop=True):
        draw, rng = self.rng.random(), self.rng
        if draw < 0.45:
            return f"{rng.choice(TARGETS)} = {self.expression()}"
        if draw < 0.7:
            return f"{rng.choice(TARGETS)} {rng.choice(PLAIN_SIGNS)} {self.expression()}"
        if draw < 0.78:
            first, second = rng.sample(TARGETS, 2)
            return f"{first}, {second} = {self.expression()}, {self.expression()}"
        if draw < 0.82:
            return f"a = b = {self.expression()}"
        if draw < 0.88:
            jumps = ["break", "continue"] if is_in_loop else []
            return f"if {self.expression()}: {rng.choice([*jumps, 'pass', 'return locals()', 'a = 1'])}"
        return rng.choice(
            [
                "a, b = b, a",
                "x[i], x[j] = x[j], x[i]",
                "s = 0.0",
                "a = 0",
                "s += x[i]",
                "x[i] *= 2",
                "a *= 3",
                "pass",
                # Names that change their kinds.
                "s, a = a, s",
                "a, b, s = b, s, x[i]",
                "s = max(s, x[i])",
                "a = min(a, y[j])",
                "a = a if a > 0.5 else 0.5",
            ]
        )

    def block(self, depth, most, is_in_loop=True):
        for _ in range(self.rng.randrange(1, 4)):
            draw = self.rng.random()
            if draw < 0.62 or most == 0:
                self.line(depth, self.simple(is_in_loop))
            elif draw < 0.8:
                self.loop(depth, most, is_in_loop)
            else:
                self.line(depth, f"if {self.expression()}:")
                self.block(depth + 1, most - 1, is_in_loop)
                if self.rng.random() < 0.4:
                    self.line(depth, self.rng.choice(["else:", f"elif {self.expression()}:"]))
                    self.block(depth + 1, most - 1, is_in_loop)

    def loop(self, depth, most, is_in_loop=False):
        if self.rng.random() < 0.2:
            self.whiles += 1
            name = f"w{self.whiles}"
            self.line(depth, f"{name} = {self.rng.randrange(5)}")
            self.line(depth, f"while {name} > 0:")
            self.line(depth + 1, f"{name} -= 1")
        else:
            self.line(depth, self.rng.choice(self.HEADS))
        self.block(depth + 1, most - 1)
        if self.rng.random() < 0.2:
            self.line(depth, "else:")
            self.block(depth + 1, most - 1, is_in_loop)

    def arguments(self):
        """The same arguments each time that it is called."""
        rng = random.Random(self.rng.random())
        draws = rng.getstate()

        def made():
            again = random.Random()
            again.setstate(draws)
            return self.given(_arguments(again), again)

        return made

    def given(self, arguments, rng):
        """What it is called with."""
        return arguments


class DrawnOfRows(Drawn):
    """One with rows of arrays too, loops over arrays, and calls of functions."""

    LIBRARY, FUNCTIONS = "gpupy", OWN_FUNCTIONS
    EXPRESSIONS, HEADS = EXPRESSIONS + OWN_CALLS, HEADS + HEADS_OF_ARRAYS

    def row(self, depth=1):
        rng = self.rng
        if depth and rng.random() < 0.5:
            made = rng.choice(MADE)
            parts = [
                self.row(0) if rng.random() < 0.6 else rng.choice(OPERANDS) for _ in range(made.count("{}"))
            ]
            return made.format(*parts)
        return rng.choice(ROWS)

    def reduced(self):
        made = self.rng.choice(REDUCED)
        parts = (self.row(0) if self.rng.random() < 0.9 else "x" for _ in range(made.count("{}")))
        return made.format(*parts)

    def simple(self, is_in_loop=True):
        draw, rng = self.rng.random(), self.rng
        if draw < 0.4:
            return super().simple(is_in_loop)
        if draw < 0.6:
            # Of the same length more often than by chance.
            row = rng.choice(ROWS)
            other = rng.choice([row, row, row, self.row()])
            value = rng.choice([f"{row} * {rng.choice(OPERANDS)} + {other}", f"{other} - {row}", other])
            return f"{row} {rng.choice(['=', '=', '+=', '-=', '*=', '/='])} {value}"
        if draw < 0.72:
            return f"{rng.choice(ROWS)} = {self.row()}"
        if draw < 0.82:
            return f"{rng.choice(ROWS)} {rng.choice(PLAIN_SIGNS)} {rng.choice([*OPERANDS, self.row()])}"
        if draw < 0.88:
            row = rng.choice(ROWS)
            value = rng.choice([f"{row} @ {row}", f"np.sum({row})", f"np.dot({row}, {row} * 2)"])
            return f"{rng.choice(TARGETS)} {rng.choice(['=', '+='])} {value}"
        return f"{rng.choice(TARGETS)} {rng.choice(['=', '+=', '-='])} {self.reduced()}"

    def given(self, arguments, rng):
        if rng.random() < 0.3:
            return arguments
        are_ours = [rng.random() < 0.9 for _ in arguments]
        pairs = zip(arguments, are_ours, strict=True)
        return tuple(_ours(one) if is_ours and isinstance(one, np.ndarray) else one for one, is_ours in pairs)


class DrawnOfEdges(Drawn):
    """One whose indices and ranges are at the ends of axes, of integers, and of each other."""

    EXPRESSIONS = EXPRESSIONS[:20] + (
        """\
x[i - 1]; x[i + 1]; y[j - 1]; y[j + 1]; m[i - 1, j]; m[i, j - 1]; m[i + 1, j + 1]; m[i - 1, j - 1]
x[n - 1 - i]; x[len(x) - 1 - i]; x[i - n]; x[-i]; x[-i - 1]; m[-1, j]; m[i, -2]; x[(i + k) % n]
y[(j - 1) % len(y)]; m[(i + 1) % m.shape[0], (j + k) % m.shape[1]]; x[i // 2]; x[2 * i]; x[i + j]; x[i - j]
x[k]; y[k + i]; a + i; a - i; a + a; a * i; b + j - i; i * j + k; min(i, j); max(i - 1, 0); x[max(i - 1, 0)]
x[min(i + 1, n - 1)]; x[i if i < j else j]; y[0 if i == 0 else i - 1]; k + 1; k - 1; x[i & 3]; m[i, k % 4]
""".strip()
        .replace("\n", "; ")
        .split("; ")
    )
    HEADS = """\
for i in range(n):
for i in range(1, n):
for i in range(1, n - 1):
for i in range(n + 1):
for i in range(1, n + 1):
for i in range(len(x) - 1):
for i in range(1, len(x) + 1):
for i in range(max(a, -4), n):
for k in range(a, a + 3):
for k in range(a, a - 3, -1):
for i in range(n - 1, -1, -1):
for i in range(n, 0, -1):
for i in range(-n, 0):
for i in range(-1, -n - 1, -1):
for i in range(0, n, 3):
for i in range(n - 1, -1, -2):
for i in range(m.shape[0]):
for j in range(m.shape[1]):
for j in range(i):
for j in range(i, n):
for j in range(i + 1, len(y)):
for j in range(i, -1, -1):
for j in range(len(y) - 1, i, -1):
for j in range(1, m.shape[1] - 1):
for k in range(-1, 2):
for k in range(i - 1, i + 2):
for k in range(i, j):
for k in range(max(a, -3), min(b, 9)):
for k in range(min(i, j), max(i, j)):
""".splitlines()

    def simple(self, is_in_loop=True):
        draw, rng = self.rng.random(), self.rng
        if draw < 0.12:
            return rng.choice(
                ["i += 1", "j -= 1", "k += i", "k += 1", "n -= 1", "n = len(x)", "j = i", "k = a"]
            )
        if draw < 0.3:
            target = rng.choice(
                ["x[i - 1]", "x[i + 1]", "m[i - 1, j - 1]", "m[i, j + 1]", "y[n - 1 - j]", "x[k]"]
            )
            return f"{target} {rng.choice(['=', '+=', '-='])} {self.expression()}"
        return super().simple(is_in_loop)


def _ours(array):
    """The same, of gpupy's, by strides of its own."""
    if array.size and all(stride > 0 for stride in array.strides) and not array.flags.c_contiguous:
        wide = gpupy.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., 1::2] = array
        return wide[..., 1::2]
    found = gpupy.asarray(np.ascontiguousarray(array))
    return found[::-1][::-1] if array.flags.writeable else found


DTYPES = ["f8", "f8", "f8", "f4", "i8", "i8", "i4", "u1", "?"]
NUMBERS = [
    *(0, 1, 2, 3, 5, -2, 2**31, 2**53 + 1, 2**62, -(2**63), 2**63, True, False),
    *(0.0, -0.0, 1.5, -2.5, 1e308, 1e-310, float("inf"), float("nan")),
    *(
        np.float64(2.5),
        np.float32(1.5),
        np.int64(3),
        np.int32(4),
        np.uint8(250),
        np.bool_(True),
        np.int64(2**62),
    ),
]


def _arguments(rng):
    def array(*shape):
        dtype = np.dtype(rng.choice(DTYPES))
        size = int(np.prod(shape))
        values = [rng.choice([0, 1, 2, 3, 4, 7, 100, -1, 2.5, 0.1]) for _ in range(size)]
        if dtype.kind == "f" and rng.random() < 0.15:
            values = [rng.choice([value, float("nan"), float("inf"), 1e38]) for value in values]
        found = (
            np.array(values, "f8").astype("i8" if dtype.kind == "u" else dtype).astype(dtype).reshape(shape)
        )
        draw = rng.random()
        if draw < 0.15:
            wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
            wide[..., ::2] = found
            return wide[..., ::2]
        if draw < 0.25:
            return np.flip(found)
        if draw < 0.3:
            return np.asfortranarray(found)
        if draw < 0.33:
            found.setflags(write=False)
        return found

    length = rng.choice([4, 5, 5, 6, 1, 0])
    x, y, m = array(length), array(rng.choice([length, 6])), array(rng.choice([length, 5]), length or 1)
    if rng.random() < 0.2:
        base = array(8)
        x, y = base[:6], base[2:]
    if rng.random() < 0.1:
        x = m[0] if len(m) else m
    small = [0, 1, 2, 3, 0.5, 1.0, np.float64(1.5), 2]
    numbers = [rng.choice(NUMBERS if rng.random() < 0.25 else small) for _ in range(3)]
    return (x, y, m, *numbers, rng.choice([3, 4, 5, 2, 6, 0]))


def shown(value):
    """A value with its type, and all its bits."""
    if isinstance(value, np.ndarray):
        return "ndarray", str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return type(value).__name__, value.tobytes()
    if isinstance(value, float):
        return "float", value.hex()
    return type(value).__name__, re.sub(r"0x[0-9a-f]+", "0x", repr(value))


def outcome(code, text, arguments, strict=False):
    """What a function leaves behind: names, the error with its line, the warnings."""
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    names = {"__name__": "of_loops"}
    exec(code, names)
    given, error, found = arguments(), None, {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("error" if strict else "always")
        try:
            found = names["f"](*given)
        except Exception as raised:
            trace = raised.__traceback__
            while trace is not None and trace.tb_frame.f_code.co_filename != FILE:
                trace = trace.tb_next
            error = "".join(traceback.format_exception(type(raised), raised, trace))
            # Where a local name had no value Python 3.11 says of the statement before, in some places.
            place = r'  File "of_loops.py", line \d+, in \w+\n    [^\n]*\n(?: +\^+\n)?(?=UnboundLocalError)'
            error = re.sub(place, "", error)
            found = trace.tb_frame.f_locals
    kept = {name: shown(value) for name, value in found.items() if not isinstance(value, types.FunctionType)}
    told = [(one.category.__name__, str(one.message), one.lineno) for one in heard]
    return kept, error, told, [shown(one) for one in given]
