"""Arrays of other libraries' tensors, by DLPack.

Owns ``from_dlpack``. Not here: our arrays as tensors (``_methods/exchange.py``).
"""

from typing import Any

import numpy as np

from .._classes import subclass
from .._fallback.hosts import to_host
from .._gpupy import adopt, ndarray, retyped, scalar, wrap

# DLPack's codes of dtypes that begin alike.
DLPACK_UINT, DLPACK_BFLOAT = 1, 4


class _AsUint16:
    """A tensor of bfloat16, which NumPy does not import, as one of uint16."""

    def __init__(self, tensor: Any):
        self.tensor = tensor
        self.is_bfloat16 = False
        self.__dlpack_device__ = tensor.__dlpack_device__

    def __dlpack__(self, **kwargs: Any) -> Any:
        capsule = self.tensor.__dlpack__(**kwargs)
        self.is_bfloat16 = retyped(capsule, DLPACK_BFLOAT, DLPACK_UINT)
        return capsule


def _bfloat16_of_dlpack(tensor: Any, asked: dict[str, Any]) -> Any:
    """NumPy's array over a tensor of bfloat16; ``None`` of others."""
    if not hasattr(tensor, "__dlpack__"):
        return None
    disguised = _AsUint16(tensor)
    try:
        made = np.from_dlpack(disguised, **asked)
    except RuntimeError:
        return None
    return made.view("bfloat16") if disguised.is_bfloat16 else None


def from_dlpack(x, /, *, device=None, copy=None):
    x = subclass.plain(x)
    if isinstance(x, ndarray) and x._lazy and device in (None, "cpu"):
        return x.copy() if copy else x[...]
    # An element is a tensor without axes, which to NumPy its own scalar is not.
    given = to_host(x._array() if type(x) is scalar else np.asarray(x) if isinstance(x, np.generic) else x)
    # NumPy 2.0 takes neither keyword.
    asked = {name: v for name, v in (("device", device), ("copy", copy)) if v is not None}
    try:
        made = np.from_dlpack(given, **asked)
    except RuntimeError:
        made = _bfloat16_of_dlpack(given, asked)
        if made is None:
            raise
    return adopt(made) if copy is False else wrap(made)


FUNCTIONS = {"from_dlpack": from_dlpack}
