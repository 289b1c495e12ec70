"""The names of the environment's variables: one that nothing reads is said, once, when gpupy is imported.

Owns ``VARIABLES``. Not here: their values, which are refused where they are read (``_fallback/policy.py``,
the engine's settings), and a device that a driver has not (``session/context.rs``).
"""

import os
import warnings

# What programs set; others are the tests' own.
_SIZES = "BLOCK_BYTES DEVICE_BYTES HOST_BYTES THREADS"
_NAMES = f"CACHE_DIR DEVICE DRIVER FALLBACK LIBRARIES LOOPS PLACEMENT TRACE {_SIZES}"
VARIABLES = frozenset(f"GPUPY_{name}" for name in _NAMES.split())
_OF_TESTS = frozenset(f"GPUPY_{name}" for name in "BLESS DIFFERENTIAL GUARD TEST_PLUGIN".split())
# How alike a name is to the one that was meant: all share their beginning.
_ALIKE = 0.75


def tell_of_unknown() -> None:
    """Warns of each variable whose name looks like one of gpupy's, and is none."""
    for name in sorted(os.environ):
        if name.startswith("GPUPY_") and name not in VARIABLES and name not in _OF_TESTS:
            # The comparison of words is imported only for a mistyped name.
            import difflib

            alike = difflib.get_close_matches(name, sorted(VARIABLES), 1, _ALIKE)
            said = f"did you mean `{alike[0]}`?" if alike else f"there are {', '.join(sorted(VARIABLES))}"
            warnings.warn(f"gpupy reads no variable `{name}`; {said}", UserWarning, stacklevel=3)
