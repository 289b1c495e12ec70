"""Every function of the namespace gives arrays that lie in memory as NumPy's do, whatever operands it takes.

Their strides decide which reshapes of them are views.
"""

import functools
import warnings

import numpy
import pytest

import gpupy


def given():
    return numpy.arange(1.0, 65.0).reshape(4, 4, 4)


OPERANDS = {
    "C order": lambda xp, a: a,
    "F order": lambda xp, a: a.T,
    "axes 1 2 0": lambda xp, a: a.transpose(1, 2, 0),
    "axes 0 2 1": lambda xp, a: a.transpose(0, 2, 1),
    "with steps": lambda xp, a: a[::2, 1:, ::3],
    "backwards": lambda xp, a: a[::-1, :, ::-1],
    "F order, backwards": lambda xp, a: a.T[::-1],
    "broadcast": lambda xp, a: xp.broadcast_to(a[0, 0], (3, 2, 4)),
    "one row": lambda xp, a: a[:1],
    "one column": lambda xp, a: a[:, :, :1],
    "nothing": lambda xp, a: a[:0],
    "two axes": lambda xp, a: a[0],
    "two axes in F order": lambda xp, a: a[0].T,
    "two axes with steps": lambda xp, a: a[:, 1, ::2],
    "two axes in F order, backwards": lambda xp, a: a[1, ::-1].T,
    "two axes, broadcast": lambda xp, a: xp.broadcast_to(a[0, :, :1], (4, 4)),
    "one axis": lambda xp, a: a[0, 0],
    "one axis with steps": lambda xp, a: a[:, 0, 0],
    "one axis backwards": lambda xp, a: a[0, 0, ::-1],
}

