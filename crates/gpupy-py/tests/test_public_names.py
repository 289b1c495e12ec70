"""Every public function has a name that pickles find, NumPy's parameters, and its devices."""

import functools
import importlib
import inspect
import pickle
import subprocess
import sys
import types

import numpy
import pytest

import gpupy
from gpupy._namespace import namespace
from gpupy._numpys import submodules

MODULES = ["gpupy", *(f"gpupy.{name}" for name in submodules.NAMES)]


def source(module):
    return functools.reduce(getattr, module.split(".")[1:], numpy)


def public(module):
    """The names of a module of ours, with their objects."""
    importlib.import_module(module)
    if module != "gpupy.emath":
        # That one is no module in NumPy but a name of one.
        importlib.import_module("numpy" + module.removeprefix("gpupy"))
    theirs = source(module)
    names = getattr(theirs, "__all__", None) or [n for n in dir(theirs) if not n.startswith("_")]
    ours = sys.modules[module]
    return {name: getattr(ours, name) for name in names}


@pytest.mark.parametrize("module", MODULES)
def test_every_function_can_be_pickled(module):
    for name, value in public(module).items():
        is_function = isinstance(value, (types.FunctionType, gpupy.ufunc, namespace._Unbound))
        if is_function and not getattr(value, "__module__", "").startswith("numpy"):
            assert pickle.loads(pickle.dumps(value)) is value, name


def test_a_function_of_a_submodule_is_found_in_another_process():
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer)([3.0, 4.0]))"
    for function in (gpupy.linalg.norm, gpupy.linalg.vector_norm):
        done = subprocess.run(
            [sys.executable, "-c", program], input=pickle.dumps(function), capture_output=True, check=True
        )
        assert done.stdout == b"5.0\n"


def own_functions():
    for name, own in namespace.OWN.items():
        if hasattr(numpy, name):
            yield name, own, getattr(numpy, name)
    for name, own in namespace.OWN_INSIDE["gpupy.linalg"].items():
        if hasattr(numpy.linalg, name):
            yield f"linalg.{name}", own, getattr(numpy.linalg, name)


def test_functions_of_ours_take_every_parameter_of_numpys():
    for name, own, theirs in own_functions():
        try:
            wanted = inspect.signature(theirs).parameters
            found = inspect.signature(own, follow_wrapped=False).parameters
        except ValueError:
            continue
        if not any(p.kind is p.VAR_KEYWORD for p in found.values()):
            names = {p for p in wanted if p not in ("args", "kwargs")}
            assert names <= found.keys() or any(p.kind is p.VAR_POSITIONAL for p in found.values()), name


DEVICES = (
    {
        "full": lambda xp, device: xp.full(3, 1.0, device=device),
        "full_like": lambda xp, device: xp.full_like(xp.zeros(3), 1.0, device=device),
        "linspace": lambda xp, device: xp.linspace(0, 1, device=device),
        "astype": lambda xp, device: xp.astype(xp.zeros(3), "f4", device=device),
        "from_dlpack": lambda xp, device: xp.from_dlpack(xp.zeros(3), device=device),
        "fft.fftfreq": lambda xp, device: xp.fft.fftfreq(3, device=device),
        "fft.rfftfreq": lambda xp, device: xp.fft.rfftfreq(3, device=device),
        "to_device": lambda xp, device: xp.zeros(3).to_device(device),
    }
    | {
        name: lambda xp, device, name=name: getattr(xp, name)(3, device=device)
        for name in "arange asanyarray asarray empty eye ones zeros".split()
    }
    | {
        name: lambda xp, device, name=name: getattr(xp, name)(xp.zeros(3), device=device)
        for name in "empty_like ones_like zeros_like".split()
    }
)


def test_every_function_with_a_device_is_here():
    taking = set()
    for module in (numpy, numpy.fft):
        for name in dir(module):
            try:
                parameters = inspect.signature(getattr(module, name)).parameters
            except (TypeError, ValueError):
                continue
            if "device" in parameters:
                taking.add(name if module is numpy else f"fft.{name}")
    assert taking <= DEVICES.keys()


@pytest.mark.parametrize("name", DEVICES)
def test_other_devices_than_numpys_are_refused_in_its_words(name):
    assert DEVICES[name](gpupy, "cpu") is not None
    for device in ("gpu", "cuda:0", ""):
        with pytest.raises(Exception) as wanted:
            DEVICES[name](numpy, device)
        with pytest.raises(type(wanted.value)) as found:
            DEVICES[name](gpupy, device)
        assert str(found.value) == str(wanted.value)


