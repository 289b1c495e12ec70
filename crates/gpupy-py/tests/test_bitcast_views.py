"""Views under another dtype share their array's elements: parts of complex numbers, and bits."""

import random
import warnings

import numpy as np
import pytest
from pairs import bits

import gpupy

DTYPES = "bool i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8 c8 c16".split()


@pytest.fixture(autouse=True)
def _every_dtype():
    gpupy._gpupy.reconfigure("cpu")


def _numbers(xp, dtype, n=48):
    given = np.arange(n * np.dtype(dtype).itemsize, dtype="u1")
    if dtype == "bool":
        return xp.array(given % 2 == 0)
    # No exponent of all ones, so no NaN whose bits may be lost.
    return xp.array((given % 60).view(dtype))


def _same(mine, theirs):
    assert mine.dtype == theirs.dtype
    assert (mine.shape, mine.strides) == (theirs.shape, theirs.strides)
    flags = "c_contiguous f_contiguous owndata writeable".split()
    assert [getattr(mine.flags, f) for f in flags] == [getattr(theirs.flags, f) for f in flags]
    np.testing.assert_array_equal(bits(mine), bits(theirs))


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_view_under_another_dtype_shares_the_elements_both_ways(dtype, to):
    sides = [_numbers(xp, dtype) for xp in (gpupy, np)]
    seen = [x.view(to) for x in sides]
    _same(*seen)
    assert seen[0].base is sides[0]
    assert gpupy.shares_memory(*[sides[0], seen[0]])
    for x, y in zip(sides, seen, strict=True):
        x[5:7] = 1
        # Other bits than those of 0 and 1 are no bool.
        y[1] = 0
        x[0] = 1
        if dtype != "bool":
            y[2:3:3] = 3
    _same(*seen)
    _same(*sides)


PARTS = {
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "np.real": np.real,
    "of a part": lambda z: z[1:].real[::2],
    "a part of a part": lambda z: z.imag[::-1][1:],
    "transposed": lambda z: z.reshape(3, 4).T.imag,
    "there and back": lambda z: z.view(z.real.dtype).view(z.dtype).real,
    "bits of a part": lambda z: z.view(z.real.dtype)[1::2],
    "one": lambda z: z[3:4].real,
}
WRITES = {
    "all": lambda r: r.__setitem__(..., 5),
    "a slice": lambda r: r.__setitem__(slice(1, None), 7),
    "an element": lambda r: r.__setitem__((0,) * r.ndim, 9),
    "an array": lambda r: r.__setitem__(..., np.arange(r.size).reshape(r.shape)),
    "in place": lambda r: r.__imul__(3),
    "out": lambda r: np.add(r, 1, out=r),
    "where": lambda r: np.negative(r, out=r, where=np.asarray(r) > 2),
    "a mask": lambda r: r.__setitem__(r > 2, -1),
    "index arrays": lambda r: r.__setitem__([0, 0], 4),
    "fill": lambda r: r.fill(6),
    "copyto": lambda r: np.copyto(r, 3),
    "put": lambda r: r.put([0], 8),
    "sort": lambda r: r.sort(),
    "flat": lambda r: r.flat.__setitem__(0, 2),
    "at": lambda r: np.add.at(r, (0,) * r.ndim, 5),
    "reshaped": lambda r: r.reshape(1, *r.shape).__setitem__(0, 5),
}


