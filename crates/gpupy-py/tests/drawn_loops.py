"""Random functions of loops over elements, and what they leave behind.

Owns ``Drawn`` and ``outcome``. A drawn function has arguments of many kinds: arrays of each dtype, strided,
of one memory, read-only, empty; numbers of Python's and NumPy's, at the ends of their ranges. Not here: the
tests.
"""

import linecache
import random
import re
import traceback
import types
import warnings

import numpy as np

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


class Drawn:
    """A function that ends."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.whiles = 0
        self.lines = ["import math", "import numpy as np", "K = 2", "def f(x, y, m, a, b, s, n):"]
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
        return self.rng.choice(EXPRESSIONS)

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
            self.line(depth, self.rng.choice(HEADS))
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
            return _arguments(again)

        return made


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
