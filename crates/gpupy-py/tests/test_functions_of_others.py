"""Functions of NumPy's that leave the work to the class of what they are given: so do ours."""

import functools

import numpy as np
import pytest

import gpupy

FUNCTIONS = {
    name: lambda xp, a, name=name: getattr(xp, name)(a)
    for name in "all any argmax argmin argsort argwhere cumprod cumsum flip max mean min nonzero prod round"
    " sort squeeze std sum transpose var".split()
} | {
    "compress": lambda xp, a: xp.compress([True, False], a),
    "concatenate": lambda xp, a: xp.concatenate([a, a]),
    "divmod": lambda xp, a: xp.divmod(a, 2),
    "extract": lambda xp, a: xp.extract([True, False, True, False], a),
    "mean along an axis": lambda xp, a: xp.mean(a, axis=0),
    "pad": lambda xp, a: xp.pad(a, 1),
    "ravel": lambda xp, a: xp.ravel(a),
    "repeat": lambda xp, a: xp.repeat(a, 2),
    "reshape": lambda xp, a: xp.reshape(a, (-1, 1)),
    "roll": lambda xp, a: xp.roll(a, 1),
    "sort of all": lambda xp, a: xp.sort(a, axis=None),
    "stack": lambda xp, a: xp.stack([a, a]),
    "sum as float32": lambda xp, a: xp.sum(a, dtype="f4"),
    "take": lambda xp, a: xp.take(a, [0, 1]),
    "tile": lambda xp, a: xp.tile(a, 2),
    "where": lambda xp, a: xp.where(a),
}


class Elements:
    """What NumPy makes an array of."""

    def __init__(self, elements=(3.0, 0.0, 3.0, 2.0)):
        self.elements = list(elements)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.elements, dtype)


class Methods(Elements):
    """It has a method for whatever it is asked."""

    def __getattr__(self, name):
        if name.startswith("_") or name in ("ndim", "shape", "size"):
            raise AttributeError(name)
        return functools.partial(self._told, name)

    def _told(self, name, *args, **kwargs):
        said = {key: value for key, value in kwargs.items() if value is not None}
        return "method", name, args, said


class Protocol(Elements):
    def __array_function__(self, function, types, args, kwargs):
        return "function", function.__name__


class Ufuncs(Elements):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "ufunc", ufunc.__name__, method, len(inputs)


class Wrapping(Elements):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return "wrapped", array.tolist()


def given(function, xp, kind):
    try:
        made = function(xp, kind())
    except Exception as error:
        return type(error), str(error)
    return told(made)


def told(made):
    if isinstance(made, (list, tuple)):
        return type(made), [told(item) for item in made]
    if isinstance(made, (np.ndarray, gpupy.ndarray)):
        return "array", made.dtype, made.tolist()
    return type(made), made


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", [Elements, Methods, Protocol, Ufuncs, Wrapping])
def test_a_class_that_has_a_function_itself_is_asked_as_numpy_asks_it(driver, kind, name):
    assert given(FUNCTIONS[name], gpupy, kind) == given(FUNCTIONS[name], np, kind)
