"""What a library asks of an array is answered at the array, and its function goes on with NumPy's."""

import copy
import functools
import gc
import inspect
import os
import pickle
import random
import signal
import subprocess
import sys
import traceback
import types
import weakref
from collections import abc

import numpy
import pytest

import gpupy
from gpupy import _gpupy, _libraries
from gpupy._classes import takers


@pytest.fixture
def library():
    """A module of a package that takes NumPy's class alone."""
    takers.lend("library_that_asks", takers.ALL)
    takers.lend("abc", takers.AS_CALLER)
    yield lambda text: _function(text, "library_that_asks.inside")
    takers.lend("library_that_asks", 0)


def _function(text, module):
    names = {"__name__": module, "np": numpy, "abc": abc}
    exec(text, names)
    return names["function"]


def test_a_function_that_asks_goes_on_with_numpys_array_over_our_memory(library):
    function = library(
        "def function(x):\n    told = isinstance(x, np.ndarray)\n    x[0] = 7\n    return told, x"
    )
    a = gpupy.zeros(3)
    told, found = function(a)
    assert told and type(found) is numpy.ndarray
    assert a.tolist() == [7, 0, 0] and type(a) is gpupy.ndarray
    found[1] = 8
    assert a[1] == 8


@pytest.mark.parametrize(
    "text",
    [
        "def function(x):\n    isinstance(x, str)\n    return x",
        "def function(x):\n    isinstance(x, (str, int, np.ndarray, dict))\n    return x",
        "def function(x):\n    isinstance(x, abc.Sequence)\n    return x",
        "def function(*x):\n    for one in x:\n        isinstance(one, str)\n    return x[0]",
        "def function(x):\n    y = {'k': x}\n    return inside(**y)\n"
        "def inside(**k):\n    for one in k.values():\n        isinstance(one, str)\n    return k['k']",
        "def function(x):\n    def inner():\n        return x\n    isinstance(x, str)\n    return inner()",
        "def function(x):\n    y = x\n    isinstance(x, str)\n    return y",
        "def function(x):\n    return [one for one in (x,) if isinstance(one, np.ndarray)][0]",
    ],
)
def test_all_variables_of_the_function_have_it(library, text):
    assert type(library(text)(gpupy.ones(2))) is numpy.ndarray


def test_one_question_by_several_classes_has_one_answer(library):
    function = library("def function(x):\n    return isinstance(x, (str, np.matrix, np.ndarray))")
    assert function(gpupy.ones(2)) is True


def test_a_flat_iterator_is_of_numpys_class_to_code_that_asks_and_stays_itself(library):
    function = library("def function(x):\n    return isinstance(x, np.flatiter), x[0], x")
    flat = gpupy.arange(5).flat
    next(flat)
    told, first, found = function(flat)
    assert told is True and first == 0 and found is flat
    assert type(flat) is flat.__class__ is gpupy.flatiter and not isinstance(flat, numpy.flatiter)


def test_what_is_in_no_variable_keeps_its_class_and_the_function_our_array(library):
    function = library(
        "def function(box):\n    told = isinstance(box.inside, np.ndarray)\n    return told, box.inside"
    )
    told, found = function(types.SimpleNamespace(inside=gpupy.ones(2)))
    assert told is False and type(found) is gpupy.ndarray


def test_a_callers_containers_stay_as_they_are(library):
    function = library("def function(x):\n    for one in x:\n        isinstance(one, str)\n    return x")
    given = [gpupy.ones(2)]
    assert function(given) is given and type(given[0]) is gpupy.ndarray
    given = {"k": gpupy.ones(2)}
    function = library("def function(x):\n    one = x['k']\n    isinstance(one, str)\n    return x")
    assert function(given) is given and type(given["k"]) is gpupy.ndarray


def test_code_of_others_is_told_our_class():
    function = _function("def function(x):\n    return isinstance(x, np.ndarray), x", "another_library")
    told, found = function(gpupy.ones(2))
    assert told is False and type(found) is gpupy.ndarray
    assert gpupy.ones(2).__class__ is gpupy.ndarray


def test_the_class_of_an_instance_is_its_own_and_can_be_set_as_of_other_objects():
    class One(gpupy.ndarray):
        pass

    class Other(gpupy.ndarray):
        pass

    a = gpupy.ones(2).view(One)
    assert a.__class__ is type(a) is One
    a.__class__ = Other
    assert type(a) is Other
    with pytest.raises(TypeError, match="__class__"):
        a.__class__ = int


class Quantity(gpupy.ndarray):
    """A subclass of the program's, with an attribute and a method of its own."""

    def __new__(cls, elements, unit):
        made = gpupy.asarray(elements).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, of):
        self.unit = getattr(of, "unit", None)

    def __getitem__(self, key):
        return gpupy.array(super().__getitem__(key))

    def doubled(self):
        return self * 2


