"""Subclasses of ``gpupy.ndarray``: results are of the class that NumPy gives them, and as lazy as others.

The oracle is NumPy: each class is made twice, by one function, of NumPy's ``ndarray`` and of ours.
"""

import copy
import importlib.util
import pathlib
import pickle
import sys

import numpy as np
import pytest

import gpupy as gp

_COVERAGE = pathlib.Path(__file__).resolve().parents[1] / "coverage" / "calls.py"
_spec = importlib.util.spec_from_file_location("calls_of_numpys", _COVERAGE)
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def named(xp):
    """A class whose arrays keep a word through views and copies, as NumPy's page on subclasses has it."""

    class Named(xp.ndarray):
        def __new__(cls, data, word=None):
            made = xp.asarray(data).view(cls)
            made.word = word
            return made

        def __array_finalize__(self, obj):
            self.word = getattr(obj, "word", None)

    return Named


class Kept(gp.ndarray):
    """One that pickles find."""

    def __array_finalize__(self, obj):
        self.word = getattr(obj, "word", None)

    def __reduce__(self):
        made, args, state = super().__reduce__()
        return made, args, (*state, self.word)

    def __setstate__(self, state):
        *state, self.word = state
        super().__setstate__(tuple(state))


def kind(value):
    """The name of a result's class, and of the classes inside it."""
    if isinstance(value, (tuple, list)):
        return [kind(each) for each in value]
    if isinstance(value, (np.ndarray, gp.ndarray)):
        return type(value).__name__
    return "number" if isinstance(value, (np.generic, gp.scalar, int, float, complex, bool)) else "other"


# Functions without an array of ours, that give other objects, or write to a file.
_LEFT_OUT = {
    "info",
    "load",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "fromregex",
    "save",
    "savetxt",
    "savez",
    "asmatrix",
    "bmat",
}


@pytest.mark.parametrize("module", ["numpy", "numpy.linalg", "numpy.fft"])
def test_a_function_gives_the_class_that_numpys_gives(driver, module):
    wrong = []
    for name, call in calls.calls(module).items():
        if not call or name in _LEFT_OUT or ";" in call or "tempfile" in call or "io." in call:
            continue
        found = []
        for xp in (np, gp):
            own, names = named(xp), calls.arrays(xp, 6)
            names |= {key: own(value) for key, value in names.items() if isinstance(value, xp.ndarray)}
            with np.errstate(all="ignore"):
                try:
                    found.append(kind(eval(call, names)))
                except Exception as error:
                    found.append(type(error).__name__)
        if found[0] != found[1]:
            wrong.append((call, *found))
    assert not wrong


@pytest.mark.parametrize(
    "line",
    [
        "a + 1", "1 - a", "a * a", "a + plain", "plain + a", "-a", "abs(a)", "a > 2", "a == a", "a ** 2",
        "a @ a", "divmod(a, 2)", "np.sqrt(a)", "np.add(a, 1, dtype=np.float64)",
        "np.add(a, 1, subok=False)", "np.add.reduce(a)", "np.add.accumulate(a)", "np.add.outer(a, a)",
        "np.modf(a)", "a[1:]", "a[1]", "a[[0, 1]]", "a[a > 2]", "a[None]", "a[...]", "a.T",
        "a.reshape(2, 3)", "a.ravel()", "a.flatten()", "a.astype(np.float32)",
        "a.astype(np.float32, subok=False)", "a.copy()", "a.sum()", "a.mean()", "a.max()", "a.argmax()",
        "a.std()", "a.cumsum()", "a.any()", "a.take([1, 2])", "a.repeat(2)", "a.clip(1, 3)", "a.round()",
        "a.nonzero()", "a.argsort()", "a.reshape(2, 3).sum(0)", "a.reshape(2, 3).argmax(0)",
        "a.reshape(2, 3).mean(0, keepdims=True)", "a.view(np.ndarray)", "a.view()", "a.view(np.int64)",
        "np.asarray(a)", "np.asanyarray(a)", "np.array(a)", "np.array(a, subok=True)", "np.zeros_like(a)",
        "np.zeros_like(a, subok=False)", "np.full_like(a, 2)", "np.copy(a)", "np.copy(a, subok=True)",
        "a.real", "a.imag", "a.flat[1:]", "a.squeeze()", "a.swapaxes(0, 0)",
        "a.diagonal() if a.ndim > 1 else a", "np.broadcast_to(a, (2, 6))",
        "np.broadcast_to(a, (2, 6), subok=True)", "list(a.reshape(2, 3))", "np.where(a > 2, a, 0)",
        "copy.copy(a)", "copy.deepcopy(a)",
    ],
)  # fmt: skip
def test_an_expression_gives_numpys_class_and_values_and_keeps_attributes(driver, line):
    found = []
    for xp in (np, gp):
        own = named(xp)
        names = {"np": xp, "copy": copy, "a": own(xp.arange(1.0, 7.0), "word"), "plain": xp.arange(6.0)}
        found.append(eval(line, names))
    theirs, ours = found
    assert kind(ours) == kind(theirs)
    parts = zip(ours, theirs, strict=True) if isinstance(theirs, (list, tuple)) else [(ours, theirs)]
    for own, other in parts:
        np.testing.assert_allclose(np.asarray(own), np.asarray(other), rtol=1e-6)
        assert getattr(own, "word", None) == getattr(other, "word", None)


