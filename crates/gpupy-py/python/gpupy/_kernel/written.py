"""Functions of Python's and NumPy's libraries, written as kernels are, in the place of their calls.

Owns ``WRITTEN`` and ``NUMPYS``, by what is called. They are compiled like a program's own functions
(``flow.py``), for the numbers that they are given; ``outside`` notes where Python raises an error. The bounds
of those that are not exact are in docs/kernels.md; polynomials are of Chebyshev's points, with 60 digits.

Not here: functions that are operations (``functions.py``), which does what the first ones here say.
"""

from __future__ import annotations

import math
from operator import index
from types import FunctionType
from typing import Any

import numpy as np


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of powers of a number, of which the first coefficient has the lowest."""
    total: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def outside(condition: Any) -> None:
    """Says that Python raises an error where a condition holds."""


def is_by_squaring(x: Any, e: Any) -> bool:
    """Whether a power is one of ints, and its exponent is not known."""
    return isinstance(x, int) and isinstance(e, int)


def plain_power(x: Any, e: Any) -> Any:
    """A power that is an operation."""
    return x**e


def plain_numpys_power(x: Any, e: Any) -> Any:
    """NumPy's power, where it is an operation."""
    return np.power(x, e)


def numpys_ints(x: Any, e: Any) -> tuple[Any, Any]:
    """Two ints in the dtype in which NumPy computes with them."""
    return np.int64(x), np.int64(e)


def same_ints(x: Any, e: Any) -> tuple[Any, Any]:
    """Two ints in the dtype in which operators compute with them."""
    return x, e


def _squared(x: Any, e: Any) -> Any:
    """A power of ints; by a negative one, the part before the point."""
    outside(e < 0)
    one = x * 0 + 1
    if e < 0:
        if x == 1:
            return one
        if x == -1:
            return x if e & 1 == 1 else one
        return one - one
    result = one
    for _ in range(64):
        if e & 1 == 1:
            result = result * x
        e = e >> 1
        if e == 0:
            break
        x = x * x
    return result


def power(x: Any, e: Any) -> Any:
    """``x**e``."""
    if not is_by_squaring(x, e):
        return plain_power(x, e)
    x, e = same_ints(x, e)
    return _squared(x, e)


def _numpys_power(x: Any, e: Any) -> Any:
    if not is_by_squaring(x, e):
        return plain_numpys_power(x, e)
    x, e = numpys_ints(x, e)
    return _squared(x, e)


def _divisor(a: Any, b: Any) -> Any:
    """The greatest divisor of both; Euclid's way takes at most 91 steps."""
    a, b = abs(a), abs(b)
    for _ in range(92):
        if b == 0:
            break
        a, b = b, a % b
    return a


