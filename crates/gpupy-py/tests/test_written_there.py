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
