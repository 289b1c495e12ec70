"""Pickles and copies of arrays.

Not here: which old names pickles may have (``_session/old_names.py``).
"""

import pickle
from typing import Any

import numpy as np

from .._gpupy import ndarray, wrap, wrap_constant
from .elements import copy

# The first protocol of pickle whose buffers may go beside the pickle.
OUT_OF_BAND = 5


def reduce(self):
    if type(self) is not ndarray:
        return _reconstructed, (type(self), (0,), b"b"), self._host().__reduce__()[2]
    return _rebuild, (_elements(self) if self._lazy else self._host(),)


def _elements(self) -> np.ndarray[Any, Any]:
    """The elements as NumPy pickles them: in C order, unless the array is contiguous in Fortran's."""
    # What was computed for a part of an array may lie otherwise.
    return np.asarray(self._constant(), order="F" if self.flags.fnc else "C")


def reduce_ex(self, protocol, /):
    """For pickle: from protocol 5 on the elements are a buffer, which may go beside it without a copy.

    A pending array is evaluated. Later writes to it do not reach the buffer.
    """
    if type(self) is not ndarray:
        return self.__reduce__()
    if protocol < OUT_OF_BAND or not self._lazy:
        return reduce(self)
    host = _elements(self)
    if not self.flags.forc:
        return _reduce_apart(self, host)
    order: Any = "F" if self.flags.fnc else "C"
    elements: Any = host.ravel(order=order)
    if elements.dtype.kind == "V":
        # The buffer protocol has no letter for bfloat16.
        elements = elements.view(np.uint16)
    return from_buffer, (pickle.PickleBuffer(elements), host.dtype, host.shape, order)


def _reduce_apart(self, host):
    """Of elements that lie in neither order: NumPy's buffer where they follow each other in a third one,
    if it has one then; otherwise they follow each other in the pickle."""
    axes = sorted(range(self.ndim), key=lambda axis: -self.strides[axis])
    if self.transpose(axes).flags.c_contiguous:
        lying = np.ascontiguousarray(host.transpose(axes))
        return _rebuild, (lying.transpose(np.argsort(axes)),)
    return _from_state, (host.__reduce__()[2],)


def _reconstructed(kind: type[Any], shape: tuple[int, ...], letter: bytes) -> Any:
    """An instance of a subclass that is to get its state."""
    return ndarray.__new__(kind, shape, letter.decode())


def setstate(self, state, /):
    """NumPy's state of an array: its version, shape, dtype, order and elements."""
    made = np.empty(0)
    made.__setstate__(state)
    self._replace(lying_like(wrap(made), made))


def lying_like(array: Any, host: np.ndarray[Any, Any]) -> Any:
    """The array with the strides of NumPy's, which is no new one, where there are no elements."""
    if host.size or not array._lazy:
        return array
    return array._views(np.lib.stride_tricks.as_strided, host.shape, host.strides)._alone()


def _from_state(state: Any) -> Any:
    made = np.empty(0)
    made.__setstate__(state)
    return _rebuild(made)


def _rebuild(array: np.ndarray[Any, Any]) -> Any:
    return lying_like(wrap_constant(array), array)


def from_buffer(buffer: Any, dtype: Any, shape: tuple[int, ...], order: Any) -> Any:
    """An array whose elements are read where the buffer has them: it is given up."""
    if 0 in shape:
        host = np.empty(0, dtype).reshape(shape, order=order)
        return lying_like(wrap_constant(host), host)
    # The result of `frombuffer` keeps the buffer from moving.
    return wrap_constant(np.frombuffer(buffer, dtype).reshape(shape, order=order))


def shallow_copy(self, /):
    return copy(self, "K")


def deepcopy(self, memo):
    if self._lazy:
        return copy(self, "K")
    import copy as copying

    made = wrap(copying.deepcopy(self._host(), memo))
    return made if type(self) is ndarray else made._like(self)
