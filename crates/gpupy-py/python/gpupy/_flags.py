"""``a.flags``: how the elements lie in memory.

Owns ``flags``. Not here: strides (in Rust).
"""

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


def _contiguous(shape, strides, itemsize):
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

    def __init__(self, array):
        self._array = array

    @property
    def c_contiguous(self):
        a = self._array
        return _contiguous(a.shape, a.strides, a.itemsize)

    @property
    def f_contiguous(self):
        a = self._array
        return _contiguous(a.shape[::-1], a.strides[::-1], a.itemsize)

    contiguous = c_contiguous

    @property
    def owndata(self):
        a = self._array
        return a.base is None if a._lazy else bool(a._host().flags.owndata)

    @property
    def writeable(self):
        return self._array._writable

    @writeable.setter
    def writeable(self, value):
        self._array.setflags(write=bool(value))

    @property
    def behaved(self):
        return self.writeable

    @property
    def fnc(self):
        return self.f_contiguous and not self.c_contiguous

    fortran = fnc

    @property
    def forc(self):
        return self.f_contiguous or self.c_contiguous

    @property
    def carray(self):
        return self.behaved and self.c_contiguous

    @property
    def farray(self):
        return self.behaved and self.fnc

    @property
    def num(self):
        bits = (("c_contiguous", 1), ("f_contiguous", 2), ("owndata", 4), ("aligned", 256))
        return sum(bit for name, bit in (*bits, ("writeable", 1024)) if getattr(self, name))

    def __getitem__(self, key):
        if key not in _SHORT:
            raise KeyError("Unknown flag")
        return getattr(self, _SHORT[key])

    def __setitem__(self, key, value):
        if _SHORT.get(key) != "writeable":
            raise KeyError("Unknown flag")
        self.writeable = value

    def __eq__(self, other):
        return getattr(other, "num", None) == self.num

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return "".join(f"  {name} : {self[name]}\n" for name in _SHOWN)
