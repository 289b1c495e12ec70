"""A program on NumPy and on gpupy, line by line.

Owns ``replay``. Where a line's result depends on an order of summation or on a library, it is compared within
its bound, and both go on with gpupy's. Not here: what counts as the same (``closeness.py``).
"""

import re
import warnings

import numpy as np

import gpupy

from .closeness import CHUNKED, astray, difference, exported_difference, kind_difference, settle
from .draft import undefined
from .script import script

# NumPy's warnings for a line; gpupy computes later.
_OF_ELEMENTS = "encountered in"


class Mismatch(AssertionError):
    """NumPy and gpupy disagree; the message has a script that shows it."""

    def __init__(self, program, at, words, opening):
        super().__init__(f"{words}\nafter line {at}:\n\n{script(program, at, opening)}")
        self.at, self.words = at, words


def magnitude(value):
    """The magnitudes of a value's elements, as sums see them."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype == bool:
        return value
    return np.abs(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64))


def _above(value):
    """Magnitudes that only make a product larger; what is no number stays one in every order."""
    sizes = magnitude(value)
    return np.where(np.isfinite(sizes), np.maximum(sizes, 1), 1)


def _below(value):
    """Magnitudes that only make a product smaller; a zero makes it one in every order."""
    sizes = magnitude(value)
    return np.where(sizes > 0, np.minimum(sizes, 1), 1)


def replay(program, opening="", flushes=False):
    """Runs a program on both. ``opening`` is Python that chose the driver, for the script that shows what
    fails; ``flushes`` says that a device takes subnormal numbers for zero."""
    theirs, ours = {"np": np, "numpy": np, "mag": magnitude}, {"np": gpupy, "numpy": np}
    for at, line in enumerate(program.lines):
        scale = _scale(line, theirs)
        exact = _exact(line, theirs, scale)
        refused, said = _run(line, theirs)
        if undefined(said):
            return
        refusal, heard = _run(line, ours)
        # A refused call may have warned before it was checked.
        words = _refusals(refusal, refused) or (None if refused else _warnings(heard, said))
        if words:
            raise Mismatch(program, at, words, opening)
        if flushes and _subnormal(theirs):
            return
        if refused is None and line.made and line.made[0] == "v":
            got, want = ours[line.made], theirs[line.made]
            words = kind_difference(got, want, line.made)
            if line.scale and not words:
                words, theirs[line.made] = settle(got, want, scale)
                words = words or (exact is not None and astray(got, exact, scale)) or None
        words = (
            words or _settle_products(ours, theirs) or (program.eager and _differences(program, ours, theirs))
        )
        if words:
            raise Mismatch(program, at, words, opening)
    words = _differences(program, ours, theirs)
    if words:
        raise Mismatch(program, len(program.lines) - 1, words, opening)


def _settle_products(ours, theirs):
    """Complex products, which NumPy's loops may fuse with sums, are within units as well."""
    for name, want in theirs.items():
        is_complex = isinstance(want, np.ndarray) and want.dtype.kind == "c" and want.flags.writeable
        if is_complex and not kind_difference(ours.get(name), want, name):
            words, _ = settle(ours[name], want, "ulp")
            if words:
                return words
    return None


def _run(line, space):
    """The exception of a line, or ``None``, and the warnings."""
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore", invalid="warn"):
        warnings.simplefilter("always")
        try:
            exec(line.code, space)
        except Exception as error:
            return error, said
    return None, said


def _refusals(refusal, refused):
    got, want = (None if e is None else f"{type(e).__name__}: {e}" for e in (refusal, refused))
    if got is not None:
        got = got.replace("gpupy.ndarray", "numpy.ndarray")
        # A scalar of ours does not know whether its operator stands in an assignment.
        got, want = (re.sub(r"(operand type\(s\) for \S+)=:", r"\1:", words or "") for words in (got, want))
    return None if got == want else f"refused as `{got}`, want `{want}`"


def _warnings(heard, said):
    got, want = (
        sorted({f"{w.category.__name__}: {w.message}" for w in ws if _OF_ELEMENTS not in str(w.message)})
        for ws in (heard, said)
    )
    return None if got == want else f"warned {got}, want {want}"


def _scale(line, theirs):
    """The scale for the error of a line."""
    if line.scale in (None, "ulp", "zeros"):
        return line.scale
    operands = [theirs.get(name) for name in line.code.co_names if name[0] == "v"]
    sizes = [operand.size for operand in operands if isinstance(operand, (np.ndarray, np.generic))]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            partial = [1, 1]
            if _PRODUCT.match(line.scale):
                partial = [eval(line.scale, {**theirs, "mag": some}) for some in (_above, _below)]
            return max(sizes, default=1), eval(line.scale, theirs), *partial
        except Exception:
            return "ulp"


def _exact(line, theirs, scale):
    """A long sum of narrow numbers, computed in a wider dtype, or ``None``."""
    if not isinstance(scale, tuple) or scale[0] <= CHUNKED:
        return None
    names = [name for name in line.code.co_names if name[0] == "v"]
    wide = {name: _widened(theirs[name]) for name in names if name in theirs}
    text = _NARROW.sub(lambda name: _WIDER[name[0]], line.text.partition(" = ")[2])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(text, {**wide, "np": np})
        except Exception:
            return None


_PRODUCT = re.compile(r"np\.(?:prod|cumprod)\(")
_WIDER = {"np.float16": "np.float64", "np.float32": "np.float64", "np.complex64": "np.complex128"}
_NARROW = re.compile(r"np\.(float16|float32|complex64)\b")


def _widened(value):
    kind = getattr(value, "dtype", np.dtype(int)).kind
    return value.astype({"f": np.float64, "c": np.complex128}[kind]) if kind in "fc" else value


def _differences(program, ours, theirs):
    names = [name for name in theirs if name[0] in "ve"]
    for name in names[::-1] if program.backwards else names:
        if name[0] == "e":
            words = exported_difference(ours[name], theirs[name], name)
            if words:
                return words
            continue
        words = kind_difference(ours.get(name), theirs[name], name) or difference(
            ours[name], theirs[name], name
        )
        if words:
            return words
    return None


def _subnormal(theirs):
    """Whether some element is a number that a device may take for zero."""
    for value in theirs.values():
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc":
            parts = [value.real, value.imag] if value.dtype.kind == "c" else [value]
            if any(((p != 0) & (np.abs(p) < np.finfo(p.dtype).tiny)).any() for p in parts):
                return True
    return False
