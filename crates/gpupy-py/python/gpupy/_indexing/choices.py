"""Elements that are chosen from several arrays by their number, with NumPy's signature.

Not here: by conditions (``select.py``), by places in one array (``index_arrays.py``).
"""

from typing import Any

import numpy as np

from .._classes.subclass import has_own
from .._creation.conversion import asanyarray
from .._creation.orders import in_c_order
from .._gpupy import call, ndarray
from .._numpys import sooner

# NumPy's limit in some releases.
_MOST = 32


def choose(a, choices, out=None, mode="raise"):
    if has_own(a, "choose"):
        return a.choose(choices, out=out, mode=mode)
    made = _chosen(a, choices, mode) if out is None else None
    given = {} if out is None else {"out": out}
    return call("choose", np.choose, (a, choices), {**given, "mode": mode}) if made is None else made


def choose_method(self, *choices, out=None, mode="raise"):
    """The method, which takes one sequence of choices, or each of them."""
    all_of = choices[0] if len(choices) == 1 else choices
    made = _chosen(self, all_of, mode) if out is None else None
    given = {} if out is None else {"out": out}
    return (
        call("choose", np.ndarray.choose, (self, *choices), {**given, "mode": mode}) if made is None else made
    )


def _chosen(a: Any, choices: Any, mode: Any) -> Any:
    """The elements, or ``None`` where NumPy has to judge the arguments."""
    if (
        type(a) is not ndarray
        or not a._lazy
        or a.dtype.kind not in "iu"
        or a.dtype == np.uint64
        or mode not in ("raise", "wrap", "clip")
    ):
        return None
    if type(choices) not in (list, tuple, ndarray) or (type(choices) is ndarray and not choices.ndim):
        return None
    if not 0 < len(choices) <= _MOST:
        return None
    if sooner.is_numpys("choose", a, choices if type(choices) is not ndarray else (choices,)):
        return None
    arrays = [asanyarray(each) for each in choices]
    if not all(type(each) is ndarray and each._lazy for each in arrays):
        return None
    try:
        # Python's numbers take the dtype of others.
        given = (each if type(each) in (int, float, complex) else None for each in choices)
        dtype = np.result_type(
            *(a.dtype if each is None else each for a, each in zip(arrays, given, strict=True))
        )
        shape = np.broadcast_shapes(a.shape, *(each.shape for each in arrays))
    except (TypeError, ValueError):
        return None
    number = len(arrays)
    if mode == "raise":
        if 0 not in shape and ((a < 0) | (a >= number)).any():
            # NumPy has the words.
            np.choose([1], [0])
    elif mode == "wrap":
        a = a.astype(np.int64) % number
    made = np.broadcast_to(arrays[-1].astype(dtype, copy=False), shape)
    for at in range(number - 2, -1, -1):
        is_this = a <= 0 if at == 0 else a == at
        made = np.where(is_this, arrays[at].astype(dtype, copy=False), made)
    made = in_c_order(made.copy() if number == 1 else made)
    return made if made.ndim else made[()]


FUNCTIONS = {"choose": choose}
