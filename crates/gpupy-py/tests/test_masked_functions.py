"""Masked arrays given to functions of gpupy: mask and class go along as with NumPy's, which is the oracle.

Not here: operations of ``gpupy.ma`` and of masked arrays themselves (``test_masked.py``), other libraries
(``libraries/test_masked_arrays.py``).
"""

import importlib.util
import pathlib

import numpy as np
import pytest

import gpupy as gp

_COVERAGE = pathlib.Path(__file__).resolve().parents[1] / "coverage" / "calls.py"
_spec = importlib.util.spec_from_file_location("calls_for_masks", _COVERAGE)
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def masked(xp, values, every=3):
    """Values of which each third is masked."""
    return xp.ma.array(values, mask=xp.asarray(np.arange(values.size).reshape(values.shape) % every == 1))


def shown(value):
    """A result in comparable form: its class, dtype and mask, and its unmasked elements."""
    if isinstance(value, (tuple, list)):
        return [shown(each) for each in value]
    if type(value).__name__ == "MaskedConstant":
        return "masked"
    if isinstance(value, (np.ma.MaskedArray, gp.ma.MaskedArray)):
        mask = np.ma.getmaskarray(np.ma.array(np.zeros(value.shape), mask=np.asarray(value.mask)))
        data = np.asarray(value.data)
        return (
            "masked array",
            str(data.dtype),
            mask.tolist(),
            shown_of(np.where(mask, data.dtype.type(), data)),
        )
    if isinstance(value, (np.ndarray, gp.ndarray)):
        return "array", str(value.dtype), shown_of(np.asarray(value))
    if hasattr(value, "dtype") and not isinstance(value, np.dtype):
        return shown_of(np.asarray(value))
    return repr(value) if isinstance(value, (int, float, complex, str)) else type(value).__name__


def shown_of(values):
    if values.dtype.kind == "c":
        return [shown_of(part) for part in (values.real, values.imag)]
    if values.dtype == np.float64:
        # Sums that cancel leave other last bits.
        values = np.round(values, 12) + 0.0
    return np.char.mod("%.5g", values).tolist() if values.dtype.kind in "iuf" else repr(values.tolist())


def of_both(call, names):
    """The results of a line with NumPy's arrays and with ours; the class of an error."""
    found = []
    for xp in (np, gp):
        try:
            with np.errstate(all="ignore"):
                found.append(shown(eval(call, names(xp))))
        except Exception as error:
            found.append(type(error).__name__)
    return found


# Functions that make no array of their arguments, give uninitialised elements, or write to a file.
_LEFT_OUT = {
    *("info load loadtxt genfromtxt fromfile fromregex save savetxt savez asmatrix bmat".split()),
    *("empty empty_like".split()),
    # NumPy's looks below the mask.
    "ptp",
}


@pytest.mark.parametrize("module", ["numpy", "numpy.linalg", "numpy.fft"])
@pytest.mark.filterwarnings("ignore")
def test_a_function_gives_of_masked_arrays_what_numpys_gives(driver, module):
    def names(xp):
        given = calls.arrays(xp, 6)
        return given | {key: masked(xp, x) for key, x in given.items() if isinstance(x, xp.ndarray)}

    wrong, count = [], 0
    for name, call in calls.calls(module).items():
        if not call or name in _LEFT_OUT or ";" in call or "tempfile" in call or "io." in call:
            continue
        theirs, ours = of_both(call, names)
        count += 1
        if theirs != ours:
            wrong.append((call, theirs, ours))
    assert not wrong
    assert count > 10


