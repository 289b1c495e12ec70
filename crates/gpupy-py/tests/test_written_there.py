"""Results of operations on few elements go where they are written, whatever they overlap with.

Not here: other writes (``test_writing.py``), outputs of other dtypes (``test_outputs.py``).
"""

import numpy
import pytest

import gpupy

# Keys by which an array, or a part of it, is written and read.
PARTS = [
    ...,
    slice(None, None, -1),
    slice(1, -1),
    slice(None, -2),
    slice(2, None),
    slice(None, None, 2),
    slice(1, None, 2),
    (slice(1, -1), slice(1, -1)),
    (slice(None), slice(None, None, -1)),
    (slice(None), 2),
    (slice(None), slice(2, 3)),
    (3,),
    (slice(3, 4),),
    (0, 0),
]


@pytest.mark.parametrize("seed", range(40))
def test_results_are_written_where_they_go(auto, seed):
    """Into arrays that are operands themselves, in part, in another order or not at all."""
    chance = numpy.random.default_rng(seed)
    shape = [(8, 8), (9, 9), (90, 90), (120, 120)][seed % 4]
    dtype = ["f4", "f8", "i4", "f2", "c8"][seed // 4 % 5]
    want = [chance.integers(1, 9, shape).astype(dtype) for _ in range(3)]
    got = [gpupy.array(array) for array in want]
    exports = []
    for _ in range(30):
        names = chance.integers(0, 3, 3)
        keys = [PARTS[k] for k in chance.integers(0, len(PARTS), 3)]
        name = ["add", "multiply", "maximum", "subtract", "copysign", "negative", "less"][chance.integers(7)]
        if dtype == "c8" and name in ("copysign", "maximum", "less"):
            continue
        if name == "copysign" and dtype == "i4":
            continue
        way = chance.integers(4)

        def written(np, arrays, chosen=(name, names, keys, way)):
            name, names, keys, way = chosen
            a, b, out = (np.swapaxes(arrays[n], 0, 1) if way == 3 else arrays[n] for n in names)
            a, b, out = a[keys[0]], b[keys[1]], out[keys[2]]
            function = getattr(np, name)
            if name == "negative":
                function(a, out=out, casting="unsafe")
            elif way == 1:
                function(a, numpy.float32(2).astype(dtype), out=out, casting="unsafe")
            else:
                function(a, b, out=out, casting="unsafe")

        if chance.integers(8) == 0:
            exports.append(numpy.asarray(got[names[0]]))
        if chance.integers(8) == 0:
            got[names[1]], want[names[1]] = got[names[1]].copy(), want[names[1]].copy()
        try:
            written(numpy, want)
        except (TypeError, ValueError):
            continue
        written(gpupy, got)
        for one, other in zip(got, want, strict=True):
            numpy.testing.assert_array_equal(numpy.array(one), other)


# Views that show elements of an array several times.
WINDOWS = {
    "rows": lambda st, x: st.as_strided(x, (3, x.size), (0, x.itemsize)),
    "windows": lambda st, x: st.sliding_window_view(x, 3, writeable=True),
    "windows of every other": lambda st, x: st.sliding_window_view(x[::2], 2, writeable=True),
    "windows backwards": lambda st, x: st.sliding_window_view(x[::-1], 5, writeable=True)[::-1, ::-1],
    "windows, turned": lambda st, x: st.sliding_window_view(x, 4, writeable=True).T,
    "windows that touch": lambda st, x: st.sliding_window_view(x, 3, writeable=True)[::2],
    "windows side by side": lambda st, x: st.sliding_window_view(x, 3, writeable=True)[::3],
}

IN_PLACE = {
    "a number more": lambda np, w: np.add(w, 1, out=w),
    "itself": lambda np, w: np.multiply(w, w, out=w),
    "the other sign": lambda np, w: np.subtract(0, w, out=w),
    "an element of its own": lambda np, w: np.subtract(w, w[:1, :1], out=w),
    "another array": lambda np, w: np.add(w, np.ones(w.shape, w.dtype), out=w),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("work", IN_PLACE)
def test_windows_that_overlap_each_other_are_read_before_they_are_written(auto, name, work):
    """Each element has the result of one operation, however often the view shows it."""
    for size in (20, 200, 600, 1025, 3000, 40000):
        for dtype in ("i8", "f4", "i1"):
            want = (numpy.arange(size) % 9 - 4).astype(dtype)
            got = gpupy.array(want)
            IN_PLACE[work](numpy, WINDOWS[name](numpy.lib.stride_tricks, want))
            IN_PLACE[work](gpupy, WINDOWS[name](gpupy.lib.stride_tricks, got))
            numpy.testing.assert_array_equal(got, want, err_msg=f"{size} {dtype}")


def _filled(np, base, of, how, key):
    """A part after another of an array that is new, shared or read elsewhere, of elements that are there."""
    given = np.array(base)
    out = {"empty": np.zeros_like, "copy": np.copy, "computed": lambda x: x * 1 + 1}[how](given)
    if np is gpupy and how == "computed":
        gpupy.evaluate(out)
    before = out + 1
    seen = out[key(0)]
    for place in range(of):
        out[key(place)] = np.sqrt(np.abs(given[key(place)])) * (place + 1)
    return out, before, seen, given


# Extents around the most elements that are copied for a move, and those of an operation at once.
FILLED = [
    (181, 181),
    (182, 181),
    (4100, 7),
    (5000, 8),
    (40, 1000, 5),
    (512, 511),
    (512, 513),
    (37450, 7),
    (3, 32768),
]


@pytest.mark.parametrize("how", ["empty", "copy", "computed"])
@pytest.mark.parametrize("shape", FILLED)
def test_parts_of_an_array_are_moved_there_whoever_reads_it(auto, shape, how):
    base = numpy.arange(numpy.prod(shape), dtype="f4").reshape(shape) % 101
    keys = [
        (shape[-1], lambda k: (..., k)),
        (shape[0], lambda k: k),
        (7, lambda k: (slice(k, None, 7), slice(None, None, 2))),
        (3, lambda k: (..., slice(None, None, -1 - k))),
    ]
    for of, key in keys:
        wanted = _filled(numpy, base, min(of, 9), how, key)
        got = _filled(gpupy, base, min(of, 9), how, key)
        for theirs, ours in zip(wanted, got, strict=True):
            # Their roots are within a rounding.
            numpy.testing.assert_allclose(ours, theirs, rtol=3e-7)


@pytest.mark.parametrize("k", [2, 5, 7, 8, 9])
@pytest.mark.parametrize("make", [gpupy.zeros, gpupy.empty, lambda shape: gpupy.ones(shape).copy()])
def test_channels_that_are_filled_are_never_joined(k, make):
    """Were they joined, all of them would be read and stored again."""
    gpupy._gpupy.reconfigure("cpu", strict=False)
    gpupy.evaluate(gpupy.zeros(70_000) + 1)
    image = gpupy.array(numpy.random.default_rng(k).random((20_000, k)))
    out = make((20_000, k))
    gpupy.reset_stats()
    for c in range(k):
        out[:, c] = image[:, c] * 2
    read = numpy.asarray(out)
    counts = gpupy.stats()
    numpy.testing.assert_array_equal(read, numpy.asarray(image) * 2)
    assert counts.launches == counts.computed_at_once == k
