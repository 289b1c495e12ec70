"""Index arrays and masks beside NumPy: same elements, shapes and errors, on the driver."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from pairs import assert_same, check

import gpupy

SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple)


@st.composite
def parts(draw, extent, picked):
    """An index of one axis: mostly inside, sometimes not."""
    kind = draw(st.integers(0, 9))
    if kind <= 2:
        start, stop = draw(st.tuples(*[st.none() | st.integers(-5, 5)] * 2))
        return slice(start, stop, draw(st.sampled_from([None, 1, 2, -1, -2])))
    if kind == 3:
        return draw(st.integers(-extent, extent - 1)) if extent else 0
    if kind == 4:
        return np.array(draw(st.lists(st.booleans(), min_size=extent, max_size=extent)), bool)
    shape = tuple(1 if draw(st.booleans()) else n for n in picked)
    slack = draw(st.sampled_from([0, 0, 0, 1]))
    numbers = st.integers(-extent - slack, max(extent - 1 + slack, -extent - slack))
    size = int(np.prod(shape))
    elements = draw(st.lists(numbers, min_size=size, max_size=size))
    dtype = draw(st.sampled_from(["int64", "int32", "int8", "int16"]))
    index = np.array(elements, dtype).reshape(shape)
    return index.tolist() if draw(st.integers(0, 4)) == 0 and index.size else index


@st.composite
def keys(draw, shape):
    picked = tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=2)))
    used = draw(st.integers(1, len(shape)))
    from_end = draw(st.booleans())
    extents = shape[len(shape) - used :] if from_end else shape[:used]
    key = [draw(parts(n, picked)) for n in extents]
    if from_end and used < len(shape):
        key.insert(0, ...)
    elif draw(st.integers(0, 5)) == 0:
        key.insert(draw(st.integers(0, len(key))), ...)
    for _ in range(draw(st.integers(0, 1))):
        key.insert(draw(st.integers(0, len(key))), None)
    return key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


def ours(key, module):
    """The key with index arrays of the module's own."""
    if isinstance(key, tuple):
        return tuple(ours(item, module) for item in key)
    return module.asarray(key) if isinstance(key, np.ndarray) else key


@settings(max_examples=400)
@given(st.data())
def test_keys_with_index_arrays_name_what_numpy_says(device, data):
    shape = data.draw(SHAPES)
    key = data.draw(keys(shape))
    own = data.draw(st.booleans())
    turned = data.draw(st.booleans())
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + np.float32(0.5)

    def read(module):
        array = module.asarray(values)
        if turned:
            array = array[::-1]
        return (array * 2)[ours(key, module) if own else key] + 1

    with warnings.catch_warnings(), gpupy.fallback("error"):
        warnings.simplefilter("ignore")
        check(read, f"{shape}[{key!r}]")


@settings(max_examples=300)
@given(st.data())
def test_writes_by_index_arrays_change_what_numpys_change(device, data):
    shape = data.draw(SHAPES)
    key = data.draw(keys(shape))
    own = data.draw(st.booleans())
    kind = data.draw(st.integers(0, 3))
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + np.float32(0.5)

    def written(module):
        base = module.asarray(values.copy())
        array = base[::-1] if kind == 1 else base
        before = base + 1
        mine = ours(key, module) if own else key
        if kind == 3:
            array[mine] = np.ones((7, 5), np.float32)
        else:
            # The written value depends on its place, so that the order does not count.
            array[mine] = 9 if kind == 0 else array[mine] * 2 + 1
        return [base, before]

    with warnings.catch_warnings(), gpupy.fallback("error"):
        warnings.simplefilter("ignore")
        check(written, f"{shape}[{key!r}]")


def test_of_several_writes_to_one_element_the_last_counts(device):
    for count in (3, 300):
        index = np.arange(count) % 7
        a = gpupy.zeros(10, np.float32)
        before = a + 0
        a[index] = np.arange(count, dtype=np.float32)
        want = np.zeros(10, np.float32)
        want[index] = np.arange(count, dtype=np.float32)
        assert a.tolist() == want.tolist()
        assert before.tolist() == [0.0] * 10


@pytest.mark.parametrize("side", [3, 63, 64, 90, 91, 150])
def test_columns_beside_rows_and_constants_name_what_numpy_says_however_many(driver, side):
    """Few are picked at once, of more a gather is recorded; `most_picked` numbers lie between."""
    values = np.arange(160 * 170 * 2, dtype=np.float32).reshape(160, 170, 2)

    def turn(m):
        numbers = m.arange(side)
        column, row = (numbers[:, None] * 7) % 160, -1 - numbers
        blocks = numbers.reshape(1, side) + m.zeros((3, 1, side), dtype=np.int32)
        table, picture = m.asarray(values[..., 0].copy()), m.asarray(values.copy())
        several = m.full((side, side), -3)
        found = [table[column, row], table[several, row], table[column, several], picture[column, row]]
        found += [picture[:, row], table[blocks, column.reshape(side, 1)]]
        found += [m.take(table, 5 * blocks, axis=1, mode=mode) for mode in ("wrap", "clip")]
        table[column, row] = found[1]
        table[several[0], column[:, 0]] = 7
        return [*found, table]

    for got, wanted in zip(turn(gpupy), turn(np), strict=True):
        np.testing.assert_array_equal(np.asarray(got), wanted)


