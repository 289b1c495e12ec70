"""The operands for the placeholders of a statement.

Owns ``GAPS``: for each gap a function of the draft that gives its text. Invariant: texts are literals or
names of variables, so that a program is its own script. Not here: literals (``literals.py``) and keys
(``keys.py``).
"""

import numpy as np

from .keys import any_key, basic, indices, key, mask, mixed
from .literals import CASTINGS, COMPLEX, DTYPES, ORDERS, counted, literal, scalar, sized, tuple_of
from .products import product
from .words import WORDS

_CTYPES = {
    "bool": "bool",
    "float32": "float",
    "float64": "double",
    **{f"{u}int{bits}": f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)},
}


def _array(*kinds):
    def gap(draft):
        return draft.array(lambda a: not kinds or a.dtype.kind in kinds)

    return gap


def _small(*kinds):
    """An array that may be multiplied by another, each element by each."""

    def gap(draft):
        return draft.array(lambda a: a.size < 100 and (not kinds or a.dtype.kind in kinds))

    return gap


def _brief(*kinds):
    """An array that may be made a list, or a factor of a product."""

    def gap(draft):
        return draft.array(lambda a: a.size < 3000 and (not kinds or a.dtype.kind in kinds))

    return gap


def _broadcasts(shape):
    def fits(a):
        try:
            return np.broadcast_shapes(shape, a.shape) is not None
        except ValueError:
            return False

    return fits


def _widens(shape):
    return lambda a: _broadcasts(shape)(a) and np.broadcast_shapes(shape, a.shape) == shape


def _like(draft):
    """An array that broadcasts with the last one; seldom any."""
    shape = draft.last.shape
    return draft.array(_broadcasts(shape)) if draft.below(12) else draft.array()


def _into(draft):
    """An array that can be written into the last one; seldom any."""
    return draft.array(_widens(draft.last.shape)) if draft.below(12) else draft.array()


def _out(draft):
    """An array with the last one's shape; the gaps behind it still speak of the last one."""
    last = draft.last
    name, last_name = draft.array(lambda a: a.shape == last.shape), draft.last_name
    draft.last, draft.last_name = last, last_name
    return name


def _apart(draft):
    """As ``_out``, of memory that no other variable has: NumPy's own result is open otherwise."""
    last, name = draft.last, draft.last_name
    others = [draft.space[n] for n in draft.names(lambda a: True)]

    def fits(a):
        return a.shape == last.shape and not any(a is not b and np.may_share_memory(a, b) for b in others)

    found = draft.array(fits)
    draft.last, draft.last_name = last, name
    return found


def _operand(draft):
    return _like(draft) if draft.below(3) else scalar(draft)


def _value(draft):
    """A source of a write: an array, a scalar, a list."""
    kind = draft.below(8)
    if kind == 7:
        return draft.choose(["[1, 2, 3]", "[5]", "[[1], [0]]", "(0.5, 1.5, 2.5)", "[True, False, True]"])
    return _into(draft) if kind > 3 else scalar(draft)


def _axis(draft):
    rank = draft.last.ndim
    if not rank or draft.chance(25):
        return str(draft.choose([0, rank, -rank - 1]))
    return str(draft.below(2 * rank) - rank)


def _axes(draft):
    rank = draft.last.ndim
    if not draft.below(3):
        return "None"
    if rank > 1 and draft.chance(3):
        count = 1 + draft.below(rank)
        return tuple_of(_permuted(draft, rank)[:count])
    return _axis(draft)


def _permuted(draft, n):
    left = list(range(n))
    return [left.pop(draft.below(len(left))) for _ in range(n)]


def _permutation(draft):
    return tuple_of(_permuted(draft, draft.last.ndim))


def _number(*numbers):
    return lambda draft: str(draft.choose(numbers))


def _shape(draft):
    """A shape with as many elements as the last array; seldom another."""
    size = draft.last.size
    shapes = [(-1,), (size,), (1, size), (2, -1), (-1, 3), (2, 2, -1), (size, 1)]
    fits = [shape for shape in shapes if _divides(size, shape)]
    return tuple_of(draft.choose(fits if draft.below(15) else [(5, -1), (7, 11)]))


def _divides(size, shape):
    known = int(np.prod([n for n in shape if n >= 0]))
    return known and size % known == 0


def _wide(draft):
    shape = draft.last.shape
    grown = tuple(3 if n == 1 else n for n in shape)
    return tuple_of(draft.choose([(2, *shape), (3, *shape), grown, (1, *shape), shape]))


def _turned(draft):
    """A view of the last array with its shape, whose elements lie backwards, across, or are all one."""
    array, name = draft.last, draft.last_name
    if not array.ndim:
        return name
    colons = ", ".join(draft.choose(["::-1", ":"]) for _ in array.shape)
    axis = draft.below(array.ndim)
    one = ", ".join([":"] * axis + [f"{max(array.shape[axis] - 1, 0)}:"])
    forms = [f"{name}[::-1]", f"{name}[{colons}]", f"np.broadcast_to({name}[{one}], {tuple_of(array.shape)})"]
    if array.ndim > 1 and array.shape == array.shape[::-1]:
        forms.append(f"{name}.T")
    return draft.choose(forms)


def _alike(draft):
    return f"np.{draft.choose(['', 'u'])}int{8 * draft.last.dtype.itemsize}"


def _export(draft):
    names = draft.exports()
    if not names:
        raise draft.unsuitable
    return draft.choose(names)


def _ctype(draft):
    return f"numpy.ctypeslib.ctypes.c_{_CTYPES[draft.last.dtype.name]}"


