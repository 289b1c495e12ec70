"""Fourier transforms: values, dtypes, shapes, layout and errors are NumPy's, and no transform falls back."""

import itertools

import numpy as np
import pytest

import gpupy as gp

ONE = "fft ifft rfft irfft hfft ihfft".split()
SEVERAL = "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()
NORMS = (None, "backward", "ortho", "forward")
DTYPES = "?bBhHiIlLefdFD"
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 30, 31, 64, 97, 100, 127, 128, 210, 257, 500, 509, 1000, 1024)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind not in "fc":
        return rng.integers(0, 2 if kind == "b" else 50, shape).astype(dtype)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if kind == "c" else real).astype(dtype)


def check(name, array, *args, ours=None, **kwargs):
    """The call is NumPy's: dtype, shape, strides, and values within the bound of both."""
    wanted = getattr(np.fft, name)(array, *args, **kwargs)
    found = getattr(gp.fft, name)(gp.array(array) if ours is None else ours, *args, **kwargs)
    assert type(found) is gp.ndarray
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), (name, args, kwargs)
    near(np.asarray(found), wanted)
    return found


def near(found, wanted):
    single = found.dtype.char in "fF"
    epsilon = {"e": 1e-3}.get(found.dtype.char, np.finfo("f" if single else "d").eps)
    largest = np.abs(wanted).max(initial=0.0)
    assert np.abs(found - wanted).max(initial=0.0) <= 64 * epsilon * (largest + 1e-30)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_numpys(auto, name, dtype):
    array = numbers((3, 12), dtype)
    if name in ("rfft", "ihfft") and dtype in "FD":
        for call, x in ((getattr(np.fft, name), array), (getattr(gp.fft, name), gp.array(array))):
            with pytest.raises(TypeError, match="ufunc 'rfft_n_even' not supported for the input types"):
                call(x)
        return
    for norm in NORMS:
        check(name, array, norm=norm)


@pytest.mark.parametrize("name", ONE)
def test_every_length_along_every_axis(device, name, some):
    char = "D" if name in ("fft", "ifft", "irfft", "hfft") else "d"
    for n in some([n for n in LENGTHS if n <= 257], 6):
        for axis, shape in ((-1, (2, n)), (0, (n, 3)), (1, (2, n, 3))):
            for given in {n, n + 3, max(n - 2, 1)}:
                extents = list(shape)
                extents[axis] = given
                check(name, numbers(extents, char, n), n, axis)