def test_an_instance_is_finalised_with_what_it_comes_from(driver):
    def seen(xp):
        found = []

        class Told(xp.ndarray):
            def __array_finalize__(self, obj):
                found.append(None if obj is None else type(obj).__name__)

        Told((2,))
        xp.arange(3).view(Told)[1:]
        return found

    assert seen(gp) == seen(np) == [None, "ndarray", "Told"]


def test_bases_are_those_that_numpy_keeps(driver):
    for xp in (np, gp):
        own = named(xp)
        whole = xp.arange(6.0)
        a = whole.view(own)
        assert a.base is whole and a[1:].base is a and a[1:][1:].base is a
        assert a.view(xp.ndarray).base is whole
        alone = xp.ndarray.__new__(own, (3,))
        assert alone.base is None and alone[1:].base is alone
        a[0] = 7
        assert whole[0] == 7


def test_operations_on_instances_are_one_launch(driver):
    own = named(gp)
    x = np.linspace(0, 1, 5000, dtype=np.float32)
    a = own(gp.asarray(x), "word")
    gp.evaluate(a)
    gp.reset_stats()
    b = (a * 2 + 1)[10:] - a[:-10]
    b += 1
    assert gp.stats()["launches"] == 0 and gp.stats()["fallbacks"] == 0
    assert type(b) is own and b.word == "word"
    total = b.sum()
    wanted = (x * 2 + 1)[10:] - x[:-10] + 1
    np.testing.assert_allclose(b, wanted, rtol=1e-6)
    assert type(total) is own and float(total) == pytest.approx(wanted.sum(dtype=float), rel=1e-5)
    assert gp.stats()["fallbacks"] == 0


def test_array_wrap_says_what_results_are_and_gets_numpys_context(driver):
    def seen(xp):
        found = []

        class Wrapping(xp.ndarray):
            __array_priority__ = 5

            def __array_wrap__(self, array, context=None, return_scalar=False):
                told = None if context is None else (context[0].__name__, len(context[1]), context[2])
                found.append((told, return_scalar, array.shape))
                return "wrapped"

        a = xp.arange(4.0).view(Wrapping)
        assert a + 1 == np.sqrt(a) == a.sum() == xp.add.reduce(a) == "wrapped"
        assert xp.multiply(named(xp)(xp.ones(4)), a) == "wrapped"
        out = xp.zeros(4)
        assert xp.add(a, 1, out=out) is out
        assert xp.add(xp.ones(4), 1, out=a) == "wrapped"
        return found

    assert seen(gp) == seen(np)


def test_priority_chooses_between_classes(driver):
    def names(xp):
        high = type("High", (xp.ndarray,), {"__array_priority__": 3.0})
        low = type("Low", (xp.ndarray,), {"__array_priority__": 2.0})
        a, b, c = xp.ones(3).view(high), xp.ones(3).view(low), xp.ones(3)
        made = [b + a, a + b, c + b, xp.concatenate([c, b]), xp.concatenate([b, a]), xp.dot(c, b) + c]
        made += [xp.concatenate([named(xp)(c), c]), xp.stack([c, a]), xp.dot(xp.ones((3, 3)).view(low), c)]
        return [kind(each) for each in made]

    assert names(gp) == names(np)


