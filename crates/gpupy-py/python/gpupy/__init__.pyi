"""gpupy's types: NumPy's functions, and gpupy's own names.

To a type checker the arrays, scalars and ufuncs of gpupy are NumPy's, in whose place programs use them: so
NumPy's own stubs describe its functions; code for NumPy's arrays takes gpupy's.
"""

# Ours stand before NumPy's for Mypy, which keeps the first of a name, and behind them for Pyright.
from ._ours import *
from numpy import *  # type: ignore[no-redef]
from ._ours import *

import numpy as _numpy

from . import array_api as array_api
from . import parallel as parallel
from . import vectors as vectors
from ._bench.benchmark import benchmark as benchmark
from ._fallback.policy import FallbackError as FallbackError
from ._fallback.policy import FallbackWarning as FallbackWarning
from ._fallback.policy import fallback as fallback
from ._jit.jit import jit as jit
from ._jit.recording import JitError as JitError
from ._kernel.kernel import kernel as kernel
from ._kernel.reduction import reduction as reduction
from ._kernel.source import KernelError as KernelError
from ._outside.arrays import from_chunks as from_chunks
from ._outside.arrays import open_memmap as open_memmap
from ._outside.progress import progress as progress
from ._outside.storing import store as store
from ._scopes.scope import accelerator as accelerator
from ._typed.typed_list import TypedList as TypedList
from ._typed.vector import mat2 as mat2
from ._typed.vector import mat3 as mat3
from ._typed.vector import mat4 as mat4
from ._typed.vector import vec2 as vec2
from ._typed.vector import vec3 as vec3
from ._typed.vector import vec4 as vec4
from ._gpupy import DriverError as DriverError
from ._gpupy import Explanation as Explanation
from ._gpupy import current_driver as current_driver
from ._gpupy import drivers as drivers
from ._gpupy import evaluate as evaluate
from ._gpupy import explain as explain
from ._gpupy import trim as trim
from ._gpupy import use as use
from ._program.imports import install as install
from ._program.imports import load_ipython_extension as load_ipython_extension
from ._program.imports import unload_ipython_extension as unload_ipython_extension
from ._program.loop_report import loops as loops
from ._program.drivers import driver as driver
from ._program.drivers import reset_stats as reset_stats
from ._program.drivers import stats as stats
from ._program.versions import show_versions as show_versions

gpufloat32 = _numpy.float32
scalar = _numpy.generic