@pytest.mark.parametrize("n", [12, 12000])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("part", PARTS)
def test_what_is_written_to_a_part_is_written_to_the_array(part, write, n):
    if n != 12 and part == "transposed":
        pytest.skip("of twelve")

    def run(xp):
        z = xp.asarray(np.arange(n) * (1 - 2j))
        seen, pending = z.real, z * 2
        r = PARTS[part](z)
        WRITES[write](r)
        z[1] = 3 + 4j
        return [z, r, seen, pending, r + seen.ravel()[0]]

    for mine, theirs in zip(run(gpupy), run(np), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_a_part_stays_in_step_with_a_pending_array(limited, dtype):
    def run(xp):
        z = xp.asarray(np.arange(40).astype(dtype) * 1j)
        r, i = z.real, z.imag
        z *= 2
        i += r
        z[3:9] += 1
        r[::2] -= i[::2]
        z[:] = z[::-1]
        return [z, r, i]

    for mine, theirs in zip(run(gpupy), run(np), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("first, then", [("i4", "f4"), ("f8", "u1"), ("u2", "c8"), ("c16", "i2")])
def test_views_of_views_share_the_elements_of_the_first(limited, first, then):
    if not all(map(gpupy._gpupy.is_lazy, (first, then))):
        pytest.skip("the dtype is NumPy's here")

    def run(xp):
        a = _numbers(xp, first, 16)
        v = a.view(then)
        w = v.view(first)
        w[3] = 1
        v[:1] = 0
        a[5:] = 7
        return [a, v, w]

    for mine, theirs in zip(run(gpupy), run(np), strict=True):
        _same(mine, theirs)


def test_parts_overlap_where_numpys_do():
    for xp in (gpupy, np):
        z = xp.zeros(4, complex)
        assert xp.shares_memory(z, z.real) and xp.shares_memory(z[1:].imag, z[:2].imag)
        assert not xp.shares_memory(z.real, z.imag)
        assert not xp.shares_memory(z[:2].real, z[2:].real)
        assert xp.may_share_memory(z.real, z.imag)
        assert z.real.base is z


SHAPES = [
    lambda a: a.view("i8"),
    lambda a: a.view("u2"),
    lambda a: a.T.view("u2"),
    lambda a: a[:, ::2].view("u2"),
    lambda a: a[::2].view("i8"),
    lambda a: a[:, 1:3].view("i8"),
    lambda a: a[1:1].view("i8"),
    lambda a: a[0, 0:0].view("i8"),
    lambda a: a[0, 0, ...].view("i8"),
    lambda a: a[0, 0, ...].view("f4"),
    lambda a: a[:, :3].view("i8"),
    lambda a: a.view("O"),
]


@pytest.mark.parametrize("view", SHAPES)
def test_shapes_and_refusals_are_numpys(view):
    sides = [xp.arange(24, dtype="i4").reshape(4, 6) for xp in (gpupy, np)]
    try:
        theirs = view(sides[1])
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            view(sides[0])
        assert str(caught.value) == str(error)
        return
    mine = view(sides[0])
    _same(mine, theirs)
    for x, y in zip(sides, (mine, theirs), strict=True):
        y[...] = 5
        x[0] = 1
    _same(mine, theirs)
    _same(*sides)


def test_a_read_only_array_has_read_only_views():
    z = gpupy.ones(3, complex)
    z.flags.writeable = False
    for view in (z.real, z.imag, z.view(float)):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 5


def test_views_of_what_was_disposed_of_are_errors():
    z = gpupy.ones(3, complex)
    part = z.real
    z.dispose()
    with pytest.raises(Exception, match="disposed"):
        part.tolist()


@pytest.mark.parametrize("number", range(60))
def test_random_programs_of_views_and_writes_do_what_numpys_do(number):
    """The steps come from the number alone."""

    def run(xp):
        chance = random.Random(f"faces {number}")
        arrays = [_numbers(xp, chance.choice(DTYPES[1:]), chance.choice([8, 48, 5000]))]
        results = []
        for _ in range(14):
            a = chance.choice(arrays)
            step = chance.randrange(6)
            cut = slice(chance.randrange(3), None, chance.choice([1, 1, 2, -1]))
            to, number_ = chance.choice(DTYPES[1:]), chance.randrange(50)
            if step == 0 and a.dtype.kind == "c":
                arrays.append(chance.choice([a.real, a.imag]))
            elif step == 1:
                arrays.append(a[cut])
            elif step == 2 and a.size and a.strides[-1] == a.itemsize:
                if not a.nbytes % np.dtype(to).itemsize:
                    arrays.append(a.view(to))
            elif step == 3:
                a[cut] = number_
            elif step == 4 and a.dtype.kind in "iu":
                a ^= a.dtype.type(number_)
            elif step == 5 and a.size:
                a[[0, -1]] = number_
            results.append(np.array(chance.choice(arrays)))
        return results + arrays

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mine, theirs in zip(run(gpupy), run(np), strict=True):
            np.testing.assert_array_equal(bits(mine), bits(theirs))


def _masked(xp, x):
    return (x * xp.float32(2)).view(xp.int32) & 0x7FFFFF


def _written_and_read(xp, x):
    y = x * xp.float32(2)
    bits_of_y = y.view(xp.int32)
    bits_of_y &= 0x7FFFFFFF
    return y + 1


def _parts(xp, x):
    z = x + 1j * x
    return z.real * 2 + z.imag


def _every_fourth_byte(xp, x):
    return (x * xp.float32(2)).view(xp.uint8)[::4] + 1


@pytest.mark.parametrize("text", [_masked, _written_and_read, _parts, _every_fourth_byte])
def test_a_view_under_another_dtype_has_no_launch_of_its_own(text):
    given = np.arange(100_000, dtype=np.float32) * np.float32(-1.5)
    x = gpupy.asarray(given)
    before = gpupy.stats().launches
    found = text(gpupy, x)
    gpupy.evaluate(found)
    assert gpupy.stats().launches == before + 1
    assert np.array_equal(bits(found), bits(text(np, given)))