def test_put_is_numpys(device):
    def put(m, *args, **kwargs):
        a = m.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
        assert m.put(a, *args, **kwargs) is None
        return a

    for args in (([1, 5, -1], 9), ([1, 5], [3, 4]), ([[1, 5]], [3]), ([20], 1), ([], 1), ([0, 1, 2], [7, 8])):
        check(lambda m, args=args: put(m, *args), f"{args}")
    check(lambda m: put(m, [99], 1, mode="clip"))


def test_what_is_picked_is_a_copy_and_stays_as_it_was(device):
    a = gpupy.arange(6, dtype=np.float32)
    index = gpupy.asarray(np.array([5, 0, 5], np.int32))
    picked = a[index]
    a[5] = 99
    index[0] = 1
    assert picked.base is None
    assert picked.tolist() == [5.0, 0.0, 5.0]
    picked[0] = 7
    assert a[5] == 99


def test_computed_positions_fuse_and_nothing_goes_to_numpy(device):
    gpupy.reset_stats()
    table = gpupy.asarray(np.arange(40, dtype=np.float32))
    n = gpupy.arange(20, dtype=np.int32)
    with gpupy.fallback("error"):
        picked = table[gpupy.clip(n * 3 - 5, 0, 39)] + table[n]
        want = np.clip(np.arange(20) * 3 - 5, 0, 39) + np.arange(20)
        assert picked.tolist() == want.tolist()


@pytest.mark.parametrize("where", [5, -6, 2**31, -(2**40)])
def test_an_index_outside_is_refused_at_its_line_in_numpys_words(device, where):
    for make in (lambda i: [0, i], lambda i: np.array([[1], [i]])):
        check(lambda m, make=make: m.ones((5, 5), np.float32)[make(where)])
        check(lambda m, make=make: m.ones((5, 5), np.float32)[:, make(where)])
    if abs(where) < 2**31:
        # Also where it is computed.
        given = np.array([0, where - 1], np.int32)
        check(lambda m: m.ones((5, 5), np.float32)[m.asarray(given) + np.int32(1)])


def test_masks_name_their_true_elements(device):
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    check(lambda m: m.asarray(a)[m.asarray(a) > 7])
    check(lambda m: m.asarray(a)[(m.asarray(a) > 7).any(1)])
    check(lambda m: m.asarray(a)[:, a[0] % 2 == 0])
    check(lambda m: m.asarray(a)[m.asarray(a) > 100])
    check(lambda m: m.asarray(a)[np.ones((4, 5), bool)])
    check(lambda m: m.asarray(a)[np.ones(4, bool), [0, 1, 2, 3]])
    check(lambda m: m.asarray(a)[[]])


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_is_numpys(device, mode, axis):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    for index in (1, [0, 2], [[0, 1], [2, -1]], np.array([], int), [0, 7], -9, [True], np.float32(1)):
        check(lambda m, i=index: m.take(m.asarray(a), i, axis, mode=mode), f"{index}")
        check(lambda m, i=index: m.asarray(a).T.take(i, axis, mode=mode), f"{index}")
    check(lambda m: m.take(m.asarray(a), [0], axis, mode="sideways"))
    check(lambda m: m.take(m.asarray(a), [0], 5))
    check(lambda m: m.take(m.zeros((0, 3), np.float32), [0], 0, mode=mode))


def test_take_along_axis_compress_and_extract_are_numpys(device):
    a = np.array([[3, 1, 2], [9, 8, 7]], np.float32)
    index = np.array([[1, 2, 0], [2, 1, -3]])
    check(lambda m: m.take_along_axis(m.asarray(a), index, 1))
    check(lambda m: m.take_along_axis(m.asarray(a), m.asarray(index.astype(np.int32)), -1))
    check(lambda m: m.take_along_axis(m.asarray(a), index[:1] % 2, 0))
    check(lambda m: m.take_along_axis(m.asarray(a), index[0], None))
    check(lambda m: m.take_along_axis(m.asarray(a), index + 3, 1))
    check(lambda m: m.take_along_axis(m.asarray(a), index[0], 1))
    check(lambda m: m.compress([False, True], m.asarray(a), axis=0))
    check(lambda m: m.compress([False, True, True], m.asarray(a), axis=1))
    check(lambda m: m.asarray(a).compress([False, True, False, True]))
    check(lambda m: m.extract(m.asarray(a) > 2, m.asarray(a)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "u1"])
