"""Pickles that an earlier state of gpupy wrote load: what they name in the package is still found.

Owns ``MADE``. Its objects were pickled before the package's modules lay in folders; ``old_pickles.json`` has
them by name and protocol. Not here: pickles of today (``test_pickles.py``).
"""

import base64
import io
import json
import pathlib
import pickle
import pickletools

import numpy
import pytest

import gpupy as gp
from gpupy import ma

WRITTEN = json.loads((pathlib.Path(__file__).parent / "old_pickles.json").read_text())


class Kept(gp.ndarray):
    """An instance that a pickle finds by the name of this file."""


@gp.kernel
def halves(x):
    return x / 2


@gp.jit
def doubled(x):
    return x * 2


def larger(x, y):
    return x if x > y else y


def numbers(dtype):
    return (numpy.arange(12) % 7).astype(dtype).reshape(3, 4)


def records():
    return numpy.array([(1, 2.5), (3, -4.0)], [("n", "i4"), ("x", "f8")])


def masked():
    return ma.array([1.0, 2.0, 3.0], mask=[False, True, False], fill_value=-1.0)


def of_objects():
    made = gp.empty(3, object)
    made[:] = [1, "two", None]
    return made


MADE = {
    **{
        f"array of {dtype}": lambda dtype=dtype: gp.asarray(numbers(dtype))
        for dtype in numpy.typecodes["All"][:17]
    },
    "pending array": lambda: gp.asarray(numbers("f4")) * 2 + 1,
    "columns first": lambda: gp.asfortranarray(numbers("f4")),
    "transposed": lambda: gp.asarray(numbers("f8")).T,
    "view": lambda: gp.asarray(numbers("i4"))[1:, ::2],
    "view backwards": lambda: gp.asarray(numbers("f4"))[::-1],
    "array without axes": lambda: gp.array(3.5),
    "array without elements": lambda: gp.zeros((0, 3), "f4"),
    "texts": lambda: gp.array(["a", "bcd"]),
    "times": lambda: gp.array(["2020-01-01", "2021-02-03"], "datetime64[D]"),
    "objects": of_objects,
    "records": lambda: gp.asarray(records()),
    "record array": lambda: gp.rec.array(records()),
    "instance": lambda: gp.asarray(numbers("f4")).view(Kept),
    "masked array": masked,
    "masked": lambda: ma.masked,
    "masked records": lambda: ma.mrecords.fromarrays([gp.array([1, 2]), gp.array([0.5, 1.5])], names="a,b"),
    "element": lambda: gp.asarray(numbers("f4"))[1, 2],
    "sum": lambda: gp.asarray(numbers("i8")).sum(),
    "dtype": lambda: gp.dtype("f4"),
    "list": lambda: gp.TypedList([[1.0, 2.0], [], [3.0]]),
    "vector": lambda: gp.vec3(1.0, 2.0, 3.0),
    "matrix": lambda: gp.mat2(gp.vec2(1.0, 2.0), gp.vec2(3.0, 4.0)),
    "generator": lambda: gp.random.default_rng(5),
    "polynomial": lambda: gp.polynomial.Polynomial([1.0, 2.0]),
    "old polynomial": lambda: gp.poly1d([1.0, 2.0]),
    "index trick": lambda: gp.s_[1:2],
    "grid": lambda: gp.mgrid,
    "submodule": lambda: gp.linalg,
    "error": lambda: gp.FallbackError("no"),
    "warning": lambda: gp.FallbackWarning("no"),
    "error of a kernel": lambda: gp.KernelError("no"),
    "error of a recording": lambda: gp.JitError("no"),
    "error of a driver": lambda: gp.DriverError("no"),
    "kernel": lambda: halves,
    "recorded function": lambda: doubled,
    "vectorised function": lambda: gp.vectorize(larger),
    **{
        name: lambda name=name: getattr(gp, name)
        for name in gp._OURS
        if name not in ("gpufloat32", "parallel", "vectors")
    },
    **{
        name: lambda name=name: getattr(gp, name)
        for name in "sin add where zeros arange array sum unique cov concatenate einsum load roll meshgrid "
        "sort nditer flatiter vectorize take clip astype fft linalg random save".split()
    },
    **{
        f"{module}.{name}": lambda module=module, name=name: getattr(getattr(gp, module), name)
        for module, name in [
            *(
                ("linalg", "norm"),
                ("linalg", "solve"),
                ("fft", "fft"),
                ("fft", "fftshift"),
                ("ma", "masked_where"),
            ),
            *(("ma", "MaskedArray"), ("ctypeslib", "as_array"), ("random", "normal"), ("strings", "upper")),
        ]
    },
}


def plainly(value):
    """A value in a form that two equal ones share."""
    if isinstance(value, gp.ndarray):
        host = numpy.asarray(value)
        mask = getattr(value, "_mask", None)
        return (
            type(value),
            host.dtype,
            value.flags.fnc,
            host.tolist(),
            mask is not None and numpy.asarray(mask).tolist(),
        )
    if isinstance(value, (BaseException, gp.TypedList, gp.vec3, gp.mat2, numpy.generic, gp.scalar)):
        return type(value), repr(value)
    if isinstance(value, gp.random.Generator):
        return str(value.bit_generator.state)
    if isinstance(value, gp.vectorize):
        return type(value), value.pyfunc
    # Other objects have no words of their own but where they lie.
    return type(value), repr(value).partition(" at 0x")[0]


def write(path):
    """Writes the pickles of the present state."""
    found = {}
    for name, make in MADE.items():
        for protocol in range(2, 6):
            pickled = pickletools.optimize(pickle.dumps(make(), protocol))
            found.setdefault(name, {})[str(protocol)] = base64.b64encode(pickled).decode()
    pathlib.Path(path).write_text(json.dumps(found, indent=0) + "\n")


@pytest.mark.parametrize("name", WRITTEN)
def test_an_old_pickle_loads(name):
    wanted = MADE[name]()
    for pickled in WRITTEN[name].values():
        found = pickle.load(io.BytesIO(base64.b64decode(pickled)))
        if isinstance(wanted, type) or callable(wanted):
            assert found is wanted or plainly(found) == plainly(wanted)
        else:
            assert plainly(found) == plainly(wanted)


# Folders of today have these names: readers of sources took their files for those of the classes.
RENAMED = {b"gpupy._session\n": b"gpupy._drivers\n", b"gpupy._fallback\n": b"gpupy._policy\n"}


@pytest.mark.parametrize("name", [name for name in gp._OURS if name in WRITTEN])
def test_a_public_name_is_pickled_as_it_was(name):
    wanted = base64.b64decode(WRITTEN[name]["2"])
    for old, new in RENAMED.items():
        wanted = wanted.replace(old, new)
    assert pickletools.optimize(pickle.dumps(MADE[name](), 2)) == wanted