def test_types_are_subscripted_as_in_typed_programs():
    from gpupy.typing import ArrayLike, DTypeLike, NBitBase, NDArray

    assert NDArray[gpupy.float64] == numpy.typing.NDArray[numpy.float64]
    assert (ArrayLike, DTypeLike, NBitBase) == (
        numpy.typing.ArrayLike,
        numpy.typing.DTypeLike,
        numpy.typing.NBitBase,
    )


def test_what_is_masked_is_told_by_identity():
    x = gpupy.ma.array([1, 2, 3], mask=[0, 1, 0])
    assert x[1] is gpupy.ma.masked
    # NumPy's own is of NumPy's class, and becomes ours.
    assert gpupy._gpupy.wrap(numpy.ma.masked) is gpupy.ma.masked
    assert gpupy.ma.nomask is numpy.ma.nomask


SUBCLASSES = {
    "matrix": lambda: numpy.matrix([[1.0, 2.0], [3.0, 4.0]]),
    "masked": lambda: numpy.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[0, 1], [0, 0]]),
}


def kinds(result):
    if isinstance(result, (list, tuple)):
        return [kinds(each) for each in result]
    is_array = isinstance(result, (numpy.ndarray, gpupy.ndarray))
    return type(result).__name__ if is_array else "no array"


# A matrix takes away the third axis that it is given, and NumPy writes to the extent that is gone: of these
# calls, that of `dstack` alone ends plain NumPy under `PYTHONMALLOC=debug`, each time.
CRASHES = {("matrix", "dstack")}


@pytest.mark.parametrize("kind", SUBCLASSES)
def test_functions_give_arrays_of_the_classes_that_numpys_give(kind):
    for name in sorted(numpy.__all__):
        theirs = getattr(numpy, name)
        if not callable(theirs) or isinstance(theirs, type) or name == "info":
            continue
        if (kind, name) in CRASHES:
            continue
        for call in (
            lambda f, a: f(a),
            lambda f, a: f(a, a),
            lambda f, a: f(a, axis=0),
            lambda f, a: f([a, a]),
            lambda f, a: f(a, 1),
            lambda f, a: f(a, dtype="f4"),
            lambda f, a: f(a > 2, a),
        ):
            with numpy.errstate(all="ignore"):
                try:
                    wanted = kinds(call(theirs, SUBCLASSES[kind]()))
                except Exception:
                    continue
                assert kinds(call(getattr(gpupy, name), SUBCLASSES[kind]())) == wanted, name


@pytest.mark.parametrize("attribute", ["__signature__", "__text_signature__"])
@pytest.mark.parametrize("module", MODULES)
def test_functions_in_python_have_the_signatures_that_numpys_carry(module, attribute):
    for name, value in public(module).items():
        theirs = getattr(source(module), name)
        if isinstance(value, (types.FunctionType, namespace._Unbound)) and value is not theirs:
            assert getattr(value, attribute, None) == getattr(theirs, attribute, None), name


def test_iterators_have_the_parameters_of_numpys():
    assert str(inspect.signature(gpupy.nditer)) == (
        "(op, flags=None, op_flags=None, op_dtypes=None, order='K', casting='safe', op_axes=None, "
        "itershape=None, buffersize=0)"
    )
    for method in (gpupy.nditer.copy, gpupy.flatiter.copy, gpupy.flatiter.__array__):
        first = next(iter(inspect.signature(method).parameters.values()))
        assert (first.name, first.kind) == ("self", inspect.Parameter.POSITIONAL_ONLY)


def test_the_class_of_arrays_takes_as_many_types_as_numpys():
    assert gpupy.ndarray[int, float].__origin__ is gpupy.ndarray
    assert gpupy.ndarray[int].__args__ == (int,)
    for types_ in ((), (int, int, int)):
        with pytest.raises(TypeError, match="Too"):
            gpupy.ndarray[types_]


def test_rust_finds_all_that_it_calls():
    importlib.import_module("gpupy._jit.recording")
    assert gpupy._gpupy.register_python() == []
    with pytest.raises(TypeError, match="nothing is called `length`"):
        gpupy._gpupy.register_python(length=len)