OF_UFUNCS = {
    "a": lambda f, a, xp: f(a),
    "a a": lambda f, a, xp: f(a, a),
    "a and a copy": lambda f, a, xp: f(a, xp.array(a)),
    "a and a turned": lambda f, a, xp: f(a, a.T),
    "a part and a": lambda f, a, xp: f(a[..., :1], a),
    "a and a number": lambda f, a, xp: f(a, 1),
    "bools": lambda f, a, xp: f(a > 5),
    "ints": lambda f, a, xp: f(a.astype(int)),
    "complex": lambda f, a, xp: f(a * 1j),
}
OF_FUNCTIONS = OF_UFUNCS | {
    "axis 0": lambda f, a, xp: f(a, axis=0),
    "axis 1": lambda f, a, xp: f(a, axis=1),
    "axis -1": lambda f, a, xp: f(a, axis=-1),
    "axis 0 kept": lambda f, a, xp: f(a, axis=0, keepdims=True),
    "no axis": lambda f, a, xp: f(a, axis=None),
    "two axes": lambda f, a, xp: f(a, axes=(0, 1)),
    "a list": lambda f, a, xp: f([a, a]),
    "a list along the last axis": lambda f, a, xp: f([a, a], axis=-1),
    "numbers": lambda f, a, xp: f(a, 2),
    "a negative number": lambda f, a, xp: f(a, -1),
    "k": lambda f, a, xp: f(a, k=1),
    "indices": lambda f, a, xp: f(a, [0, 2, 1]),
    "indices along 1": lambda f, a, xp: f(a, [0, 2, 1], axis=1),
    "many indices": lambda f, a, xp: f(a, [[0, 1]], axis=0),
    "indices for each": lambda f, a, xp: f(a, xp.argsort(a, axis=0), axis=0),
    "a mask": lambda f, a, xp: f(a > 5, a),
    "a choice": lambda f, a, xp: f(a > 5, a, -a),
    "axes 0 1": lambda f, a, xp: f(a, 0, 1),
    "axes (0, 1)": lambda f, a, xp: f(a, (0, 1)),
    "order C": lambda f, a, xp: f(a, order="C"),
    "order F": lambda f, a, xp: f(a, order="F"),
    "order A": lambda f, a, xp: f(a, order="A"),
    "order K": lambda f, a, xp: f(a, order="K"),
    "a dtype": lambda f, a, xp: f(a, "f4"),
    "its own dtype": lambda f, a, xp: f(a, "f8"),
    "a dtype by name": lambda f, a, xp: f(a, dtype="f4"),
    "a dtype in F order": lambda f, a, xp: f(a, dtype="f4", order="F"),
    "a shape": lambda f, a, xp: f(a, (-1, 2)),
    "a shape in F order": lambda f, a, xp: f(a, (2, -1), order="F"),
    "a larger shape": lambda f, a, xp: f(a, (4, 4, 4)),
    "a still larger shape": lambda f, a, xp: f(a, (2, 4, 4, 4)),
    "limits": lambda f, a, xp: f(a, 2.5, 9),
    "a a and an axis": lambda f, a, xp: f(a, a, 1),
    "a a and axes": lambda f, a, xp: f(a, a, axes=1),
    "...ij->...ji": lambda f, a, xp: f("...ij->...ji", a),
    "ij,jk->ik": lambda f, a, xp: f("ij,jk->ik", a, a),
    "ij,jk->ki": lambda f, a, xp: f("ij,jk->ki", a, a),
    "ij,jk->ki, optimized": lambda f, a, xp: f("ij,jk->ki", a, a, optimize=True),
    "ij,ij->ij": lambda f, a, xp: f("ij,ij->ij", a, a),
    "ij,ji->ji": lambda f, a, xp: f("ij,ji->ji", a, a),
    "aij,ajk->aik": lambda f, a, xp: f("aij,ajk->aik", a, a),
    "aij,akj->kai": lambda f, a, xp: f("aij,akj->kai", a, a),
    "aij,ajk->ik": lambda f, a, xp: f("aij,ajk", a, a),
    "ijk,klm->ijlm": lambda f, a, xp: f("ijk,klm->ijlm", a, a),
    "i,j->ji": lambda f, a, xp: f("i,j->ji", a, a),
    "ijk->ki": lambda f, a, xp: f("ijk->ki", a),
    "ii->i": lambda f, a, xp: f("ii->i", a),
}
INDICES = numpy.array([0, 2, 1])
KEYS = {
    "indices": (INDICES,),
    "two axes of indices": (numpy.array([[0, 1], [2, 3], [1, 2]]),),
    "behind a slice": (slice(None), INDICES),
    "behind a slice backwards": (slice(None, None, -1), INDICES),
    "two axes of indices in F order behind a slice": (
        slice(None),
        numpy.asfortranarray([[0, 1], [2, 1], [0, 0]]),
    ),
    "behind all": (..., INDICES),
    "twice": (INDICES, INDICES),
    "twice, behind a slice": (slice(None), INDICES, INDICES),
    "on both sides of a slice": (INDICES, slice(None), INDICES),
    "with a number": (slice(None), INDICES, 0),
    "a number, a slice, indices": (0, slice(None), INDICES),
    "a new axis": (None, INDICES),
    "a mask of one axis": (numpy.array([True, False, True, True]),),
    "a mask behind a slice": (slice(None), numpy.array([True, False, True, True])),
    "indices alone": INDICES,
    "two axes of indices alone": numpy.array([[0, 1], [1, 0]]),
    "a mask alone": numpy.array([True, False, True, True]),
    "a mask of two axes alone": numpy.eye(4) > 0,
}

# Differences, with reasons; where one of these is gone, the test fails until its line is removed.
NUMPYS_VIEWS = "a view that NumPy makes of a small one with steps is a copy, which is packed"
CAST_FIRST = "an operand that is broadcast and cast to bools is cast as a whole first"
EXPECTED = {
    "logical_and": CAST_FIRST,
    "logical_or": CAST_FIRST,
    "logical_xor": CAST_FIRST,
    "einsum": NUMPYS_VIEWS,
    "lib.stride_tricks.as_strided": NUMPYS_VIEWS,
    "histogramdd": NUMPYS_VIEWS,
    "indices": "NumPy looks at the dtype of nothing only where there is something",
}
# Functions that give uninitialised elements, write to operands or to files, or read files.
SKIPPED = set(
    (
        "asmatrix bmat "
        "empty empty_like put copyto place putmask fill_diagonal put_along_axis set_printoptions "
        "seterr seterrcall setbufsize save savez savetxt savez_compressed info show_config "
        "show_runtime einsum_path fromfile load loadtxt genfromtxt fromregex frombuffer "
        "nested_iters from_dlpack may_share_memory shares_memory size ndim shape broadcast_shapes "
        "test get_printoptions geterr geterrcall getbufsize array_repr array_str array2string "
        "base_repr binary_repr typename mintypecode isdtype issubdtype iterable "
    ).split()
)


