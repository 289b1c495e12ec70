"""Libraries that ask arrays for their namespace: SciPy, scikit-learn, the package that both carry, xarray.

Owns ``EXCHANGED``: by the name of a module, what is done there. NumPy's arrays and scalars beside ours (a
truth value that is known, a list that the library made an array of) do not make two namespaces: ours takes
them. xarray indexes what has a namespace by the array API's rules; ours has NumPy's. Not here: when this is
done (``__init__.py``), the answer of an array (``_methods/methods.py``).
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._gpupy import ndarray, scalar
from . import calls


def _without_numpys(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def array_namespace(*arrays: Any, **kwargs: Any) -> Any:
        if any(map(_is_ours, arrays)):
            arrays = tuple(x for x in arrays if _is_ours(x) or not isinstance(x, (np.ndarray, np.generic)))
        return theirs(*arrays, **kwargs)

    return array_namespace


def _is_ours(value: Any) -> bool:
    """Whether it is an array or a scalar of ours; functions of the namespace give instances of a subclass."""
    return issubclass(type(value), (ndarray, scalar))


def _by_numpys_rules(theirs: Callable[..., Any]) -> Callable[..., Any]:
    adapter = vars(sys.modules[theirs.__module__])["NdArrayLikeIndexingAdapter"]

    @functools.wraps(theirs)
    def as_indexable(array: Any) -> Any:
        return adapter(array) if type(array) is ndarray else theirs(array)

    return as_indexable


_HELPERS = "array_api_compat.common._helpers"
EXCHANGED: dict[str, Callable[[], None]] = {
    **{
        name: functools.partial(calls.put_all, name, "array_namespace", _without_numpys)
        for name in (_HELPERS, f"scipy._lib.{_HELPERS}", f"sklearn.externals.{_HELPERS}")
    },
    "xarray.core.indexing": functools.partial(
        calls.put_all, "xarray.core.indexing", "as_indexable", _by_numpys_rules
    ),
}
