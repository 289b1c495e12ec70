"""What people see who try things out: help, sources, suggestions, texts of arrays.

Not here: the frames of errors (``test_shown_errors.py``), how much of an array its text computes
(``test_parts.py``).
"""

import contextlib
import functools
import inspect
import io
import pathlib
import pydoc
import subprocess
import sys

import numpy
import pytest

import gpupy
from gpupy._numpys import submodules

UFUNCS = [name for name in sorted(numpy.__all__) if isinstance(getattr(numpy, name), numpy.ufunc)]


def rendered(thing):
    return pydoc.render_doc(thing, renderer=pydoc.plaintext).partition("\n\n")[2]


@pytest.mark.parametrize("name", UFUNCS)
def test_help_of_a_ufunc_is_numpys_text(name):
    ours, theirs = getattr(gpupy, name), getattr(numpy, name)
    assert ours.__doc__ == theirs.__doc__
    assert rendered(ours) == rendered(theirs)


def test_the_class_of_ufuncs_has_a_text_of_its_own():
    assert gpupy.ufunc.__doc__ == "A NumPy ufunc that records on lazy arrays."
    with pytest.raises(AttributeError, match="__doc__"):
        gpupy.sin.__doc__ = "another"


@pytest.mark.parametrize("name", ["r_", "c_", "mgrid", "ogrid", "s_", "index_exp", *submodules.NAMES])
def test_help_of_tricks_and_submodules_is_numpys_text(name):
    ours = functools.reduce(getattr, name.split("."), gpupy)
    is_module = name in submodules.NAMES
    theirs = submodules.source_of(ours) if is_module else getattr(numpy, name)
    assert ours.__doc__ == theirs.__doc__ and ours.__doc__


def test_every_attribute_of_arrays_has_a_text_where_numpys_has_one():
    for name in dir(numpy.ndarray):
        if getattr(numpy.ndarray, name).__doc__ and not name.startswith("_"):
            assert getattr(gpupy.ndarray, name).__doc__, name


def own_objects():
    """The functions and classes among the public names that are written in Python."""
    for name in gpupy._OURS:
        value = getattr(gpupy, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            file = getattr(sys.modules[value.__module__], "__file__", "")
            # Some in Rust are of the package itself.
            if file.endswith(".py") and value.__module__ not in ("gpupy", "numpy"):
                yield name


@pytest.mark.parametrize("name", list(own_objects()))
def test_the_source_of_what_is_ours_is_found(name):
    value = getattr(gpupy, name)
    word = "class" if inspect.isclass(value) else "def"
    assert f"{word} {value.__name__}" in inspect.getsource(value)
    assert pathlib.Path(inspect.getsourcefile(value)).name != "__init__.py"


def test_these_are_most_of_what_is_written_in_python():
    names = set(own_objects())
    assert names >= {"driver", "fallback", "stats", "info", "install", "accelerator", "jit", "kernel"}
    assert names >= {"FallbackError", "KernelError", "JitError", "TypedList", "vec2", "mat4", "store"}


def shown(statement):
    """What Python prints of the error of a statement."""
    said = io.StringIO()
    try:
        exec(statement, {"np": gpupy})
    except Exception as error:
        with contextlib.redirect_stderr(said):
            sys.__excepthook__(type(error), error, None)
    return said.getvalue().strip()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("np.zros(3)", "module 'gpupy' has no attribute 'zros'. Did you mean: 'zeros'?"),
        ("np.evalute", "module 'gpupy' has no attribute 'evalute'. Did you mean: 'evaluate'?"),
        ("np.jt", "module 'gpupy' has no attribute 'jt'. Did you mean: 'jit'?"),
        ("np.linalg.invv", "module 'gpupy.linalg' has no attribute 'invv'. Did you mean: 'inv'?"),
        ("np.ma.arrray", "module 'gpupy.ma' has no attribute 'arrray'. Did you mean: 'array'?"),
        ("np.fft.ftt", "module 'gpupy.fft' has no attribute 'ftt'. Did you mean: 'fft'?"),
        ("np.ones(3).shpae", "'gpupy.ndarray' object has no attribute 'shpae'. Did you mean: 'shape'?"),
        # What gpupy itself uses is none of them.
        ("np.ones(3).plac", "'gpupy.ndarray' object has no attribute 'plac'"),
        ("np.ma.ones(3).mas", "'MaskedArray' object has no attribute 'mas'. Did you mean: 'mask'?"),
        ("np.sin.redcue", "has no attribute 'redcue'. Did you mean: 'reduce'?"),
        ("np.stats().launchs", "there is no count `launchs`. Did you mean: 'launches'?"),
        ("np.TypedList([[1]]).szies", "has no attribute 'szies'. Did you mean: 'sizes'?"),
        # NumPy's advice ends the words.
        ("np.float", "release/1.20.0-notes.html#deprecations"),
        ("np.vec3(1, 2, 3).dtyp", "vec3 has no attribute or components 'dtyp'. Did you mean: 'dtype'?"),
    ],
)
def test_a_name_that_is_alike_is_suggested(statement, words):
    assert shown(statement).endswith(words)