GIVEN_BACK = "def function(x):\n    told = isinstance(x, np.ndarray)\n    return told, x"


def test_an_instance_is_lent_as_an_array_of_numpys_that_passes_for_one(library):
    a = Quantity([1.0, 2, 3, 4], "m")
    told, lent = library(GIVEN_BACK)(a)
    assert told is True and issubclass(type(lent), numpy.ndarray)
    for one, elements in ((lent, [1, 2, 3, 4]), (lent[1:3], [2, 3]), (lent.T * 1, [1, 2, 3, 4])):
        assert isinstance(one, Quantity) and isinstance(one, numpy.ndarray)
        assert one.unit == "m" and one.tolist() == elements
        doubled = one.doubled()
        assert type(doubled) is Quantity and doubled.tolist() == [2 * x for x in elements]
        copied = [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
        assert all(isinstance(each, Quantity) and each.tolist() == elements for each in copied)
        # As NumPy's, a pickle has no attributes.
        assert [each.unit for each in copied] == ["m", "m", None]
    lent[0] = 7
    a[1] = 8
    assert a.tolist() == lent.tolist() == [7, 8, 3, 4] and lent.doubled().tolist() == [14, 16, 6, 8]
    assert not hasattr(lent, "to_numpy") and not hasattr(lent, "no_such")
    with pytest.raises(TypeError, match="stays 'Quantity'"):
        lent.__class__ = numpy.ndarray


def test_what_was_lent_for_an_instance_is_one_to_our_functions(library):
    a = Quantity([1.0, 2, 3, 4], "m")
    _, lent = library(GIVEN_BACK)(a)
    plain = gpupy.ones(4)
    made = [gpupy.add(lent, 1), gpupy.add(lent, a), gpupy.add(a, lent), lent + a, a + lent, lent + plain]
    made += [plain + lent, gpupy.sqrt(lent), gpupy.cumsum(lent), gpupy.sort(lent), gpupy.asanyarray(lent)]
    assert all(type(one) is Quantity and one.unit == "m" for one in made)
    assert made[1].tolist() == [2, 4, 6, 8]
    assert type(gpupy.asarray(lent)) is gpupy.ndarray and type(gpupy.array(lent)) is gpupy.ndarray
    assert type(numpy.asarray(lent)) is numpy.ndarray


def test_it_passes_for_one_in_a_program_whose_numpy_is_gpupy(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "from gpupy._classes import takers\n"
        "class Sub(np.ndarray): pass\n"
        "takers.lend('library', takers.ALL)\n"
        "names = {'__name__': 'library', 'np': np}\n"
        "exec('def function(x):\\n    isinstance(x, str)\\n    return x', names)\n"
        "lent = names['function'](np.arange(3.0).view(Sub))\n"
        "print(type(lent).__mro__[-2].__module__, isinstance(lent, Sub), isinstance(lent, np.ndarray))\n"
    )
    command = [sys.executable, "-m", "gpupy", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "numpy True True\n"


def test_instances_of_our_own_subclasses_and_masked_arrays_are_numpys(library):
    _, lent = library(GIVEN_BACK)(gpupy.array_api.asarray([1.0, 2]))
    assert type(lent) is numpy.ndarray
    _, lent = library(GIVEN_BACK)(gpupy.ma.array([1, 2], mask=[0, 1]))
    assert type(lent) is numpy.ma.MaskedArray


class Interrupted(BaseException):
    """What the handler of a signal raises."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that send signals")
@pytest.mark.parametrize("memory", [{}, {"block_bytes": 64, "device_bytes": 4096, "host_bytes": 20_000}])
def test_an_interrupted_loan_loses_nothing(library, auto, memory):
    driver = _gpupy.current_driver()
    gpupy._gpupy.reconfigure(driver, strict=False, **memory)
    function = library(
        "def function(x, *others):\n"
        "    kept = x\n"
        "    for one in (kept, *others):\n        isinstance(one, str)\n"
        "    kept[0] = 7\n    return kept, others"
    )
    chance, is_armed = random.Random(1), False

    def handler(number, frame):
        if is_armed:
            raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    interrupted = 0
    try:
        for turn in range(600):
            elements = numpy.arange(chance.choice([3, 100, 1000])) % 13 * 2.0 + 1
            x = gpupy.asarray((elements - 1) / 2) * 2 + 1
            x = x.view(Quantity) if turn % 3 == 0 else x
            try:
                is_armed = True
                signal.setitimer(
                    signal.ITIMER_REAL, chance.choice([1e-5, 1e-4, 3e-4]) * chance.random() + 1e-6
                )
                try:
                    function(x, x * 2, x)
                finally:
                    is_armed = False
            except Interrupted:
                is_armed, interrupted = False, interrupted + 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert x.tolist() in (elements.tolist(), [7.0, *elements[1:]])
            lent, others = function(x, x * 2, x)
            assert lent[0] == others[1][0] == 7 and lent[1:].tolist() == elements[1:].tolist()
            x[1] = 99.0
            assert lent[1] == 99
    finally:
        signal.signal(signal.SIGALRM, before)
        gpupy._gpupy.reconfigure(driver, strict=False)
    assert interrupted > 20


def test_an_object_that_forwards_attributes_has_none_that_numpys_arrays_lack():
    class Quantity:
        def __init__(self, amount):
            self.amount = amount

        def __getattr__(self, name):
            return getattr(self.amount, name)

    class Instance(gpupy.ndarray):
        def to_numpy(self):
            return super().to_numpy() + 1

    a = gpupy.ones(2)
    assert Quantity(a).shape == (2,) and not hasattr(Quantity(a), "to_numpy")
    assert type(a.to_numpy()) is numpy.ndarray and a.view(Instance).to_numpy().tolist() == [2, 2]
    assert list(inspect.signature(gpupy.ndarray.to_numpy).parameters) == ["self", "dtype", "copy"]


def test_an_array_is_let_go_of_when_the_function_ends(library):
    function = library("def function(x):\n    isinstance(x, str)\n    return None")
    a = gpupy.ones(3)
    seen = weakref.ref(a)
    function(a)
    del a
    gc.collect()
    assert seen() is None


def test_a_failing_exchange_says_so_and_what_to_do():
    def fail():
        raise KeyError("gone")

    with pytest.warns(
        RuntimeWarning, match=r"cannot tell `a_library` of its arrays: KeyError: 'gone'; give it"
    ):
        _libraries._do("a_library", fail)


def test_the_variables_that_a_function_asked_for_stay(library):
    text = "def function(x):\n    y = 1\n    found = locals()\n    isinstance(x, str)\n    return found"
    assert library(text)(gpupy.ones(2))["y"] == 1


def test_a_copy_of_the_variables_is_not_kept(library):
    class Kept:
        pass

    text = (
        "def function(x, y):\n    isinstance(x, str)\n    seen = ref(y)\n    del y\n    return seen() is None"
    )
    names = library(text)
    names.__globals__["ref"] = weakref.ref
    is_let_go = names(gpupy.ones(2), Kept())
    assert is_let_go


def _ran(program, **env):
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **env}
    ).stdout.split()


def test_nothing_of_a_library_is_exchanged_before_there_is_an_array():
    pytest.importorskip("h5py")
    program = """if True:
        import h5py._hl.dataset as m, gpupy
        def borders(): print(type(m.Dataset.read_direct).__name__)
        borders(); gpupy.ones(2); borders()
    """
    before, after = _ran(program)
    assert before != "Border" and after == "Border"
    assert _ran(program, GPUPY_LIBRARIES="0") == [before, before]


def test_no_function_of_pandas_is_exchanged():
    pytest.importorskip("pandas")
    program = """if True:
        import types, sys, pandas, gpupy
        gpupy.ones(2)
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] != "pandas": continue
            for owner in [module, *[v for v in vars(module).values() if isinstance(v, type)]]:
                for key, value in list(vars(owner).items()):
                    value = getattr(value, "__func__", value)
                    code = getattr(value, "__code__", None)
                    ours = code is not None and "gpupy" in code.co_filename
                    if ours or type(value).__name__ == "Border": print(name, key)
    """
    assert _ran(program) == []


def test_a_function_at_a_border_sees_its_own_arguments_and_no_frame_is_between(monkeypatch):
    def theirs(*args, **kwargs):
        "Words."
        return args, kwargs, [frame.name for frame in traceback.extract_stack(limit=2)]

    def instead(*args, **kwargs):
        return "instead"

    made = functools.update_wrapper(_gpupy.Border(theirs, instead), theirs)
    rows = [[1.0]] * 40
    args, kwargs, frames = made(rows, {"a": 1}, key=(1, "b"))
    assert args[0] is rows and kwargs == {"key": (1, "b")}
    assert frames == ["test_a_function_at_a_border_sees_its_own_arguments_and_no_frame_is_between", "theirs"]
    a = gpupy.ones(2)
    for given in (a, a.view(type("V", (gpupy.ndarray,), {})), [1, a], {"k": (a,)}, [a] * 40):
        assert made(given) == made(key=given) == "instead"
    assert (made.__name__, made.__doc__, made.__module__) == ("theirs", "Words.", __name__)
    assert inspect.signature(made) == inspect.signature(theirs)
    Owner = type("Owner", (), {"method": made})
    owner = Owner()
    assert owner.method(1)[0] == (owner, 1) and owner.method(a) == "instead" and Owner.method is made
    assert type("Owner", (), {"method": _gpupy.Border(len, instead, True)})().method([1]) == 1
    named = functools.update_wrapper(_gpupy.Border(_named, instead), _named)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[__name__], "_named", named)
        assert pickle.loads(pickle.dumps(named)) is named


def _named():
    """A function that pickles find by its name."""