@pytest.mark.parametrize("threshold", [-2, 3, 40, 99, 200])
def test_what_a_mask_picks_and_puts_back_is_numpys(device, dtype, threshold):
    numbers = np.arange(9000).reshape(90, 100) * 7 % 100
    sides = []
    for m in (np, gpupy):
        x, y = m.asarray(numbers.astype(dtype)), m.asarray((numbers.T.reshape(90, 100) % 11).astype(dtype))
        last, old = m.zeros((90, 100), dtype=np.int32), x + y
        row, steps = x[3], []
        for _ in range(3):
            inside = abs(x) < threshold
            last[inside] += 1
            x[inside] = x[inside] * x[inside] - y[inside] * 2
            steps.append(x * 1)
        x[abs(x) > 50] = y[abs(x) > 50]
        sides.append((x, y, last, old, row, *steps))
    for got, wanted in zip(sides[1], sides[0], strict=True):
        assert_same(got, wanted)


def rotated(m, image, degrees):
    """An image turned about its middle, with bilinear interpolation, as one writes it in NumPy."""
    h, w = image.shape
    angle = np.float32(np.deg2rad(degrees))
    c, s = np.cos(angle), np.sin(angle)
    y, x = m.arange(h, dtype=np.float32)[:, None], m.arange(w, dtype=np.float32)[None, :]
    y, x = y - np.float32((h - 1) / 2), x - np.float32((w - 1) / 2)
    from_y = c * y - s * x + np.float32((h - 1) / 2)
    from_x = s * y + c * x + np.float32((w - 1) / 2)
    y0, x0 = m.floor(from_y), m.floor(from_x)
    dy, dx = from_y - y0, from_x - x0
    y0, x0 = y0.astype(np.int32), x0.astype(np.int32)
    up, down = m.clip(y0, 0, h - 1), m.clip(y0 + 1, 0, h - 1)
    left, right = m.clip(x0, 0, w - 1), m.clip(x0 + 1, 0, w - 1)
    above = image[up, left] * (1 - dx) + image[up, right] * dx
    below = image[down, left] * (1 - dx) + image[down, right] * dx
    return above * (1 - dy) + below * dy


def test_a_rotated_image_is_numpys(device):
    image = np.random.default_rng(1).random((23, 37), np.float32)
    with gpupy.fallback("error"):
        got = rotated(gpupy, gpupy.asarray(image), 10)
    assert_same(got, rotated(np, image, 10))


@pytest.mark.parametrize("driver_name", ["cpu", "gl"])
def test_a_rotated_image_is_one_launch(driver_name):
    if not any(row["name"] == driver_name and row["starts"] for row in gpupy.drivers()):
        pytest.skip(f"{driver_name} does not start")
    gpupy._gpupy.reconfigure(driver_name)
    image = gpupy.asarray(np.random.default_rng(1).random((100, 100), np.float32))
    gpupy.evaluate(image + 0)
    gpupy.reset_stats()
    turned = rotated(gpupy, image, 10)
    gpupy.evaluate(turned)
    stats = gpupy.stats()
    assert stats.launches == 1
    assert stats.fallbacks == 0


def test_index_arrays_may_be_in_another_byte_order(driver):
    a = np.arange(600, dtype=np.float32)
    for dtype in (">i2", "<i2", ">i8", ">u4"):
        index = np.array([1, 2, 257, 5], dtype)
        np.testing.assert_array_equal(gpupy.asarray(a)[index], a[index])


@pytest.mark.parametrize("dtype", ["f4", "i4", "?"])
@pytest.mark.parametrize("parts", ["c8", "c16"])
def test_where_nothing_is_written_values_are_converted_as_numpy_does(driver, parts, dtype):
    values = {
        "array": lambda xp: xp.ones(1, parts),
        "empty": lambda xp: xp.ones(0, parts),
        "list": lambda xp: [1 + 2j],
        "scalar": lambda xp: np.dtype(parts).type(1j),
        "too many": lambda xp: xp.ones(2, parts),
    }
    for name, value in values.items():
        for key in (lambda xp: xp.zeros(3, bool), lambda xp: [False] * 3, lambda xp: xp.zeros(0, int)):
            seen = []
            for xp in (np, gpupy):
                array = xp.zeros(3, dtype)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        array[key(xp)] = value(xp)
                        words = None
                    except Exception as error:
                        words = str(error)
                seen.append((words, [str(warning.message) for warning in caught]))
            assert seen[0] == seen[1], name


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", "i2", "f2", "bfloat16", "f4"])
def test_tables_of_few_and_of_many_narrow_elements_are_read_at_every_index(driver, dtype):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    rng = np.random.default_rng(5)
    for length in (1, 2, 3, 4, 5, 7, 255, 3000):
        table = rng.integers(-128, 128, length).astype(dtype)
        one_after_another = np.arange(4000) % length
        for index in (one_after_another, rng.integers(-length, length, 4000), one_after_another[::-1]):

            def picked(xp, index=index, table=table):
                # Not the table alone, which would be a copy.
                return xp.asarray(table)[xp.asarray(index)] * xp.asarray(np.arange(4000, dtype="f4"))

            check(picked, f"{length} of {dtype}")