def functions():
    """The names of functions, as they are found in either module."""
    found = []
    for prefix in ("", "linalg.", "fft.", "lib.stride_tricks."):
        module = functools.reduce(getattr, prefix.split(".")[:-1], numpy)
        names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
        for name in sorted(names):
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type) and name not in SKIPPED:
                found.append(prefix + name)
    return found


def facts(result, operand, xp):
    """All that decides about views of a result."""
    if isinstance(result, (tuple, list)):
        return [facts(each, operand, xp) for each in result]
    if not isinstance(result, (numpy.ndarray, gpupy.ndarray)):
        return "no array"
    if not result.size:
        return result.shape
    strides = [s for s, n in zip(result.strides, result.shape, strict=True) if n > 1]
    parts = [result.reshape(-1), result.reshape(-1, order="F")] + [result.ravel(order) for order in "CFKA"]
    shared = [bool(xp.may_share_memory(result, part)) for part in parts]
    flags = result.flags
    with_operand = bool(xp.may_share_memory(result, operand))
    return (
        result.shape,
        str(result.dtype),
        strides,
        with_operand,
        shared,
        flags.c_contiguous,
        flags.f_contiguous,
    )


def compared(call, name):
    """The differences of a call between NumPy and gpupy, over all operands that NumPy takes."""
    differ = {}
    for operand, make in OPERANDS.items():
        theirs = make(numpy, given())
        try:
            want = facts(call(functools.reduce(getattr, name, numpy), theirs, numpy), theirs, numpy)
        except Exception:
            continue
        ours = make(gpupy, gpupy.array(given()))
        try:
            found = facts(call(functools.reduce(getattr, name, gpupy), ours, gpupy), ours, gpupy)
        except Exception as error:
            found = error
        if found != want:
            differ[operand] = (found, want)
    return differ


@pytest.fixture(autouse=True)
def quiet():
    gpupy._gpupy.reconfigure("cpu")
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", functions())
def test_results_of_functions_lie_as_numpys(name):
    path = name.split(".")
    is_ufunc = isinstance(functools.reduce(getattr, path, numpy), numpy.ufunc)
    differ = {}
    for words, call in (OF_UFUNCS if is_ufunc else OF_FUNCTIONS).items():
        differ |= {f"{words}, {operand}": pair for operand, pair in compared(call, path).items()}
    if name in EXPECTED:
        assert differ, "this is as NumPy's by now"
    else:
        assert not differ


@pytest.mark.parametrize("strict", [False, True], ids=["at once", "recorded"])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
def test_what_needs_no_operation_lies_as_numpys(dtype, strict):
    gpupy._gpupy.reconfigure("cpu", strict=strict)

    def results(xp):
        x = xp.asarray(numpy.arange(24).reshape(2, 3, 4).astype(dtype)).transpose(1, 2, 0)
        for power in (0, 1, 2, 3):
            yield x**power
        yield from (+x, xp.isfinite(x), xp.trunc(x), x < 10**30, xp.positive(x[:, ::-1]))
        # An axis along which one element lies.
        for view in (x, xp.broadcast_to(x[0], x.shape), xp.broadcast_to(x[:, :1], x.shape)):
            yield from (view.round(), xp.round(view, 1), +view, xp.rint(view), view.copy("K"))
            yield from (xp.ldexp(view, xp.arange(2)), xp.modf(view)[0])
        # A choice begins as an array in C order.
        yield from (xp.select([x > 2, x > 1], [x, x * x], 7), xp.select([x > 2], [x]))
        numbers = xp.asarray(numpy.arange(24).reshape(2, 3, 4) % 2).transpose(1, 2, 0)
        yield from (xp.choose(numbers, [x, x + 1]), numbers.choose([numbers, numbers]))

    for number, (got, want) in enumerate(zip(results(gpupy), results(numpy), strict=True)):
        assert got.strides == want.strides, number
        numpy.testing.assert_array_equal(numpy.asarray(got), want)


