"""NumPy that runs lazily on any GPU: ``import gpupy as np``.

Array operations on numbers and bools are recorded and evaluated on a driver when a value is needed;
everything else of NumPy's namespace is here too, and is NumPy's.
"""

import importlib as _importlib
import sys as _sys

from ._session import interpreter as _interpreter

# isort: split
import numpy as _numpy

from . import _libraries
from ._fallback.policy import FallbackError, FallbackWarning, fallback
from ._gpupy import (
    DriverError,
    Explanation,
    current_driver,
    drivers,
    evaluate,
    explain,
    ndarray,
    scalar,
    trim,
    ufunc,
    use,
)
from ._methods import methods as _methods_of_arrays
from ._namespace import namespace as _names
from ._namespace import rust_calls as _rust_calls
from ._numpys import submodules as _submodules_of_numpys
from ._program.drivers import driver, info, reset_stats, stats
from ._program.imports import install, load_ipython_extension, unload_ipython_extension
from ._program.imports import is_programs as _is_programs
from ._session import old_names as _old_names
from ._session import variables as _variables

_VERSION = "0.1.0"

gpufloat32 = _numpy.float32
"""The thesis's name of float32."""

_OURS = [
    "DriverError",
    "Explanation",
    "FallbackError",
    "FallbackWarning",
    "current_driver",
    "driver",
    "drivers",
    "evaluate",
    "explain",
    "fallback",
    "gpufloat32",
    "info",
    "install",
    "load_ipython_extension",
    "ndarray",
    "reset_stats",
    "scalar",
    "stats",
    "trim",
    "ufunc",
    "unload_ipython_extension",
    "use",
]

# Not with the package, whose import is to take as long as NumPy's.
_LATER = {
    "array_api": ".array_api",
    "parallel": ".parallel",
    "vectors": ".vectors",
    "TypedList": "._typed.typed_list:TypedList",
    "accelerator": "._scopes.scope:accelerator",
    "benchmark": "._bench.benchmark:benchmark",
    "jit": "._jit.jit:jit",
    "JitError": "._jit.recording:JitError",
    "from_chunks": "._outside.arrays:from_chunks",
    "loops": "._program.loop_report:loops",
    "open_memmap": "._outside.arrays:open_memmap",
    "progress": "._outside.progress:progress",
    "store": "._outside.storing:store",
    "kernel": "._kernel.kernel:kernel",
    "reduction": "._kernel.reduction:reduction",
    "KernelError": "._kernel.source:KernelError",
    "show_versions": "._program.versions:show_versions",
    **{name: f"._typed.vector:{name}" for name in ("vec2", "vec3", "vec4", "mat2", "mat3", "mat4")},
}

_OURS += _LATER

# The names of `from numpy import *`, and the thesis's dtype.
__all__ = [*_numpy.__all__, "gpufloat32"]

_submodules_of_numpys.install(__name__)
_old_names.install(__name__)
_variables.tell_of_unknown()


def __getattr__(name):
    if name == "__version__":
        # A program that runs unmodified asks for NumPy's, by which it chooses what it does.
        return _numpy.__version__ if _is_programs(_sys._getframe(1)) else _VERSION
    if name in _LATER:
        module, _, inside = _LATER[name].partition(":")
        found = _importlib.import_module(module, __name__)
        return getattr(found, inside) if inside else found
    try:
        value = _names.lookup(name)
    except AttributeError as error:
        words = str(error).replace("module 'numpy'", f"module '{__name__}'", 1)
        if error.name is None:
            # NumPy's own advice for a name that it had once.
            raise AttributeError(words, name=None) from None
        # With the module, of whose names Python suggests one that is alike.
        raise AttributeError(words, name=name, obj=_sys.modules[__name__]) from None
    globals()[name] = value
    return value


def __dir__():
    return sorted({*_OURS, *dir(_numpy)})


# Libraries that are there already are told at once, for which every name has to be found here.
_libraries.install()
