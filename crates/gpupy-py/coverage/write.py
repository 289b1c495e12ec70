"""Which functions are recorded: ``python coverage/write.py`` writes `docs/coverage.md`.

Each function is called with arrays of gpupy while fallbacks are forbidden (``calls.py``); what goes to NumPy gets
its reason (``reasons.py``). With ``--check`` nothing is written, and a page that is not as it would be written is an
error. Not here: whether values are NumPy's (the tests).
"""

import contextlib
import importlib
import io
import pathlib
import sys
import warnings

import numpy as np
from calls import MODULES, arrays, call_of_ufunc, calls
from reasons import OF_MODULES, OF_NAMES, OTHERWISE

import gpupy

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "coverage.md"
# Few elements are computed at once, many are recorded: both ways have to be ours.
SIZES = (12, 120)
# What takes no elements, by NumPy's own words: dtypes, shapes, settings, text and files.
WITHOUT_ELEMENTS = frozenset(
    "array2string array_repr array_str base_repr binary_repr broadcast_shapes busday_count busday_offset can_cast "
    "common_type datetime_as_string datetime_data einsum_path format_float_positional format_float_scientific "
    "from_dlpack frombuffer fromfile fromiter frompyfunc fromregex fromstring genfromtxt get_include "
    "get_printoptions getbufsize geterr geterrcall info is_busday iscomplexobj isdtype isfortran isrealobj isscalar "
    "issubdtype iterable load loadtxt may_share_memory min_scalar_type mintypecode ndim nested_iters printoptions "
    "promote_types result_type save savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall "
    "shape shares_memory show_config show_runtime size test typename asmatrix require".split()
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


def section(title, module):
    """The functions of a module that has calls, one a line."""
    found = importlib.import_module(module)
    listed, rows, ours = calls(module), [], 0
    names = [name for name in public(found) if is_function(getattr(found, name))]
    for name in names:
        call = listed[name]
        fallen = falls(call) if call else None
        ours += fallen is None
        if fallen is not None:
            how = f"NumPy's: {OF_NAMES[module].get(name, OTHERWISE[module])}"
        elif module == "numpy" and name in WITHOUT_ELEMENTS:
            how = "computes nothing"
        else:
            how = "recorded"
        rows.append(f"| `{name}` | {'`' + call + '`' if call else ''} | {how} |")
    head = f"## {title}\n\n{ours} of {len(names)} compute nothing in NumPy.\n\n| function | call | how |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n", ours, len(names)


def ufuncs():
    """The ufuncs of NumPy's namespace, one a line."""
    rows, ours = [], 0
    names = [name for name in public(np) if isinstance(getattr(np, name), np.ufunc)]
    for name in names:
        call = call_of_ufunc(name, getattr(np, name).nin)
        fallen = falls(call) if call else name
        ours += fallen is None
        reason = OF_NAMES["numpy"].get(name, OTHERWISE["numpy"])
        rows.append(
            f"| `{name}` | {'`' + call + '`' if call else ''} | {'recorded' if fallen is None else reason_of(reason)} |"
        )
    head = f"## Ufuncs\n\n{ours} of {len(names)} are recorded.\n\n| ufunc | call | how |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def reason_of(reason):
    return f"NumPy's: {reason}"


def others():
    """The modules of which every function is NumPy's, and the names that are no functions."""
    parts = ["## Other modules\n"]
    for module, reason in OF_MODULES.items():
        names = public(importlib.import_module(module))
        parts.append(f"`{module}` is NumPy's: {reason}. " + ", ".join(f"`{name}`" for name in names) + ".\n")
    values = [
        name for name in public(np) if not callable(getattr(np, name)) or isinstance(getattr(np, name), type)
    ]
    parts.append(
        "Of `numpy` itself these are classes, constants and modules, and NumPy's own objects where gpupy has none of "
        "its own: " + ", ".join(f"`{name}`" for name in values) + ".\n"
    )
    return "\n".join(parts)


def text():
    """The page."""
    functions, ours, all_of_them = section("Functions", "numpy")
    series = ".".join(np.__version__.split(".")[:2])
    return f"""# What is recorded

Written by `cargo xtask coverage`, with NumPy {series} and the driver `cpu`; do not edit. Each function is called with float64
arrays as programs most often call it, few elements and many, while fallbacks are forbidden. `a`, `b` and `x` are vectors,
`m` and `m2` matrices, `i` integers, `mask` bools, `z` complex numbers, `c` rows of three, `s` and `h` matrices that have
an inverse, `h` a symmetric one.

*Recorded* is what drivers compute, now or when its value is needed. What *computes nothing* looks at dtypes, shapes and
settings, or reads and writes text and files. All else is NumPy's, counted with the line of the program
(`gpupy.stats().fallback_sites`), and forbidden by `GPUPY_FALLBACK=error`. Of NumPy's {all_of_them} functions {ours} compute
nothing in NumPy.

{functions}
{ufuncs()}
{section("`numpy.linalg`", "numpy.linalg")[0]}
{section("`numpy.fft`", "numpy.fft")[0]}
{others()}"""


def main():
    gpupy._gpupy.reconfigure("cpu", strict=False)
    written = text()
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() != written:
            sys.exit(
                f"{PAGE.name} is not as it would be written; run `cargo xtask coverage` and read the diff"
            )
        return
    PAGE.write_text(written)


if __name__ == "__main__":
    main()