def _twin(draft):
    """A dtype of whole numbers to look at the last array's elements as."""
    whole = [np.dtype(d) for d in DTYPES if np.dtype(d).kind in "iu"]
    same = [d for d in whole if d.itemsize == draft.last.dtype.itemsize]
    return f"np.{draft.choose(same if draft.below(3) else whole)}"


def _word(words):
    words = words.split()
    return lambda draft: draft.choose(words)


def _keywords(draft):
    """Keywords of a call of a ufunc."""
    kind = draft.below(7)
    if kind == 0:
        return f", dtype=np.{draft.choose(DTYPES)}"
    if kind == 1:
        return f", out={_out(draft)}"
    if kind == 2:
        return f", out={_apart(draft)}, where={_condition(draft)}"
    if kind == 3:
        return f", out={_out(draft)}, casting={draft.choose(CASTINGS)}"
    if kind == 4:
        return f", order={draft.choose(ORDERS)}"
    if kind == 5:
        return f", dtype=np.{draft.choose(DTYPES)}, casting={draft.choose(CASTINGS)}"
    return ""


def _condition(draft):
    fits = _widens(draft.last.shape)
    return draft.choose([*draft.names(lambda a: a.dtype == bool and fits(a)), "True", "False"])


def _is_lone_zero(a):
    return a.size == 1 and not a.any()


def _ordered(a):
    """Whether sorting has one result: where zeros of either sign end up depends on the algorithm."""
    return a.dtype.kind in "biu" or (a.dtype.kind == "f" and not np.signbit(a[a == 0]).any())


GAPS = {
    "a": _array(),
    "b": _array(),
    "any": any_key,
    "apart": _apart,
    "brief": _brief(),
    "briefint": _brief("i", "u", "b"),
    "briefinexact": _brief("f", "c"),
    # Every pattern of bits is a number of these, and computing keeps it.
    # Writes to a view of a view of another dtype may be refused.
    "bits": lambda draft: draft.array(
        lambda a: a.dtype.kind in "iu" and a.flags.c_contiguous and a.size and a.base is None
    ),
    "axes": _axes,
    # BLAS takes zero times infinity for zero where an operand is one element.
    "factor": lambda draft: draft.array(lambda a: a.size < 100 and not _is_lone_zero(a)),
    "lightfactor": lambda draft: draft.array(
        lambda a: a.dtype.kind in "fc" and a.size < 100 and not _is_lone_zero(a)
    ),
    "axis": _axis,
    "casting": lambda draft: draft.choose(CASTINGS),
    "complex": _array("c"),
    "counted": counted,
    # Results lie in C order, where NumPy's lie as their operands do.
    "dense": lambda draft: draft.array(lambda a: a.flags.c_contiguous and a.size),
    "wider": lambda draft: f"np.{draft.choose(['float32', 'float64', 'complex64', 'complex128'])}",
    "dtype": lambda draft: "np." + draft.choose(DTYPES if not draft.chance(9) else COMPLEX),
    "few": _small("i", "u", "b"),
    "float": _array("f"),
    "ctype": _ctype,
    "export": _export,
    "native": lambda draft: draft.array(lambda a: a.flags.writeable),
    "spread": lambda draft: draft.array(
        lambda a: a.flags.c_contiguous and a.size and a.ndim and a.dtype.name in _CTYPES
    ),
    "fancy": key(mixed),
    "indices": indices,
    "inexact": _array("f", "c"),
    "int": _array("i", "u"),
    "integral": _array("i", "u", "b"),
    "into": _into,
    "k": _number(1, 2, 3, 0),
    "keep": _number(True, False),
    "key": key(basic),
    "keywords": _keywords,
    "light": _small("f", "c"),
    "like": _like,
    # Of more factors, the order decides whether they overflow before a zero comes.
    "handful": lambda draft: draft.array(lambda a: a.size <= 20 and a.dtype.kind in "fc"),
    "literal": literal,
    "sized": sized,
    "turned": _turned,
    # Where elements of a view become larger ones, writes may be refused.
    "alike": _alike,
    "twin": _twin,
    "little": _small(),
    "modest": _small("b", "i", "u", "f"),
    "loose": lambda draft: (
        scalar(draft) if draft.below(2) else draft.choose(["[1, 2, 3]", "[5]", "np.arange(4)"])
    ),
    "mask": mask,
    "n": _number(0, 1, -1, 2, -2, 3),
    "number": _array("i", "u", "f"),
    # Functions that do not check whether they may write.
    "open": lambda draft: draft.array(lambda a: a.flags.writeable and a.dtype.kind in "iub"),
    "order": lambda draft: draft.choose(ORDERS),
    "ordered": lambda draft: draft.array(_ordered),
    "out": _out,
    "permutation": _permutation,
    # Which zero is the greater one depends on how NumPy walks.
    "positive": lambda draft: draft.array(lambda a: a.size < 100 and _ordered(a)),
    "product": product,
    "real": _array("b", "i", "u", "f"),
    # NumPy 2.4 crashes where it writes the running sum of an array without axes into another.
    "rows": lambda draft: draft.array(lambda a: a.ndim and a.dtype.kind in "iub"),
    "same": lambda draft: draft.last_name,
    "scalar": scalar,
    "shape": _shape,
    "value": _value,
    "writable": lambda draft: draft.array(lambda a: a.flags.writeable),
    "whole": lambda draft: draft.array(lambda a: a.dtype.kind in "iu"),
    "wide": _wide,
    "x": _operand,
    "owner": lambda draft: draft.array(lambda a: a.base is None),
    "integer": lambda draft: f"np.{draft.choose(DTYPES[:9])}",
} | {gap: _word(words) for gap, words in WORDS.items()}
