"""The programs by numexpr, as expressions in its language.

A program that has none, because it moves elements or multiplies matrices, is left out. Operands are NumPy's
arrays; where a person would give numexpr several expressions, there are several. Constants are float32, as
numexpr's own would make all of it float64.
"""

import functools

import numexpr
import numpy

from gpupy._bench import programs


def version(program, arrays):
    """The program as a call without arguments, or nothing if numexpr cannot say it."""
    text = _TEXTS.get(program.text)
    return None if text is None else functools.partial(text, *arrays, **program.constants)


def _evaluate(expression, /, **names):
    """Evaluates an expression; numbers among the names become float32."""
    typed = {name: v if isinstance(v, numpy.ndarray) else numpy.float32(v) for name, v in names.items()}
    return numexpr.evaluate(expression, local_dict=typed, global_dict={}, truediv=True)


def _scaled_sum(x, y):
    return _evaluate("c * x + y", c=2.5, x=x, y=y)


def _sine_times_exponential(x):
    return _evaluate("sin(x) * exp(-x * x)", x=x)


def _absolute_sum(x):
    return _evaluate("sum(abs(x))", x=x).astype(numpy.float32)[()]


def _distance_map(size, points):
    places = numpy.arange(size, dtype=numpy.float32)
    x, y = places.reshape(-1, 1), places
    distance = "sqrt((x - x0) * (x - x0) + (y - y0) * (y - y0))"
    nearest = None
    for x0, y0 in points:
        names = {"x": x, "y": y, "x0": x0, "y0": y0}
        if nearest is None:
            nearest = _evaluate(distance, **names)
        else:
            nearest = _evaluate(f"where({distance} < nearest, {distance}, nearest)", nearest=nearest, **names)
    return nearest


def _shaded_sphere(size):
    radius, half = 0.4 * size, size / 2
    places = numpy.arange(size, dtype=numpy.float32)
    apart = size * size
    names = {
        "x": places.reshape(-1, 1),
        "y": places,
        "half": half,
        "z": size,
        "c": apart - radius * radius,
        "radius": radius,
        "two": 2,
        "four": 4,
        "toward": -2 * size * size,
    }
    a = "((x - half) * (x - half) + (y - half) * (y - half) + z * z)"
    discriminant = _evaluate(f"toward * toward - four * {a} * c", **names)
    lit = _evaluate(
        "(z - t * (x - half) + t * (y - half) - t * z) / radius",
        t=_evaluate(f"(-toward - sqrt(d)) / (two * {a})", d=discriminant, **names),
        **names,
    )
    channels = ((0.0, 0.1, 0.2), (0.0, 0.2, 0.5), (0.5, 0.3, 0.6))
    shade = "full * where(d > zero, where(lit > zero, ambient + lit * diffuse, ambient), background)"
    return tuple(
        _evaluate(
            shade,
            d=discriminant,
            lit=lit,
            full=255,
            zero=0,
            background=background,
            ambient=ambient,
            diffuse=diffuse,
        )
        for background, ambient, diffuse in channels
    )


def _black_scholes(price, strike, years):
    rate, volatility = 0.02, 0.3
    spread = "(v * sqrt(t))"
    d1 = _evaluate(
        f"(log(s / k) + drift * t) / {spread}",
        s=price,
        k=strike,
        t=years,
        v=volatility,
        drift=rate + 0.5 * volatility * volatility,
    )
    d2 = _evaluate(f"d1 - {spread}", d1=d1, t=years, v=volatility)
    owed = _evaluate("k * exp(r * t)", k=strike, t=years, r=-rate)
    names = {
        "s": price,
        "owed": owed,
        "n1": _normal_distribution(d1),
        "n2": _normal_distribution(d2),
        "one": 1,
    }
    call = _evaluate("s * n1 - owed * n2", **names)
    return call, _evaluate("owed * (one - n2) - s * (one - n1)", **names)


def _normal_distribution(x):
    k = "(one / (one + p * abs(x)))"
    series = f"({k} * (b1 + {k} * (b2 + {k} * (b3 + {k} * (b4 + {k} * b5)))))"
    tail = f"(density * exp(-half * x * x) * {series})"
    return _evaluate(
        f"where(x > zero, one - {tail}, {tail})",
        x=x,
        p=0.2316419,
        b1=0.31938153,
        b2=-0.356563782,
        b3=1.781477937,
        b4=-1.821255978,
        b5=1.330274429,
        density=0.3989422804,
        half=0.5,
        one=1,
        zero=0,
    )


def _convolution(image):
    taps = dict(zip("abcde", (0.0625, 0.25, 0.375, 0.25, 0.0625), strict=True))
    height, width = image.shape
    tall = numpy.pad(image, ((2, 2), (0, 0)), mode="edge")
    rows = {f"r{k}": tall[k : k + height] for k in range(5)}
    smooth = _evaluate("a * r0 + b * r1 + c * r2 + d * r3 + e * r4", **taps, **rows)
    wide = numpy.pad(smooth, ((0, 0), (2, 2)), mode="edge")
    columns = {f"r{k}": wide[:, k : k + width] for k in range(5)}
    return _evaluate("a * r0 + b * r1 + c * r2 + d * r3 + e * r4", **taps, **columns)


_TEXTS = {
    programs.scaled_sum: _scaled_sum,
    programs.sine_times_exponential: _sine_times_exponential,
    programs.absolute_sum: _absolute_sum,
    programs.distance_map: _distance_map,
    programs.shaded_sphere: _shaded_sphere,
    programs.black_scholes: _black_scholes,
    programs.convolution: _convolution,
}
