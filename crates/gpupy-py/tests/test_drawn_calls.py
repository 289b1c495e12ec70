"""Drawn calls of searches, counts, orders, bits and windows, right and wrong ones: NumPy's results or words.

Each test draws arguments of every dtype, layout and rank, numbers beside arrays, axes and keywords that NumPy
refuses.
"""

import random
import warnings

import numpy as np
import pytest
from pairs import check

import gpupy

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
REALS = ["bool", *INTEGERS, "float16", "float32", "float64"]
DTYPES = [*REALS, "complex64", "complex128"]
SHAPES = ((), (0,), (1,), (2,), (7,), (3, 4), (2, 0), (2, 1, 3), (0, 5))
LAYOUTS = (
    lambda a: a,
    lambda a: a[::-1] if a.ndim else a,
    lambda a: a.T,
    lambda a: a.repeat(2, -1)[..., ::2] if a.ndim else a,
)


class Drawn:
    """An array as NumPy's, which ``given`` makes one of either module, in a drawn layout."""

    def __init__(self, draw, dtypes=DTYPES, shapes=SHAPES, ordered=False, least=-4):
        dtype, shape = np.dtype(draw.choice(dtypes)), draw.choice(shapes)
        made = np.asarray(np.random.default_rng(draw.randrange(10**6)).integers(least, 9, shape))
        if dtype.kind == "u":
            made = abs(made)
        if dtype.kind in "fc" and draw.random() < 0.4:
            made = np.where(made == 3, draw.choice([np.nan, np.inf, -np.inf, 0.5]), made)
        self.array = np.sort(made.astype(dtype)) if ordered else np.asarray(made.astype(dtype))
        self.layout = draw.choice(LAYOUTS[:1] if ordered or made.ndim > 2 else LAYOUTS)

    def __repr__(self):
        return f"{self.array!r} by layout {LAYOUTS.index(self.layout)}"


def given(value, xp):
    if isinstance(value, Drawn):
        return value.layout(xp.asarray(value.array.copy()))
    return type(value)(given(each, xp) for each in value) if type(value) in (list, tuple) else value


def some(draw, *choices):
    """One of the choices, or what most functions refuse."""
    wrong = (None, "x", 2.5, [0], 10**20, True)
    return draw.choice(wrong if draw.random() < 0.12 else choices)


def keywords(draw, **choices):
    return {key: some(draw, *values) for key, values in choices.items() if draw.random() < 0.5}


def pair(draw, dtypes=DTYPES):
    first = Drawn(draw, dtypes)
    second = Drawn(draw, dtypes, (first.array.shape, first.array.shape[1:], *SHAPES[:3]))
    return first, draw.choice([second, second, 3, 2.5, np.int64(4)])


def row(draw, dtypes=DTYPES, **more):
    return Drawn(draw, dtypes, ((0,), (1,), (3,), (8,)), **more)


def products(draw):
    m, n, kinds = draw.choice([0, 1, 3]), draw.choice([0, 2, 3]), [*INTEGERS, "bool", "float32"]
    return Drawn(draw, kinds, ((m, n), (2, m, n))), Drawn(draw, kinds, ((n,), (2, n), (n + 1,)))


def grids(draw):
    shape = draw.choice([(3, 4), (9,), 9, (2, 3, 2), (), (0, 2), (3, -1), (2**40, 2**40)])
    return shape, len(shape) if isinstance(shape, tuple) else 1


def raveled(draw):
    shape, rank = grids(draw)
    places = [
        Drawn(draw, ["int64", "int32"], ((2,), (2, 1)), least=draw.choice([0, -2])) for _ in range(rank)
    ]
    return (tuple(places), shape), keywords(
        draw, mode=("raise", "wrap", "clip", ("wrap", "clip")), order=("C", "F")
    )


