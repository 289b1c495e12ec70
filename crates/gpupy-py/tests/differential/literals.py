"""Literals of a statement: dtypes, scalars, arrays of a few elements or of a threshold's size.

Not here: what names a variable (``operands.py``); where thresholds are from (``thresholds.py``).
"""

import numpy as np

from .thresholds import SIZES, up_to

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
COMPLEX = "complex64 complex128".split()
CASTINGS = ['"unsafe"', '"same_kind"', '"safe"', '"no"', '"equiv"']
ORDERS = ['"C"', '"F"', '"A"', '"K"']
_FLOATS = "0.0 1.0 -1.0 2.5 -3.0 7.0 0.125 -0.0 100.0 np.nan np.inf -np.inf".split()
_TAME = "0.0 1.0 -1.0 2.5 -3.0 7.0 0.125 12.0 -0.5 100.0 3.0".split()
_INTS = [0, 1, 2, -1, 3, 7, -5, 100, 5, 4]
_SHAPES = [(4,), (2, 3), (3,), (), (1, 3), (3, 4), (2, 3, 4), (7,), (2, 1, 3), (0,), (3, 0), (20,), (1,)]
_SCALARS = "2 1 0 -1 3 0.5 2.5 -3.0 True False 200 70000 1e300 np.nan".split()
_TYPED = (
    "np.float32(1.5) np.float64(2.5) np.float16(0.5) np.int8(3) np.int64(2) np.uint8(200) np.int32(-2) "
    "np.bool(True) np.uint64(5) 1j np.complex64(1+2j)"
).split()


def literal(draft):
    """An array of a few elements: of numbers from a list, in a stride from a start."""
    shape = draft.choose(_SHAPES)
    dtype = draft.choose(DTYPES if not draft.chance(8) else COMPLEX)
    start, step = draft.below(12), 1 + draft.below(11)
    if dtype.startswith("bool"):
        pool = ["True", "False", "False", "True", "True"]
    elif dtype.startswith("uint"):
        pool = [str(abs(n)) for n in _INTS] + [str(np.iinfo(dtype).max)]
    elif dtype.startswith("int"):
        ends = np.iinfo(dtype)
        pool = [str(n) for n in _INTS] + [str(ends.min), str(ends.max)]
    elif dtype.startswith("complex"):
        pool = ["1+2j", "0j", "-1j", "2.5", "-3+0.5j", "7-1j"]
    else:
        pool = _TAME if draft.below(3) else _FLOATS
    size = int(np.prod(shape))
    words = ", ".join(pool[(start + i * step) % len(pool)] for i in range(size))
    made = f"np.array([{words}], dtype=np.{dtype})"
    return made if len(shape) == 1 else f"{made}.reshape({tuple_of(shape)})"


def counted(draft):
    """More elements than fit into a tiny block, counted."""
    rows, dtype = draft.choose([3, 20, 40]), draft.choose(["int32", "float32", "float64", "int64"])
    return f"np.arange({rows * 70}, dtype=np.{dtype}).reshape({rows}, 70)"


# How far a size goes, and how often in a hundred: what takes longer comes less often.
_REACHES = [(70, 70), (300, 90), (2_100, 97), (17_000, 99), (1 << 22, 100)]
_SPREADS = ["", "", " % 101", " * 37 % 101 - 50", " % 7 - 3", " // 3 % 97"]


def near(draft):
    """A size at a threshold of the code, or one beside it, that the draft has room for."""
    drawn = draft.below(100)
    reach = next(reach for reach, below in _REACHES if drawn < below)
    return SIZES[draft.below(up_to(min(reach, draft.most)))]


def sized(draft):
    """An array one of whose extents, or all of whose elements, are as many as a threshold says."""
    n, kind = near(draft), draft.below(10)
    few = draft.choose([2, 3, 1, 5])
    if kind == 4:
        shape = (n, few)
    elif kind == 5:
        shape = (few, n)
    elif kind == 6:
        shape = (2, n, few)
    elif kind == 7:
        row = draft.choose([2, 3, 7, 8, 16, 17, 64, 65])
        shape = (max(n // row, 1), row)
    else:
        shape = (n,)
    size = int(np.prod(shape))
    if size > draft.most:
        shape, size = (n,), n
    dtype = draft.choose(DTYPES if not draft.chance(8) else COMPLEX)
    kind = draft.below(6)
    if kind == 5:
        start = draft.choose(["0", "1", "2.5", "True"])
        return f"np.full({tuple_of(shape)}, {start}, dtype=np.{dtype})"
    numbers = f"np.arange({size})"
    if kind == 4:
        numbers = f"np.arange({size - 1}, -1, -1)"
    numbers = f"({numbers}{draft.choose(_SPREADS)})"
    if dtype.startswith("bool"):
        made = f"({numbers} % 3 == 1)"
    elif dtype[0] in "fc":
        made = f"({numbers} * 0.25).astype(np.{dtype})"
    else:
        made = f"{numbers}.astype(np.{dtype})"
    return made if len(shape) == 1 else f"{made}.reshape({tuple_of(shape)})"


def scalar(draft):
    return draft.choose(_TYPED) if draft.chance(4) else draft.choose(_SCALARS)


def tuple_of(numbers):
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"