def test_array_ufunc_of_a_class_is_asked_and_may_ask_ours(driver):
    def seen(xp):
        found = []

        class Counting(xp.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
                found.append((ufunc.__name__, method, len(inputs), out is None, sorted(kwargs)))
                plain = [x.view(xp.ndarray) if isinstance(x, Counting) else x for x in inputs]
                if out is not None:
                    kwargs["out"] = tuple(x.view(xp.ndarray) if isinstance(x, Counting) else x for x in out)
                made = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
                return made if out is None else out[0]

        a = xp.arange(4.0).view(Counting)
        values = [
            a + 1,
            1 + a,
            np.sqrt(a),
            xp.sqrt(a),
            a.sum(),
            xp.add.reduce(a),
            xp.add.outer(a, a),
            xp.ones(4) * a,
            a.cumsum(),
        ]
        a += 2
        values.append(a)
        assert type(a) is Counting
        return [*found, *[np.asarray(value).tolist() for value in values]]

    assert seen(gp) == seen(np)


def test_a_class_may_refuse_operations(driver):
    class Refusing(gp.ndarray):
        def __array_ufunc__(self, *args, **kwargs):
            return NotImplemented

    class Deferring(gp.ndarray):
        __array_ufunc__ = None

    with pytest.raises(TypeError, match="returned NotImplemented"):
        gp.add(gp.ones(3).view(Refusing), 1)
    x = gp.ones(3).view(Deferring)
    for line in (
        "gp.ones(3) + x", "x + gp.ones(3)", "x + x", "x + 1", "1 + x", "x == x", "x != x", "x == 1", "1 == x",
        "gp.ones(3) == x", "x < x", "-x", "x @ x", "x ** 2", "x.sum()", "gp.mean(x)", "gp.std(x, axis=0)",
    ):  # fmt: skip
        with pytest.raises(TypeError):
            eval(line, {"gp": gp, "x": x})

    class Other:
        """Of another library, which does it by itself."""

        __array_ufunc__ = None
        __hash__ = None

        def __radd__(self, other):
            return "radd"

        def __eq__(self, other):
            return "eq"

    assert gp.ones(3) + Other() == "radd" and (gp.ones(3).view(Refusing) == Other()) == "eq"


@pytest.mark.parametrize(
    "line", ["np.mean(a)", "a.mean(axis=0)", "np.var(a, axis=1)", "np.std(a)", "np.ptp(a)"]
)
def test_means_and_variances_ask_a_class_for_each_of_their_ufuncs(driver, line):
    found = []
    for xp in (np, gp):
        asked = []

        class Logged(xp.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, asked=asked, xp=xp, out=None, **kwargs):
                asked.append((ufunc.__name__, method, sorted(kwargs)))
                plain = [x.view(xp.ndarray) if isinstance(x, xp.ndarray) else x for x in inputs]
                if out is not None:
                    kwargs["out"] = tuple(x.view(xp.ndarray) for x in out)
                made = getattr(ufunc, method)(*plain, **kwargs)
                return made.view(type(self)) if isinstance(made, xp.ndarray) else made

        a = xp.asarray(np.array([[1, 2], [3, 5]], np.float32)).view(Logged)
        made = eval(line, {"np": xp, "a": a})
        found.append((asked, type(made).__name__ if made.ndim else "number", np.asarray(made).tolist()))
    assert found[0][:2] == found[1][:2]
    np.testing.assert_allclose(found[1][2], found[0][2], rtol=1e-6)


def test_methods_of_a_class_serve_functions(driver):
    class Own(gp.ndarray):
        def sum(self, axis=None, out=None, **kwargs):
            return "sum"

        def take(self, *args, **kwargs):
            return ("took", super().take([1]).tolist())

        def mean(self, *args, **kwargs):
            return super().mean() + 1

    a = gp.arange(3.0).view(Own)
    assert gp.sum(a) == a.sum() == "sum" and gp.take(a, [0]) == ("took", [1.0])
    assert gp.mean(a) == a.mean() == 2.0


def test_instances_pickle_and_copy_with_what_they_keep(driver):
    a = gp.arange(4.0).view(Kept)
    a.word = "word"
    for made in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert type(made) is Kept and made.word == "word" and made.tolist() == [0.0, 1.0, 2.0, 3.0]
        made[0] = 9
    assert a[0] == 0 and repr(a) == "Kept([0., 1., 2., 3.])"


def test_records_and_objects_have_subclasses_too(driver):
    own = named(gp)
    records = gp.zeros(3, [("x", "f4"), ("y", "i8")]).view(own)
    records.word = "word"
    field = records["x"]
    field[1] = 5
    assert type(field) is own and field.word == "word" and field.base is records
    assert records[1]["x"] == 5 and type(records[:2]) is own and type(records.copy()) is own
    words = gp.array(["a", "b"]).view(own)
    assert type(words[1:]) is own and type(gp.array([1, None], object).view(own).T) is own


def test_the_chapters_buffer_tracks_its_88_bytes(driver):
    class GPUData(gp.ndarray):
        def __new__(cls, *args, **kwargs):
            return gp.ndarray.__new__(cls, *args, **kwargs)

        def __init__(self, *args, **kwargs):
            pass

        def __array_finalize__(self, obj):
            if not isinstance(obj, GPUData):
                self._extents = 0, self.size * self.itemsize
                self.__class__.__init__(self)
                self._pending_data = self._extents
            else:
                self._extents = obj._extents

        def __getitem__(self, key):
            Z = gp.ndarray.__getitem__(self, key)
            if not hasattr(Z, "shape") or Z.shape == ():
                return Z
            Z._extents = self._compute_extents(Z)
            return Z

        def _compute_extents(self, Z):
            if self.base is not None:
                base = self.base.__array_interface__["data"][0]
                view = Z.__array_interface__["data"][0]
                offset = view - base
                shape = gp.array(Z.shape) - 1
                strides = gp.array(Z.strides)
                size = (shape * strides).sum() + Z.itemsize
                return offset, offset + size
            return 0, self.size * self.itemsize

        def __setitem__(self, key, value):
            Z = gp.ndarray.__getitem__(self, key)
            if Z.shape == ():
                key = gp.mod(gp.array(key) + self.shape, self.shape)
                offset = self._extents[0] + (key * self.strides).sum()
                size = Z.itemsize
                self._add_pending_data(offset, offset + size)
                key = tuple(key)
            else:
                Z._extents = self._compute_extents(Z)
                self._add_pending_data(Z._extents[0], Z._extents[1])
            gp.ndarray.__setitem__(self, key, value)

        def _add_pending_data(self, start, stop):
            base = self.base
            if isinstance(base, GPUData):
                base._add_pending_data(start, stop)
            elif self._pending_data is None:
                self._pending_data = start, stop
            else:
                start = min(self._pending_data[0], start)
                stop = max(self._pending_data[1], stop)
                self._pending_data = start, stop

    V = gp.zeros((3, 3), [("position", gp.float32, 2), ("color", gp.float32, 3)]).view(GPUData)
    V._pending_data = None
    V["position"][0, 0] = 0.0, 0.0
    V["position"][1, 1] = 0.0, 0.0
    assert V._pending_data == (0, 88)
    W = gp.zeros((4, 5), gp.float32).view(GPUData)
    W._pending_data = None
    W[1:3, 2:4] = 7
    assert W._pending_data == (28, 56) and W[2, 3] == 7 and type(W + 1) is GPUData


def test_a_recorded_function_runs_plainly_with_instances_and_counts_it(auto):
    own = named(gp)

    @gp.jit
    def takes(a):
        return a + 1

    @gp.jit
    def makes(a):
        return (a * 2).view(own), a + 1

    for number in range(3):
        made = takes(own(gp.full(3, float(number)), "word"))
        assert type(made) is own and made.word == "word" and made.tolist() == [number + 1.0] * 3
        made, other = makes(gp.full(3, float(number)))
        assert (
            type(made) is own and made.tolist() == [2.0 * number] * 3 and other.tolist() == [number + 1.0] * 3
        )
    assert sum(takes.stats()["plain"].values()) == sum(makes.stats()["plain"].values()) == 3


def test_an_accelerated_body_leaves_instances_as_they_are(auto):
    given, other = np.arange(4.0), named(np)(np.arange(4.0), "word")
    with gp.accelerator():
        made = given.view(named(gp))
        made += 1
        both = other * given
    assert type(made).__name__ == "Named" and isinstance(made, gp.ndarray)
    assert given.tolist() == made.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert isinstance(both, np.ndarray) and both.word == "word" and both.tolist() == [0.0, 2.0, 6.0, 12.0]


def test_plain_arrays_never_reach_the_code_of_subclasses(auto, monkeypatch):
    from gpupy._classes import subclass

    def refuse(*args, **kwargs):
        raise AssertionError("a plain array was taken for an instance of a subclass")

    for name in ("of_ufunc", "of_method", "through", "like", "dispatched", "twin"):
        monkeypatch.setattr(subclass, name, refuse)
        for module in [m for key, m in sys.modules.items() if key.startswith("gpupy._")]:
            if getattr(module, name, None) is not None and module is not subclass:
                monkeypatch.setattr(module, name, refuse, raising=False)
    names = calls.arrays(gp, 6)
    for name, call in calls.calls().items():
        if (
            call
            and name not in _LEFT_OUT
            and hasattr(np, name)
            and ";" not in call
            and "tempfile" not in call
        ):
            with np.errstate(all="ignore"):
                eval(call, names)


def parts_of(value):
    return (
        [part for each in value for part in parts_of(each)] if isinstance(value, (tuple, list)) else [value]
    )


@pytest.mark.parametrize(
    "line",
    [
        "a.astype(np.float16).mean()", "a.astype(np.float16).mean(0)", "a.mean()", "np.linalg.qr(a).Q",
        "np.linalg.qr(a)", "np.linalg.eigh(a)", "np.linalg.eig(a)", "np.linalg.svd(a)",
        "np.linalg.slogdet(a)", "np.linalg.lstsq(a, a[0])[0]", "(a * 1j).round(1)", "a.round(1)",
        "np.round(a[0, 0:1].reshape(()))", "(a > 2).reshape(-1)[:1].reshape(()).round()",
        "np.require(a, requirements='C')", "np.require(a, requirements=['F', 'O'])",
        "np.require(a, requirements='E')", "np.einsum('ij->ji', a)", "np.einsum('ij,jk', a, a)",
        "np.count_nonzero(a, axis=0)", "np.argwhere(a)", "np.argwhere(a[0, 0:1].reshape(()))", "a.clip()",
        "np.clip(a, None, None)", "a.reshape(None)", "np.exp([a, a])", "np.add([a], 1)",
        "np.maximum((a, a), 2)",
        "np.flip(a)", "np.rot90(a)", "np.moveaxis(a, 0, 1)", "np.split(a, 2)", "np.unstack(a)",
        "np.dot(a, a)", "np.inner(a, a)", "np.vdot(a, a)", "np.outer(a, a)", "np.tensordot(a, a, 1)",
        "np.trace(a)", "np.trace(a[None].repeat(2, 0))", "a + duck", "np.subtract.outer(a, [1.0])",
    ],
)  # fmt: skip
def test_a_result_of_a_square_is_an_instance_of_ours_where_numpys_is_one(driver, line):
    class Duck:
        def __array__(self, dtype=None, copy=None):
            return np.ones((2, 2), np.float32)

        def __array_wrap__(self, array, context=None, return_scalar=False):
            return "wrapped"

    found = []
    for xp in (np, gp):
        own = named(xp)(xp.asarray(np.array([[2, 1], [1, 3]], np.float32)), "kept")
        found.append(parts_of(eval(line, {"np": xp, "a": own, "duck": Duck()})))
    for theirs, ours in zip(*found, strict=True):
        assert isinstance(theirs, np.ndarray) == isinstance(ours, gp.ndarray)
        assert type(ours).__name__ == type(theirs).__name__ or not isinstance(theirs, np.ndarray)
        assert getattr(ours, "word", None) == getattr(theirs, "word", None)
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-6)


def test_the_text_of_an_instance_names_its_class(driver):
    texts = []
    for xp in (np, gp):
        own = named(xp)(xp.asarray(np.array([1, 2], np.float32)))
        texts.append((xp.array_repr(own), xp.array_str(own), repr(own), xp.array2string(own)))
    assert texts[0] == texts[1]


def test_a_view_as_a_class_of_numpys_shows_the_same_memory(auto):
    class Theirs(np.ndarray):
        pass

    for kind in (Theirs, np.matrix):
        a = gp.arange(6.0)
        view = a.view(kind)
        assert type(view) is kind
        a[1] = 7
        assert np.ravel(np.asarray(view))[1] == 7
        view[..., 2] = 5
        view += 1
        np.testing.assert_array_equal(np.asarray(a), [1, 8, 6, 4, 5, 6])
    ints = gp.arange(2.0).view(np.int64, Theirs)
    assert type(ints) is Theirs and ints.dtype == np.int64 and ints[1] == np.float64(1).view(np.int64)
