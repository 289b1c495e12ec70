"""The pairs of NumPy's ufuncs, or of another library's, and ours, which have the texts of theirs.

Owns ``ufunc_of``. Not here: calls of ufuncs (in Rust), their methods (``_compute/ufunc_methods.py``).
"""

from typing import Any

from .._gpupy import ufunc
from .texts import TextOf

ufunc.__doc__ = TextOf(ufunc.__doc__, lambda own: own._numpy.__doc__)  # type: ignore[assignment]

# By the id of NumPy's object: ours, and that object.
_pairs: dict[int, tuple[ufunc, Any]] = {}


def ufunc_of(value: Any) -> ufunc:
    """Our ufunc for one of NumPy's, or of another library's."""
    found = _pairs.get(id(value))
    if found is None:
        # The pair keeps the original alive, so that its id names it for ever.
        found = _pairs[id(value)] = (ufunc(value.__name__, value), value)
    return found[0]