CALLS = {
    "searchsorted": lambda d: ((row(d, ordered=True), Drawn(d)), keywords(d, side=("left", "right"))),
    "digitize": lambda d: ((Drawn(d, REALS), row(d, REALS, ordered=True)), keywords(d, right=(False, 1))),
    "interp": lambda d: (
        (Drawn(d, REALS), Drawn(d, ["int64"], ((4,),), ordered=True), Drawn(d, REALS, ((4,), (4,), (3,)))),
        keywords(d, left=(-1, 2.5), right=(7, np.nan)),
    ),
    "gcd": lambda d: (pair(d, INTEGERS), {}),
    "lcm": lambda d: (pair(d, [*INTEGERS, "bool"]), {}),
    "bitwise_count": lambda d: ((Drawn(d, [*INTEGERS, "bool", "float32"]),), {}),
    "ldexp": lambda d: (pair(d, ["float16", "float32", "float64", "int32", "int8"]), {}),
    "frexp": lambda d: ((Drawn(d),), {}),
    "modf": lambda d: ((Drawn(d),), {}),
    "matvec": lambda d: (products(d), {}),
    "vecmat": lambda d: (products(d)[::-1], {}),
    "vecdot": lambda d: (products(d), keywords(d, axis=(-1, 0))),
    "choose": lambda d: (
        (
            Drawn(d, INTEGERS, least=-1),
            [d.choice([Drawn(d), 2, 7.5, 1j]) for _ in range(d.choice([0, 2, 9]))],
        ),
        keywords(d, mode=("raise", "wrap", "clip")),
    ),
    "unravel_index": lambda d: ((Drawn(d, INTEGERS), grids(d)[0]), keywords(d, order=("C", "F"))),
    "ravel_multi_index": raveled,
    "packbits": lambda d: (
        (Drawn(d, ["bool", "uint8", "int64", "float32"]),),
        keywords(d, axis=(0, -1, 1), bitorder=("big", "little")),
    ),
    "unpackbits": lambda d: (
        (Drawn(d, ["uint8", "uint8", "int8"], ((), (1,), (7,), (3, 4))),),
        keywords(d, axis=(0, -1, 1), count=(0, 3, 9, 90, -1, -90), bitorder=("big", "little")),
    ),
    "convolve": lambda d: ((row(d, INTEGERS), row(d, INTEGERS)), keywords(d, mode=("full", "same", "valid"))),
    "correlate": lambda d: (
        (row(d, INTEGERS), row(d, INTEGERS)),
        keywords(d, mode=("full", "same", "valid")),
    ),
    "polyadd": lambda d: ((row(d), row(d)), {}),
    "polyval": lambda d: ((row(d, INTEGERS), Drawn(d, INTEGERS)), {}),
    "polyint": lambda d: ((row(d),), keywords(d, m=(0, 1, 2, -1), k=(0, 1, [1, 2]))),
    "bincount": lambda d: ((Drawn(d, [*INTEGERS, "bool"], least=0),), keywords(d, minlength=(0, 3, 30, -1))),
    "histogram": lambda d: (
        (Drawn(d, REALS),),
        keywords(d, bins=(1, 3, 0, [0, 2, 5], [2, 1], "sqrt"), range=((0, 5), (5, 0), (0, np.inf))),
    ),
    "unique": lambda d: (
        (Drawn(d, REALS),),
        keywords(d, return_index=(False, True), return_inverse=(True,), return_counts=(True,), axis=(0, -1)),
    ),
    # What is beside these places has no order.
    "partition": lambda d: ((Drawn(d, shapes=((2,), (1,), (2, 2))), some(d, 0, 1, -1, 7)), {}),
    "argpartition": lambda d: ((Drawn(d, shapes=((0,), (1,), (3, 1, 1))), some(d, 0, -1, 7, [[0]])), {}),
    "median": lambda d: ((Drawn(d, REALS),), keywords(d, axis=(0, -1, (0, 1)), keepdims=(True,))),
    "nanmedian": lambda d: ((Drawn(d, REALS),), keywords(d, axis=(0, -1, (0, 1)), keepdims=(True,))),
    "percentile": lambda d: (
        (Drawn(d, REALS), some(d, 50, 0, 100, [25, 50], -1, np.nan)),
        keywords(d, axis=(0, -1, (0, 1)), keepdims=(True,), method=("linear", "lower", "weibull", "nearest")),
    ),
    "nanquantile": lambda d: ((Drawn(d, REALS), some(d, 0.5, [0.1, 0.9], 2)), keywords(d, axis=(0, -1))),
    "lexsort": lambda d: (
        ([Drawn(d, shapes=((7,),)) for _ in range(d.choice([0, 1, 3]))],),
        keywords(d, axis=(0,)),
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", ["allow", "warn"])
def test_drawn_calls(auto, name, mode):
    draw = random.Random(f"{name} {mode}")
    with gpupy.fallback(mode):
        for _ in range(60):
            args, kwargs = CALLS[name](draw)
            said = f"{name}{args} {kwargs}"
            check(lambda xp: getattr(xp, name)(*given(list(args), xp), **given_to_all(kwargs, xp)), said)


def given_to_all(kwargs, xp):
    return {key: given(value, xp) for key, value in kwargs.items()}


def test_of_numbers_nothing_warns_of_what_happens_inside(auto):
    with warnings.catch_warnings(), gpupy.fallback("warn"):
        warnings.simplefilter("error")
        assert gpupy.bitwise_count(gpupy.array(-17015, np.int16)) == bin(17015).count("1")
        assert gpupy.bitwise_count(gpupy.array(3731587066, np.uint32)) == bin(3731587066).count("1")
        assert gpupy.percentile(gpupy.array([np.inf, 0.0]), 1) == np.inf


def test_where_nothing_is_chosen_no_choice_is_wrong(auto):
    with gpupy.fallback("warn"):
        check(lambda xp: xp.choose(xp.array(2, "u1"), [xp.array(5), xp.zeros((4, 0))]))


def test_an_input_may_be_overwritten_beside_an_output(auto):
    def results(xp):
        a, out = xp.array([5, 0, -5, 3]), xp.zeros(1)
        return xp.nanmedian(a, axis=0, keepdims=True, overwrite_input=True, out=out), out, a

    check(results)


def test_a_median_goes_into_any_output_unless_it_is_no_number(auto):
    for values in ([1.0, 2.0, 4.0], [1.0, np.nan, 2.0]):
        for mode in ("allow", "warn"):
            with gpupy.fallback(mode):
                check(lambda xp: xp.median(xp.asarray(values), axis=0, out=xp.array(9, np.uint16)), mode)
