"""``a.flags``: how the elements lie in memory.

Owns ``flags``. Not here: strides (in Rust).
"""

from collections.abc import Sequence
from typing import Any

from .._gpupy import ndarray

_SHORT = {
    "C": "c_contiguous",
    "CONTIGUOUS": "c_contiguous",
    "C_CONTIGUOUS": "c_contiguous",
    "F": "f_contiguous",
    "FORTRAN": "f_contiguous",
    "F_CONTIGUOUS": "f_contiguous",
    "O": "owndata",
    "OWNDATA": "owndata",
    "W": "writeable",
    "WRITEABLE": "writeable",
    "A": "aligned",
    "ALIGNED": "aligned",
    "X": "writebackifcopy",
    "WRITEBACKIFCOPY": "writebackifcopy",
    "B": "behaved",
    "BEHAVED": "behaved",
    "CA": "carray",
    "CARRAY": "carray",
    "FA": "farray",
    "FARRAY": "farray",
    "FNC": "fnc",
    "FORC": "forc",
}
_SHOWN = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")


def _contiguous(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    if 0 in shape:
        return True
    expected = itemsize
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1:
            if stride != expected:
                return False
            expected *= n
    return True


class flags:
    """The flags of an array, by NumPy's names."""

    aligned = True
    writebackifcopy = False

    def __init__(self, array: ndarray) -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        return self._array._c_contiguous

    @property
    def f_contiguous(self) -> bool:
        a = self._array
        if a.ndim < 2:
            return a._c_contiguous
        return _contiguous(a.shape[::-1], a.strides[::-1], a.itemsize)

    contiguous = c_contiguous

    @property
    def owndata(self) -> bool:
        return bool(self._array._owns)

    @property
    def writeable(self) -> bool:
        return self._array._writable

    @writeable.setter
    def writeable(self, value: Any) -> None:
        self._array.setflags(write=bool(value))

    @property
    def behaved(self) -> bool:
        return self.writeable

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    fortran = fnc

    @property
    def forc(self) -> bool:
        return self.f_contiguous or self.c_contiguous

    @property
    def carray(self) -> bool:
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        return self.behaved and self.fnc

    @property
    def num(self) -> int:
        bits = (("c_contiguous", 1), ("f_contiguous", 2), ("owndata", 4), ("aligned", 256))
        return sum(bit for name, bit in (*bits, ("writeable", 1024)) if getattr(self, name))

    def __getitem__(self, key: str) -> bool:
        if key not in _SHORT:
            raise KeyError("Unknown flag")
        return getattr(self, _SHORT[key])

    def __setitem__(self, key: str, value: Any) -> None:
        if _SHORT.get(key) != "writeable":
            raise KeyError("Unknown flag")
        self.writeable = value

    def __eq__(self, other: object) -> bool:
        return getattr(other, "num", None) == self.num

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "".join(f"  {name} : {self[name]}\n" for name in _SHOWN)