@pytest.mark.parametrize(
    "line",
    [
        "np.flip(m)", "np.flip(m, 0)", "np.flipud(m)", "np.fliplr(m)", "np.rot90(m)", "np.moveaxis(m, 0, 1)",
        "np.rollaxis(m, 1)", "np.matrix_transpose(m)", "np.linalg.matrix_transpose(m)",
        "np.permute_dims(m, (1, 0))", "np.transpose(m, axes=(1, 0))", "np.swapaxes(m, 0, 1)",
        "np.split(m, 2)", "np.array_split(m, 3, axis=1)", "np.hsplit(m, 3)", "np.vsplit(m, 2)",
        "np.dsplit(m[..., None], [1])", "np.unstack(m)", "np.expand_dims(m, 0)", "np.add.outer(m[0], m[0])",
        "np.multiply.outer(m, m[0])", "np.subtract.outer(m[0], [1.0, 2.0])", "np.amin(m, axis=1)",
        "np.amax(m)", "np.nanmin(m)", "np.nanmax(m, axis=0)", "np.count_nonzero(m, axis=0)",
        "np.count_nonzero(m, keepdims=True)", "np.count_nonzero(m)", "np.exp([m, m])", "np.add([m], 1)",
        "np.sqrt((m, m))", "np.maximum([m], 2)", "m.clip(None)", "np.clip(m, None, 3)", "np.clip(m, 1, 3)",
        "m.reshape(None)", "h.mean(axis=0)", "h.mean(axis=0, keepdims=True)", "np.ma.average(h, axis=0)",
        "np.ma.sqrt(h > 2).mean(axis=0)", "np.ma.sqrt(h.astype(np.uint8)).mean(axis=1)",
        "m.item(1)", "m.item(0, 1)", "m[0].item(-2)", "np.ma.masked in m", "2.0 in m", "17.0 in m",
        "np.argwhere(m)", "np.argwhere(m[0, 0:1].reshape(()))", "np.ma.sort(m[0, 0:1].reshape(()))",
        "np.take_along_axis(m, np.asarray([[0], [2]]), 1)",
    ],
)  # fmt: skip
def test_the_mask_goes_where_the_elements_go(driver, line):
    def names(xp):
        m = masked(xp, xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        return {"np": xp, "m": m, "h": m.astype(xp.float16)}

    theirs, ours = of_both(line, names)
    assert theirs == ours


@pytest.mark.parametrize("make", ["RandomState(3)", "default_rng(3)"])
@pytest.mark.parametrize("shape", [(7,), (4, 3)])
def test_a_shuffle_moves_elements_and_mask(driver, make, shape):
    found = []
    for xp in (np, gp):
        m = masked(xp, xp.arange(np.prod(shape) * 1.0).reshape(shape))
        before, mask = m[:], m.mask
        eval(f"xp.random.{make}", {"xp": xp}).shuffle(m)
        found.append((shown(m), shown(before), np.asarray(mask).tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("mode", ["raise", "warn", "ignore"])
def test_operations_mask_what_has_no_value_and_say_nothing_of_it(driver, mode, recwarn):
    lines = [
        "x / 0",
        "1 / (x - 1)",
        "x // 0",
        "np.ma.mod(x, 0)",
        "np.ma.log(-x)",
        "np.ma.sqrt(x - 2)",
        "np.ma.arccos(x)",
    ]
    for line in lines:
        found = []
        for xp in (np, gp):
            with xp.errstate(all=mode):
                found.append(shown(eval(line, {"np": xp, "x": xp.ma.array([1.0, 2.0, 3.0])})))
        assert found[0] == found[1], line
    assert not recwarn.list


def test_printing_and_products_of_instances_are_no_fallbacks(auto):
    class Own(gp.ndarray):
        pass

    m = masked(gp, gp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    v = gp.arange(1.0, 4.0).view(Own)
    theirs = masked(np, np.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    gp.reset_stats()
    assert (str(m), repr(m), m.tolist()) == (str(theirs), repr(theirs), theirs.tolist())
    for line in (
        "np.dot(v, v)", "np.inner(v, v)", "np.vdot(v, v)", "np.outer(v, v)", "np.tensordot(v, v, 1)",
        "np.trace(v[None])", "np.linalg.norm(v)", "np.einsum('i,i->', v, v)", "np.ma.cov(m)",
        "np.less(v, 2, dtype=bool)",
    ):  # fmt: skip
        eval(line, {"np": gp, "v": v, "m": m})
    assert gp.stats()["fallbacks"] == 0
    wide = gp.ones((2, 3)).view(Own)
    assert type(gp.dot(wide, wide.T)) is type(gp.inner(wide, wide)) is Own
    assert type(gp.dot(gp.ones((3, 2)), wide)) is type(gp.outer(v, v)) is gp.ndarray
    np.ma.masked_print_option.set_display("n/a")
    try:
        assert "n/a" in str(m)
    finally:
        np.ma.masked_print_option.set_display("--")


def test_functions_of_kernel_give_the_classes_that_ufuncs_give(auto):
    @gp.kernel
    def both(a, b):
        return a * b + 1, a - b

    class Own(gp.ndarray):
        def __array_finalize__(self, obj):
            self.word = getattr(obj, "word", None)

    m = masked(gp, gp.asarray([1.0, 2.0, 3.0]))
    for made, wanted in zip(both(m, 2), (m * 2 + 1, m - 2), strict=True):
        assert type(made) is gp.ma.MaskedArray and shown(made) == shown(wanted)
    other = gp.ma.array([1.0, 2.0, 3.0], mask=[True, False, False])
    assert shown(both(m, other)[0]) == shown(m * other + 1)
    own = gp.arange(3.0).view(Own)
    own.word = "kept"
    for made in both(own, 2):
        assert type(made) is Own and made.word == "kept"
    assert type(both(gp.arange(3.0), 2)[0]) is gp.ndarray


def test_masked_is_to_a_plain_array_what_it_is_in_numpy(auto, recwarn):
    for dtype in ("f4", "i4", "?"):
        found = []
        for xp in (np, gp):
            a = xp.ones(3, dtype=dtype)
            a[1:] = xp.ma.masked
            found.append(np.asarray(a).tolist())
        assert found[0] == found[1]
    assert not recwarn.list
    flags = [xp.ones(3, dtype=bool) for xp in (np, gp)]
    for xp, a in zip((np, gp), flags, strict=True):
        a[1] = xp.ma.masked
    np.testing.assert_array_equal(np.asarray(flags[1]), flags[0])