def _multiple(a: Any, b: Any) -> Any:
    """The least number that both divide."""
    divisor = _divisor(a, b)
    return abs(a // (divisor if divisor != 0 else divisor + 1) * b)


def gcd(a: Any, b: Any) -> Any:
    """The greatest divisor of both."""
    return _divisor(index(a), index(b))


def lcm(a: Any, b: Any) -> Any:
    """The least number that both divide."""
    return _multiple(index(a), index(b))


def _numpys_gcd(a: Any, b: Any) -> Any:
    a, b = numpys_ints(a, b)
    return _divisor(a, b)


def _numpys_lcm(a: Any, b: Any) -> Any:
    a, b = numpys_ints(a, b)
    return _multiple(a, b)


def isqrt(n: Any) -> Any:
    """The largest int whose square is not larger."""
    n = index(n)
    outside(n < 0)
    if n <= 0:
        return 0
    # Of the roots that float64 has, the next int is at most 1 away; the square of the last one has 64 bits.
    root = min(int(math.sqrt(n)), 3037000499)
    if root * root > n:
        return root - 1
    if root < 3037000499 and (root + 1) * (root + 1) <= n:
        return root + 1
    return root


def factorial(n: Any) -> Any:
    """The product of the ints up to one; it wraps beyond 20."""
    n = index(n)
    outside(n < 0)
    result = 1
    # 66! is a multiple of 2**64.
    for k in range(2, 67):
        if k > n:
            break
        result = result * k
    return result


def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    """Whether two numbers differ by no more than a part of the larger one, or by no more than a number."""
    a, b = float(a), float(b)
    outside(rel_tol < 0 or abs_tol < 0)
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    far = abs(b - a)
    return far <= abs(rel_tol * b) or far <= abs(rel_tol * a) or far <= abs_tol


# erf(x) / x - 1 in powers of x² up to 1, and erfc(x) exp(x²) (x + 3) in those of (x - 3) / (x + 3).
_ERF = (
    0.1283791670955126,
    -0.37612638903183754,
    0.1128379167095512,
    -0.02686617064512984,
    0.0052239776254232985,
    -0.000854832702193483,
    0.00012055332902888736,
    -1.4925647567519332e-05,
    1.6462045441468418e-06,
    -1.6364642158167616e-07,
    1.4792401209404813e-08,
    -1.216456005728345e-09,
    8.709045129053106e-11,
    -4.230945824295338e-12,
)
_ERFC = (
    1.0740069070883398,
    -0.8833944531698836,
    0.5902283571041016,
    -0.3104672619005649,
    0.11952776128730747,
    -0.026827234624582055,
    -0.0012124166276355043,
    0.0030340620029560457,
    -0.0005483096867629285,
    -0.0002767778616708319,
    0.00010756145711510314,
    3.0398236165235784e-05,
    -1.747048604527422e-05,
    -4.7494012485165386e-06,
    2.765383852968009e-06,
    9.989851670020434e-07,
    -4.085173587568932e-07,
    -2.3290737313166647e-07,
    4.756155737758757e-08,
    4.890567107401972e-08,
    -2.776346214410588e-09,
    -6.510960009692507e-09,
)


def _erf_of_small(x: Any) -> Any:
    return x + x * polynomial(x * x, _ERF)


def _erfc_of_large(x: Any) -> Any:
    """From 1/2 on; the square is that of a number with half the bits, and a rest."""
    if x > 28:
        return 0.0
    short = x * 134217729.0
    short = short - (short - x)
    scaled = math.exp(-short * short) * math.exp((short - x) * (short + x))
    return scaled * polynomial((x - 3) / (x + 3), _ERFC) / (x + 3)


def erf(x: Any) -> Any:
    """The error function."""
    x = float(x)
    size = abs(x)
    if size >= 1:
        return math.copysign(1 - _erfc_of_large(size), x)
    return _erf_of_small(x)


def erfc(x: Any) -> Any:
    """1 minus the error function."""
    x = float(x)
    if x >= 0.5:
        return _erfc_of_large(x)
    if x <= -1:
        return 2 - _erfc_of_large(-x)
    return 1 - _erf_of_small(x)


# The gamma function, and its logarithm over v, of 2 + v in powers of v up to 1/2; what the logarithm has
# beyond Stirling's formula, times x, in powers of 1/x² from 12 on.
_GAMMA = (
    1.0,
    0.42278433509846713,
    0.41184033042644064,
    0.0815769192470858,
    0.07424901075338801,
    -0.00026698206868206766,
    0.011154045724557167,
    -0.0028526458243686085,
    0.002103933174405157,
    -0.0009195737556751735,
    0.0004903909165362433,
    -0.00024094266875000244,
    0.00012165162946720078,
    -6.078180215145502e-05,
    3.0576257282864494e-05,
    -1.5296289519910945e-05,
    7.216424561413336e-06,
    -3.609421076900372e-06,
    2.6259112907777463e-06,
    -1.3131191509664216e-06,
)
_LOG_GAMMA = (
    0.42278433509846713,
    0.3224670334241132,
    -0.06735230105319814,
    0.02058080842778457,
    -0.0073855510286681535,
    0.002890510330738737,
    -0.0011927539120010226,
    0.0005096695248853096,
    -0.00022315475074520367,
    9.945750909889392e-05,
    -4.4926351103833334e-05,
    2.050726741605779e-05,
    -9.438458716242811e-06,
    4.374374916915131e-06,
    -2.0449201467015115e-06,
    9.578663334114758e-07,
    -4.303558760359961e-07,
    2.0304806751615227e-07,
    -1.3412819758517287e-07,
    6.379047507619774e-08,
)
_STIRLING = (
    0.08333333333333333,
    -0.002777777777777743,
    0.0007936507935713491,
    -0.0005952380263072087,
    0.0008417222689915308,
    -0.0019114098519294627,
    0.005751142107367236,
)
_ROOT_OF_2_PI, _LOG_OF_IT = 2.5066282746310005, 0.9189385332046728


def _sine_of_half_turns(x: Any) -> Any:
    """The sine of π times a number that is not negative: with the bits that it has between two ints."""
    whole = x // 1.0
    part = x - whole
    # Of both sides of 1/2, the lesser distance from an int.
    part = part if part <= 0.5 else 1 - part
    return math.sin(math.pi * part) if whole % 2 == 0 else -math.sin(math.pi * part)


def _product_down(x: Any, first: Any) -> tuple[Any, Any]:
    """A number less an int, up to 2.5, and the product of the numbers on the way."""
    product = first
    for _ in range(22):
        if x <= 2.5:
            break
        x = x - 1
        product = product * x
    return x, product


def _gamma_factors(x: Any) -> tuple[Any, Any]:
    """Two numbers whose product is the gamma function of a positive one; neither is too large."""
    if x < 0.5:
        return polynomial(x, _GAMMA) / (x + 1), 1 / x
    if x < 1.5:
        return polynomial(x - 1, _GAMMA), 1 / x
    if x < 24:
        low, product = _product_down(x, 1.0)
        return polynomial(low - 2, _GAMMA), product
    half = x ** (0.5 * x - 0.25)
    series = math.exp(polynomial(1 / (x * x), _STIRLING) / x)
    return half * math.exp(-x) * series * _ROOT_OF_2_PI, half


def gamma(x: Any) -> Any:
    """The gamma function."""
    x = float(x)
    is_pole = x in (0, -math.inf) or (x < 0 and x // 1.0 == x)
    outside(is_pole)
    if is_pole:
        return math.nan if x < 0 else math.copysign(math.inf, x)
    size = abs(x)
    one, other = _gamma_factors(min(size, 190.0))
    if x > 0:
        return one * other if x < 172 else math.inf
    if x < -190:
        return math.copysign(0.0, -_sine_of_half_turns(size))
    return -math.pi / (size * _sine_of_half_turns(size)) / one / other


def _log_gamma_of_positive(x: Any) -> Any:
    if x < 0.5:
        return x * polynomial(x, _LOG_GAMMA) - math.log1p(x) - math.log(x)
    if x < 1.5:
        return (x - 1) * polynomial(x - 1, _LOG_GAMMA) - math.log1p(x - 1)
    if x < 12:
        low, product = _product_down(x, 1.0)
        return (low - 2) * polynomial(low - 2, _LOG_GAMMA) + math.log(product)
    return (x - 0.5) * (math.log(x) - 1) + (_LOG_OF_IT - 0.5) + polynomial(1 / (x * x), _STIRLING) / x


def lgamma(x: Any) -> Any:
    """The logarithm of the size of the gamma function."""
    x = float(x)
    is_pole = x <= 0 and x // 1.0 == x
    outside(is_pole)
    if is_pole or math.isinf(x):
        return math.inf
    if x > 0:
        return _log_gamma_of_positive(x)
    size = abs(x)
    return math.log(math.pi / abs(size * _sine_of_half_turns(size))) - _log_gamma_of_positive(size)


WRITTEN: dict[Any, Any] = {
    pow: power,
    math.erf: erf,
    math.erfc: erfc,
    math.factorial: factorial,
    math.gamma: gamma,
    math.gcd: gcd,
    math.isclose: isclose,
    math.isqrt: isqrt,
    math.lcm: lcm,
    math.lgamma: lgamma,
}
# What an operation, or the compiler itself, says.
_KNOWN = (
    is_by_squaring,
    numpys_ints,
    outside,
    plain_numpys_power,
    plain_power,
    polynomial,
    same_ints,
)
# They call each other.
WRITTEN |= {
    own: own for own in list(globals().values()) if isinstance(own, FunctionType) and own not in _KNOWN
}
# Of Python's numbers, these give NumPy's.
NUMPYS: dict[Any, Any] = {np.gcd: _numpys_gcd, np.lcm: _numpys_lcm, np.power: _numpys_power}