@pytest.mark.parametrize("n", [4096, 16_384, 16_385, 20_000, 3 * 5**6, 2**17, 2 * 7**5, 10_007, 30_030])
def test_long_rows(auto, n):
    for name, dtype in (("fft", "D"), ("ifft", "D"), ("rfft", "d"), ("fft", "F")):
        check(name, numbers(n, dtype))
        check(name, numbers((2, n // 2), dtype), n)
    check("irfft", numbers(n // 2 + 1, "D"), n)


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("dtype", "fdFD")
def test_transforms_along_several_axes(auto, name, dtype):
    if name.startswith("rfft") and dtype in "FD":
        pytest.skip("of real numbers alone")
    array = numbers((4, 6, 10), dtype)
    for norm in NORMS:
        check(name, array, norm=norm)
    check(name, array, s=(5, 7), axes=(0, 2))
    check(name, array, axes=(2, 0))
    check(name, array, axes=(1,))
    check(name, array, s=(-1, 8), axes=(1, 2))
    if name[-1] == "n":
        check(name, array, axes=(0, 0, 1))


@pytest.mark.parametrize("name", ONE)
def test_views_of_all_kinds(auto, name):
    base = numbers((6, 8, 10), "d" if name in ("rfft", "ihfft") else "D")
    ours = gp.array(base)
    views = {
        "from the end": lambda x: x[::-1, ::-2, ::-1],
        "every second": lambda x: x[1::2, :, ::3],
        "turned": lambda x: x.T,
        "moved": lambda x: x.transpose(1, 2, 0),
        "a column": lambda x: x[:, 2, 3],
        "broadcast": lambda x: gp.broadcast_to(x[:, :1], x.shape) if type(x) is gp.ndarray
        else np.broadcast_to(x[:, :1], x.shape),
        "one point": lambda x: x[:, :, :1] if name not in ("irfft", "hfft") else x[:, :, :2],
    }  # fmt: skip
    for words, view in views.items():
        for axis in range(view(base).ndim):
            if name in ("irfft", "hfft") and view(base).shape[axis] < 2:
                continue
            found = check(name, view(base), None, axis, ours=view(ours))
            wanted = getattr(np.fft, name)(view(base), None, axis)
            if wanted.size:
                steps = [s for s, n in zip(wanted.strides, wanted.shape, strict=True) if n > 1]
                own = [s for s, n in zip(found.strides, found.shape, strict=True) if n > 1]
                assert own == steps, words


@pytest.mark.parametrize("name", ONE + SEVERAL)
def test_arrays_without_elements_or_axes(auto, name):
    for shape in ((0,), (3, 0), (0, 3), ()):
        for args in ((), (4,) if name in ONE else ((4,), (-1,))):
            array = np.zeros(shape)
            answers = []
            for module, x in ((np, array), (gp, gp.array(array))):
                try:
                    made = getattr(module.fft, name)(x, *args)
                    # NumPy leaves results of no points at all as they are found in memory.
                    found = np.asarray(made).tolist() if name[0] != "h" and "irfft" not in name else None
                    answers.append((made.shape, made.dtype, found))
                except Exception as error:
                    answers.append((type(error), str(error)))
            assert answers[0] == answers[1], (shape, args)


@pytest.mark.parametrize(
    "call",
    [
        "fft(x, 0)",
        "fft(x, -3)",
        "rfft(x, 0)",
        "irfft(x[:, :1])",
        "fft(x, axis=2)",
        "fft(x, axis=-3)",
        "fft(x, norm='other')",
        "ifft(x, norm='other')",
        "fft(x, norm=3)",
        "fft(x, 2.5)",
        "fft(x, axis=0.5)",
        "rfft(x * 1j)",
        "fft2(x[0])",
        "fftn(x, axes=(0, 5))",
        "fftn(x, s=(2, 3, 4), axes=(0, 1))",
        "fft(x, out=xp.zeros((3, 3), complex))",
        "fft(x, out=xp.zeros(x.shape))",
        "fft('abc')",
        "fft(None)",
    ],
)
def test_what_numpy_refuses_is_refused_in_its_words(auto, call):
    said = []
    for xp, x in ((np, np.arange(8.0).reshape(2, 4)), (gp, gp.arange(8.0).reshape(2, 4))):
        with pytest.raises(Exception) as info:
            eval(f"xp.fft.{call}", {"xp": xp, "x": x})
        said.append((info.type, str(info.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ONE + SEVERAL)
def test_results_go_to_out(auto, name):
    array = numbers((4, 6), "D" if name in ("irfft", "hfft", "irfft2", "irfftn") else "d")
    wanted = getattr(np.fft, name)(array)
    if name in ("fft2", "fftn", "ifft2", "ifftn", "fft", "ifft", "rfft", "irfft", "ihfft"):
        for dtype in {wanted.dtype, np.result_type(wanted.dtype.type(0), np.float32).newbyteorder("=")}:
            out = gp.zeros(wanted.shape, dtype)
            made = getattr(gp.fft, name)(gp.array(array), out=out)
            near(np.asarray(made), wanted)
            theirs = np.zeros(wanted.shape, dtype)
            if getattr(np.fft, name)(array, out=theirs) is theirs:
                assert made is out
                near(np.asarray(out), wanted)
    single = np.zeros((4, 6), "F")
    ours = gp.array(single)
    assert gp.fft.fft(gp.array(array[:, :6]), n=6, out=ours) is ours
    np.fft.fft(array[:, :6], n=6, out=single)
    near(np.asarray(ours), single)


def test_results_may_go_to_the_operand(auto):
    array = numbers((5, 8), "D")
    ours = gp.array(array)
    assert gp.fft.fft(ours, out=ours) is ours
    near(np.asarray(ours), np.fft.fft(array))


@pytest.mark.parametrize("name", ONE + SEVERAL)
def test_no_transform_falls_back(forbidding, name):
    for dtype in "efdilFD" if "rfft" not in name.removeprefix("i") and name != "ihfft" else "efdil":
        array = numbers((4, 6), dtype)
        with gp.fallback("allow"):
            wanted = getattr(np.fft, name)(array)
        found = getattr(gp.fft, name)(gp.array(array) + gp.array(0, dtype))
        assert found.dtype == wanted.dtype
        near(np.asarray(found), wanted)


def test_what_the_driver_lacks_is_placed_and_not_counted_as_a_fallback():
    gp._gpupy.reconfigure("soft", strict=False)
    gp.reset_stats()
    x = gp.arange(4096.0, dtype=np.float32).reshape(64, 64) * np.float32(0.5)
    y = np.abs(gp.fft.fft(x)).sum()
    near(np.asarray(y), np.abs(np.fft.fft(np.asarray(x))).sum())
    assert not gp.stats().fallback_sites


def test_long_doubles_are_numpys(auto):
    array = np.arange(6, dtype=np.longdouble)
    found = gp.fft.fft(gp.array(array))
    assert found.dtype == np.fft.fft(array).dtype
    assert (np.asarray(found) == np.fft.fft(array)).all()


def test_lists_and_numpys_arrays_are_taken(auto):
    for given in ([1.0, 2, 4], [[1, 2], [3, 5j]], np.arange(7.0), 3 * np.ones((2, 2))):
        found = gp.fft.fft(given)
        assert type(found) is gp.ndarray
        near(np.asarray(found), np.fft.fft(given))


def test_a_transform_is_recorded_with_what_is_around_it(auto):
    x = numbers(20_000, "d").reshape(200, 100)
    ours = gp.array(x)
    power = np.abs(gp.fft.rfft(ours * 2 - 1, axis=0)) ** 2
    back = gp.fft.irfft(gp.fft.rfft(ours, axis=0) * 3, n=200, axis=0)
    near(np.asarray(power), np.abs(np.fft.rfft(x * 2 - 1, axis=0)) ** 2)
    near(np.asarray(back), x * 3)
    ours[0] = 7
    near(np.asarray(gp.fft.fft(ours)), np.fft.fft(np.asarray(ours)))


def test_a_loop_of_transforms_takes_its_plan_again(auto):
    x = numbers((50, 300), "D")
    ours = gp.array(x)
    for n in (300, 299, 300, 256, 300):
        ours, x = gp.fft.ifft(gp.fft.fft(ours, n) * 0.9, n), np.fft.ifft(np.fft.fft(x, n) * 0.9, n)
        near(np.asarray(ours), x)


def test_a_function_with_transforms_is_traced(auto):
    @gp.jit
    def filtered(x, keep):
        spectrum = gp.fft.rfft(x)
        spectrum = spectrum * keep
        return gp.fft.irfft(spectrum, x.shape[-1])

    for n, seed in itertools.product((64, 30, 64), range(3)):
        x = numbers((3, n), "d", seed)
        keep = (np.arange(n // 2 + 1) < 9).astype(float)
        near(np.asarray(filtered(gp.array(x), gp.array(keep))), np.fft.irfft(np.fft.rfft(x) * keep, n))


def exact(x):
    """Transforms of rows in long doubles, by their definition."""
    places = np.arange(x.shape[-1])
    turns = 2 * np.longdouble("3.14159265358979323846264338327950288") / len(places)
    roots = np.cos(turns * places) - 1j * np.sin(turns * places)
    return x.astype(np.clongdouble) @ roots[np.outer(places, places) % len(places)]


def size(x):
    """The root of the mean square."""
    return float(np.sqrt((np.abs(x) ** 2).mean()))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long doubles are no wider here")
@pytest.mark.parametrize("dtype", "fdFD")
def test_errors_are_hardly_larger_than_numpys(dtype):
    gp._gpupy.reconfigure("cpu", strict=False)
    primes = (11, 13, 19, 23, 29, 37, 41, 53, 61, 73, 97, 101, 127, 149, 211, 257, 389, 521)
    for n in sorted({*LENGTHS[1:], *primes, 6, 45, 49, 60, 121, 384, 625, 729}):
        x = numbers((max(12, 3000 // n), n), dtype, n)
        wanted = exact(x)
        names = {"fft": wanted}
        if dtype in "fd":
            names["rfft"] = wanted[:, : n // 2 + 1]
        for name, spectrum in names.items():
            theirs = size(getattr(np.fft, name)(x) - spectrum)
            ours = size(np.asarray(getattr(gp.fft, name)(gp.array(x))) - spectrum)
            # Half a unit in the last place is what rounding the results alone leaves, at most.
            least = 0.3 * np.finfo(dtype).eps * size(spectrum)
            assert ours <= 1.5 * max(theirs, least), (name, n, ours / theirs)
        if dtype in "FD":
            spectrum = numbers((20, n // 2 + 1), dtype, n)
            full = np.zeros((20, n), spectrum.dtype)
            full[:, : n // 2 + 1] = spectrum
            full[:, 0] = full[:, 0].real
            full[:, n // 2] = full[:, n // 2].real if n % 2 == 0 else full[:, n // 2]
            full[:, n - (n - 1) // 2 :] = full[:, 1 : (n - 1) // 2 + 1][:, ::-1].conj()
            wanted = exact(full.conj()).real / n
            theirs = size(np.fft.irfft(spectrum, n) - wanted)
            ours = size(np.asarray(gp.fft.irfft(gp.array(spectrum), n)) - wanted)
            assert ours <= 1.5 * max(theirs, 0.3 * np.finfo(dtype).eps * size(wanted)), ("irfft", n)


def test_bits_do_not_depend_on_the_number_of_threads():
    gp._gpupy.reconfigure("cpu", strict=False)
    x, long = gp.array(numbers((400, 512), "D")), gp.array(numbers(1 << 17, "D"))
    threads, found = gp._gpupy.threads(), []
    try:
        for count in (1, 2, 3):
            gp._gpupy.set_threads(count)
            both = [gp.fft.fft(x), gp.fft.fft(x, axis=0), gp.fft.fft(long), gp.fft.rfft(long.real)]
            found.append([np.asarray(each).tobytes() for each in both])
    finally:
        gp._gpupy.set_threads(threads)
    assert found[0] == found[1] == found[2]