def test_the_names_of_an_array_are_numpys_and_those_for_users():
    names = {name for name in dir(gpupy.ones(3)) if name not in dir(numpy.ones(3))}
    assert {"extents", "to_numpy"} <= names
    assert not [name for name in names if name.startswith("_") and not name.startswith("__")]


def test_an_uncaught_error_suggests_a_name_of_an_iterator():
    # Python asks for the names when no function runs any more.
    command = [sys.executable, "-c", "import gpupy; gpupy.ones(3).flat.copyy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr.rstrip().endswith("has no attribute 'copyy'. Did you mean: 'copy'?")


N = 3000
KINDS = {
    "ints": lambda xp: xp.arange(N) + 1,
    "square": lambda xp: (xp.arange(N) * 0.5).reshape(50, 60),
    "columns first": lambda xp: (xp.arange(N) + 1).reshape(30, 100).T[::2],
    "deep": lambda xp: (xp.arange(N) + 1).reshape(10, 10, 30),
    "bools": lambda xp: xp.arange(N) % 3 == 0,
    "complex": lambda xp: xp.arange(N) * 1j,
    "float16": lambda xp: (xp.arange(N) % 100).astype("f2") + 1,
    "long": lambda xp: xp.arange(N).astype("g") + 1,
    "masked": lambda xp: xp.ma.masked_where(xp.arange(N) % 5 == 0, xp.arange(N) + 1),
    "masked square": lambda xp: xp.ma.array(xp.arange(N) * 2.0, mask=xp.arange(N) % 7 == 0).reshape(50, 60),
    "records": lambda xp: xp.zeros(N, [("a", "i4"), ("b", "f8")]),
    "record array": lambda xp: xp.zeros(N, [("a", "i4"), ("b", "f8")]).view(xp.recarray),
    "parts": lambda xp: xp.zeros(N, [("p", "f4", (2, 2))]),
    "bytes without dtype": lambda xp: xp.zeros(N, "V5"),
    "strings": lambda xp: (xp.arange(N) + 1).astype("U8"),
    "bytes": lambda xp: (xp.arange(N) + 1).astype("S8"),
    "long strings": lambda xp: xp.array(["a", "bb"] * N, dtype=xp.dtypes.StringDType()),
    "objects": lambda xp: (xp.arange(N) + 1).astype(object),
    "times": lambda xp: (xp.arange(N) + 1).astype("M8[s]"),
    "durations": lambda xp: (xp.arange(N) + 1).astype("m8[D]"),
    "matrix": lambda xp: xp.matrix((xp.arange(N) + 1).reshape(50, 60)),
    "no axes": lambda xp: xp.array(3.5) + 1,
    "sum": lambda xp: (xp.arange(N) + 1).sum(),
    "no elements": lambda xp: xp.zeros((0, N)) + 1,
    "in a list": lambda xp: [xp.arange(N) + 1, xp.arange(3)],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_of_a_large_array_is_numpys(auto, kind):
    for write in (repr, str, "{}".format):
        assert write(KINDS[kind](gpupy)) == write(KINDS[kind](numpy)), write


def test_the_text_of_a_large_list_is_of_its_ends():
    ends = "[0, 1], [1, 2], [2, 3], ..., [2997, 2998], [2998, 2999], [2999, 3000]"
    assert repr(gpupy.TypedList([[i, i + 1] for i in range(N)])) == f"TypedList([{ends}], dtype=int64)"


@pytest.mark.parametrize(
    "decorate",
    {
        "jit": lambda: gpupy.jit,
        "jit()": lambda: gpupy.jit(),
        "jit(function=)": lambda: lambda function: gpupy.jit(function=function),
        "kernel": lambda: gpupy.kernel,
        "kernel()": lambda: gpupy.kernel(),
        "kernel(identity=)": lambda: gpupy.kernel(identity=0),
        "vectorize": lambda: gpupy.vectorize,
        "vectorize()": lambda: gpupy.vectorize(),
        "vectorize(otypes=)": lambda: gpupy.vectorize(otypes=["f8"]),
    }.values(),
)
def test_decorators_are_used_with_and_without_brackets(auto, decorate):
    @decorate()
    def twice(x):
        """Doubled."""
        return x * 2

    assert twice(gpupy.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
    assert (twice.__name__, twice.__doc__) == ("twice", "Doubled.")


def test_versions_name_every_driver_and_no_variable_of_others(monkeypatch, capsys):
    monkeypatch.setenv("GPUPY_TRACE", "0")
    monkeypatch.setenv("SECRET_OF_SOMEBODY", "12345")
    assert gpupy.show_versions() is None
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"gpupy {gpupy.__version__}"
    assert f"numpy {numpy.__version__}" in lines and "GPUPY_TRACE=0" in lines
    for row in gpupy.drivers():
        assert any(line.startswith(f"{row['name']}: ") for line in lines)
    assert "12345" not in "".join(lines)
