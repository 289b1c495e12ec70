"""Writes float64.txt, the operands and results by which functions of float64 are tested.

`python float64.py [COUNT] > float64.txt`, with mpmath and NumPy; about COUNT lines a function. A line
is an operation's name, its operands' bits, the correctly rounded result's bits, and how far the exact
result lies above that, in hundredths of the unit in its last place.
"""

import struct
import sys

import mpmath
import numpy
from mpmath import mpf

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 150
RANDOM = numpy.random.default_rng(7)


def evenly(least, most):
    return lambda count: RANDOM.uniform(least, most, count)


def sizes(least, most):
    """Numbers of either sign whose exponents lie between these."""
    return lambda count: numpy.exp2(evenly(least, most)(count)) * RANDOM.choice([-1, 1], count)


def everything(count):
    numbers = RANDOM.integers(0, 2**64, count, dtype=numpy.uint64).view(numpy.float64)
    return numbers[numpy.isfinite(numbers)]


def positive(numbers):
    return lambda count: abs(numbers(count))


def near_one(numbers):
    return lambda count: 1 + numbers(count)


def near_quarter_turns(count):
    return numpy.round(evenly(1, 1e6)(count)) * numpy.pi / 2


ANGLES = [everything, evenly(-10, 10), sizes(-30, 25), near_quarter_turns]
SINES = [evenly(-1, 1), sizes(-40, 0), near_one(lambda count: -abs(sizes(-50, -2)(count)))]
POSITIVE = [positive(everything), evenly(0.5, 2), near_one(sizes(-50, -2))]
UNARY = {
    "exp": (mpmath.exp, [evenly(-745, 709.7), evenly(-1, 1), sizes(-60, 3)]),
    "exp2": (lambda x: mpf(2) ** x, [evenly(-1074, 1023.9), evenly(-1, 1)]),
    "expm1": (mpmath.expm1, [evenly(-40, 709.7), evenly(-1, 1), sizes(-60, 3)]),
    "log": (mpmath.log, POSITIVE),
    "log2": (lambda x: mpmath.log(x, 2), POSITIVE),
    "log10": (mpmath.log10, POSITIVE),
    "log1p": (mpmath.log1p, [positive(everything), evenly(-0.999, 2), sizes(-60, -1)]),
    "sin": (mpmath.sin, ANGLES),
    "cos": (mpmath.cos, ANGLES),
    "tan": (mpmath.tan, ANGLES),
    "asin": (mpmath.asin, SINES),
    "acos": (mpmath.acos, SINES),
    "atan": (mpmath.atan, [evenly(-3, 3), sizes(-40, 60)]),
    "sinh": (mpmath.sinh, [evenly(-2, 2), evenly(-710, 710), sizes(-40, 3)]),
    "cosh": (mpmath.cosh, [evenly(-2, 2), evenly(-710, 710)]),
    "tanh": (mpmath.tanh, [evenly(-2, 2), evenly(-22, 22), sizes(-40, 3)]),
    "asinh": (mpmath.asinh, [evenly(-3, 3), sizes(-40, 1000)]),
    "acosh": (mpmath.acosh, [evenly(1, 5), positive(sizes(0, 1000)), near_one(positive(sizes(-50, 0)))]),
    "atanh": (mpmath.atanh, SINES),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), [everything, evenly(-10, 10)]),
}


def bases_and_exponents(count):
    x = abs(mixed([evenly(0.01, 100), sizes(-1000, 1000), evenly(0.6, 1.6), near_one(sizes(-40, -3))], count))
    y = RANDOM.uniform(-1070, 1023, len(x)) / numpy.log2(x)
    return x, numpy.where(RANDOM.random(len(x)) < 0.3, evenly(-3, 3)(len(x)), y)


def points(least, most):
    def pairs(count):
        x = mixed([evenly(-3, 3), sizes(least, most)], count)
        return x, x * sizes(-20, 20)(len(x))

    return pairs


BINARY = {
    "pow": (mpmath.power, bases_and_exponents),
    "atan2": (mpmath.atan2, points(-40, 40)),
    "hypot": (lambda x, y: mpmath.sqrt(x * x + y * y), points(-1000, 1000)),
}


def mixed(kinds, count):
    return numpy.concatenate([kind(count // len(kinds)) for kind in kinds])


def bits(number):
    return f"{struct.unpack('<Q', struct.pack('<d', number))[0]:x}"


def write(name, function, operands):
    try:
        exact = function(*map(mpf, operands))
    except (ValueError, ZeroDivisionError):
        return
    if not isinstance(exact, mpf) or not mpmath.isfinite(exact) or exact == 0:
        return
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))), -1022)
    unit = mpmath.ldexp(1, exponent - 52)
    steps = mpmath.nint(exact / unit)
    if abs(steps * unit) >= mpmath.ldexp(1, 1024):
        return
    rest = int(mpmath.nint((exact / unit - steps) * 100))
    print(name, *map(bits, operands), bits(float(steps * unit)), rest)


for name, (function, kinds) in UNARY.items():
    # The sine of a large number takes all its bits, and twice as many of pi.
    mpmath.mp.dps = 400 if kinds is ANGLES else 60
    for x in mixed(kinds, COUNT):
        write(name, function, [float(x)])
mpmath.mp.dps = 60
for name, (function, pairs) in BINARY.items():
    for x, y in zip(*pairs(COUNT), strict=True):
        write(name, function, [float(x), float(y)])