def arrays_of(xp, key):
    """A key with arrays of a module in the place of lists and of NumPy's arrays."""
    if isinstance(key, tuple):
        return tuple(arrays_of(xp, part) for part in key)
    return xp.array(key) if isinstance(key, (list, numpy.ndarray)) else key


@pytest.mark.parametrize("strict", [False, True], ids=["at once", "recorded"])
@pytest.mark.parametrize("kind", ["as it is", "lists", "arrays of the module"])
@pytest.mark.parametrize("key", KEYS)
def test_what_index_arrays_pick_lies_as_numpys(key, kind, strict):
    gpupy._gpupy.reconfigure("cpu", strict=strict)
    given = KEYS[key]
    if kind == "lists" and isinstance(given, numpy.ndarray):
        given = given.tolist()
    made = arrays_of if kind == "arrays of the module" else lambda xp, key: key
    found = compared(lambda module, a, xp: a[made(xp, given)], [])
    assert not found


@pytest.mark.parametrize("strict", [False, True], ids=["at once", "recorded"])
def test_elements_come_in_the_same_order_whatever_is_asked_for(strict):
    gpupy._gpupy.reconfigure("cpu", strict=strict)
    for name, make in OPERANDS.items():
        theirs, ours = make(numpy, given()), make(gpupy, gpupy.array(given()))
        for order in "CFAK":
            for ask in (
                lambda a, xp: a.ravel(order),
                lambda a, xp: a.flatten(order),
                lambda a, xp: xp.ravel(a, order),
                lambda a, xp: a.copy(order),
                lambda a, xp: a.astype("f4", order=order),
                lambda a, xp: a.astype("f8", order=order),
                lambda a, xp: xp.array(a, order=order),
            ):
                want, found = ask(theirs, numpy), ask(ours, gpupy)
                numpy.testing.assert_array_equal(numpy.asarray(found), want, name)
        for key in KEYS.values():
            if theirs.ndim == 3 and min(theirs.shape) > 3:
                numpy.testing.assert_array_equal(numpy.asarray(ours[key]), theirs[key], name)


@pytest.mark.parametrize("order", ["C", "F", "A", "K", None])
@pytest.mark.parametrize("operand", OPERANDS)
def test_without_a_copy_there_is_the_same_memory_or_numpys_refusal(operand, order):
    outcomes = []
    for xp in (numpy, gpupy):
        a = OPERANDS[operand](xp, xp.array(given()))
        for dtype in (None, "f8", "f4"):
            for make in (xp.array, xp.asarray, xp.asanyarray):
                try:
                    outcomes.append(bool(xp.may_share_memory(make(a, dtype, copy=False, order=order), a)))
                except ValueError as error:
                    outcomes.append(str(error))
    assert outcomes[len(outcomes) // 2 :] == outcomes[: len(outcomes) // 2]


def test_arrays_of_numpys_keep_their_gaps_and_what_lies_at_one_place():
    for make in (
        lambda xp: xp.lib.stride_tricks.sliding_window_view([0.0, 1, 2], 2),
        lambda xp: xp.linalg.eigvals(xp.array([[2.0, 1], [1, 3]])),
        lambda xp: xp.histogramdd(xp.ones((4, 2)))[0],
    ):
        assert make(gpupy).strides == make(numpy).strides
    window = gpupy.lib.stride_tricks.sliding_window_view([0.0, 1, 2], 2)
    assert window.tolist() == [[0, 1], [1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        window[0, 0] = 5


@pytest.mark.parametrize("order", list("KACF"))
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[:, ::2],
        lambda a: a[0, ::2],
        lambda a: a[::-1],
        lambda a: a[:1, :1],
    ],
    ids=["whole", "turned", "columns", "row", "backwards", "one"],
)
def test_a_cast_to_its_own_dtype_that_need_not_copy_copies_where_numpys_does(view, order):
    def cast(xp):
        base = xp.asarray(numpy.zeros((4, 6), dtype="f4"))
        made = view(base).astype("f4", order=order, copy=False)
        return xp.shares_memory(made, base), made.strides

    assert cast(gpupy) == cast(numpy)
