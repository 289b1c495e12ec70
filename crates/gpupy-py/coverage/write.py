"""Which functions are recorded: ``python coverage/write.py`` writes `docs/coverage.md`.

Each function is called with arrays of gpupy while fallbacks are forbidden (``calls.py``); what goes to NumPy
gets its reason (``gpupy/_session/reasons.py``). With ``--check`` nothing is written, and a page that is not
as it would be written is an error. Not here: whether values are NumPy's (the tests).
"""

import contextlib
import importlib
import io
import pathlib
import sys
import warnings

import numpy as np
from calls import arrays, call_of_ufunc, calls

import gpupy
from gpupy._numpys.sooner import FEW, ON_CPU
from gpupy._session.reasons import OF_MODULES, OF_NAMES

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "coverage.md"
# Few elements are computed at once, many are recorded: both ways have to be ours.
SIZES = (12, 120)
# Functions that read no elements: dtypes, shapes, settings, text and files.
WITHOUT_ELEMENTS = frozenset(
    "array2string array_repr array_str asmatrix base_repr binary_repr broadcast_shapes busday_count "
    "busday_offset can_cast common_type datetime_as_string datetime_data einsum_path "
    "format_float_positional format_float_scientific from_dlpack frombuffer fromfile fromiter "
    "frompyfunc fromregex fromstring genfromtxt get_include get_printoptions getbufsize geterr "
    "geterrcall info is_busday iscomplexobj isdtype isfortran isrealobj isscalar issubdtype iterable "
    "load loadtxt may_share_memory min_scalar_type mintypecode ndim nested_iters printoptions "
    "promote_types require result_type save savetxt savez savez_compressed set_printoptions "
    "setbufsize seterr seterrcall shape shares_memory show_config show_runtime size test typename".split()
)


def falls(call):
    """The name of what NumPy computes when a call is made, or ``None``."""
    *before, last = call.split(";")
    for size in SIZES:
        names = arrays(gpupy, size)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), gpupy.fallback("error"):
            warnings.simplefilter("ignore")
            try:
                for statement in before:
                    exec(statement.strip(), names)
                eval(last.strip(), names)
            except gpupy.FallbackError as error:
                return str(error).split("`")[1]
    return None


def is_function(value):
    return callable(value) and not isinstance(value, (type, np.ufunc))


def public(module):
    """The names that a module of NumPy's gives to programs, as it says so itself."""
    return sorted(module.__all__)


def table(title, what, count, rows):
    """A section of the page."""
    head = f"| {what} | call | how |\n|---|---|---|"
    lines = [f"| `{name}` | {f'`{call}`' if call else ''} | {how} |" for name, call, how in rows]
    return "\n".join([f"## {title}\n", count, "", head, *lines, ""])


def outcome(module, name, call):
    """The outcome of a call."""
    if not call or falls(call) is None:
        if module != "numpy":
            rest = OF_NAMES.get(module, {}).get(name)
            return f"recorded; {rest}{sooner(name)}" if rest else "recorded"
        return "computes nothing" if name in WITHOUT_ELEMENTS else f"recorded{sooner(name)}"
    return f"NumPy's: {OF_NAMES[module][name]}"


def sooner(name):
    """Where NumPy does a recorded function sooner, and so does it unless that is forbidden."""
    if name in ON_CPU:
        return f"; on `cpu` NumPy does it: {ON_CPU[name]}"
    return f"; of up to {FEW[name]} elements in memory NumPy does it" if name in FEW else ""


def functions(module):
    """The functions of a module that has calls: name, call and outcome."""
    found, listed = importlib.import_module(module), calls(module)
    names = [name for name in public(found) if is_function(getattr(found, name))]
    return [(name, listed[name], outcome(module, name, listed[name])) for name in names]


def ufuncs():
    """The ufuncs of NumPy's namespace: name, call and outcome."""
    rows = []
    for name in public(np):
        if isinstance(value := getattr(np, name), np.ufunc):
            call = call_of_ufunc(name, value.nin)
            how = outcome("numpy", name, call) if call else f"NumPy's: {OF_NAMES['numpy'][name]}"
            rows.append((name, call, how))
    return rows


def count(rows, how):
    return sum(row[2].startswith(how) for row in rows)


def others():
    """The modules of which every function is NumPy's, and the names that are no functions."""
    parts = ["## Other modules and names\n"]
    for module, reason in OF_MODULES.items():
        names = ", ".join(f"`{name}`" for name in public(importlib.import_module(module)))
        parts.append(f"`{module}` is NumPy's: {reason}. {names}.\n")
    values = [
        name for name in public(np) if not is_function(value := getattr(np, name)) and not _is_ufunc(value)
    ]
    names = ", ".join(f"`{name}`" for name in values)
    parts.append(f"Of `numpy` itself these are classes, constants and modules: {names}.\n")
    return "\n".join(parts)


def _is_ufunc(value):
    return isinstance(value, np.ufunc)


def text():
    """The page."""
    rows, many = functions("numpy"), ufuncs()
    recorded, nothing = count(rows, "recorded"), count(rows, "computes nothing")
    series = ".".join(np.__version__.split(".")[:2])
    head = f"""# Recorded functions

Written by `cargo xtask coverage`, with NumPy {series} and the driver `cpu`; do not edit. Each function is
called with float64 arrays in its most common form, with few elements and many, while fallbacks are
forbidden. `a`, `b` and `x` are vectors, `m` and `m2` matrices, `i` integers, `mask` bools, `z` complex
numbers, `c` rows of three; `s` and `h` are invertible matrices, `h` a symmetric one, `t` many of those
with three rows.

Drivers compute *recorded* functions, now or when the value is needed. A function that *computes nothing*
reads dtypes, shapes and settings, or reads and writes text and files. All others are NumPy's, counted with
the line of the program (`gpupy.stats().fallback_sites`), and forbidden by `GPUPY_FALLBACK=error`. Where
NumPy does a recorded function sooner than drivers, it does so, is counted, and gives way to drivers under
`GPUPY_FALLBACK=warn` and `error`.
"""
    said = f"Of {len(rows)} functions {recorded} are recorded, and {nothing} compute nothing."
    parts = [head, table("Functions of `numpy`", "function", said, rows)]
    said = f"Of {len(many)} ufuncs {count(many, 'recorded')} are recorded."
    parts.append(table("Ufuncs", "ufunc", said, many))
    for module in ("numpy.linalg", "numpy.fft"):
        rows = functions(module)
        said = f"Of {len(rows)} functions {count(rows, 'recorded')} are recorded."
        parts.append(table(f"`{module}`", "function", said, rows))
    return "\n".join([*parts, others()])


def main():
    gpupy._gpupy.reconfigure("cpu", strict=False)
    written = text()
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() != written:
            sys.exit(
                f"{PAGE.name} is not as it would be written; run `cargo xtask coverage` and read the diff"
            )
    else:
        PAGE.write_text(written)


if __name__ == "__main__":
    main()
