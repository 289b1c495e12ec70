"""Counts by value with NumPy's signatures: recorded as sorts, and searches for the ends of each value.

A histogram of equal bins is that of its edges: NumPy finds a bin by arithmetic, and corrects it by them.
Counts of weights are NumPy's, whose sums go in the order of the elements. Not here: ``histogram2d`` and the
edges alone, which are NumPy's Python (``_numpys/rebound.py``).
"""

import math
import operator
from typing import Any

import numpy as np

from .. import _gpupy
from .._creation.conversion import asanyarray
from .._creation.ranges import linspace
from .._fallback.hosts import to_host
from .._gpupy import call, ndarray
from .._numpys import sooner
from .._numpys.rebound import bound, inside
from .searching import places, searchsorted

_histograms: Any = np.lib._histograms_impl
# NumPy's arithmetic is within one bin of the right one of so many.
_BINS = 1 << 18


def bincount(x, /, weights=None, minlength=0):
    made = None
    is_number = hasattr(minlength, "__index__") and not isinstance(minlength, (bool, np.bool))
    if weights is None and is_number and not sooner.is_numpys("bincount", x):
        least = operator.index(minlength)
        made = _counts(x, least) if least >= 0 else None
    given = {} if weights is None else {"weights": weights}
    return call("bincount", np.bincount, (x,), {**given, "minlength": minlength}) if made is None else made


def _counts(x: Any, least: int) -> Any:
    """How often each number from 0 on is there, ``None`` where NumPy has to judge the numbers."""
    if type(x) is not ndarray or not x._lazy or x.ndim != 1 or not np.can_cast(x.dtype, np.intp):
        return None
    if x.dtype.kind not in "biu":
        return None
    if not x.size:
        return np.zeros_like(x, np.intp, shape=least)
    x = x.astype(np.intp, copy=False)
    low, high = x.min(), x.max()
    if low < 0:
        # NumPy has the words.
        np.bincount([-1])
    return _counted(x, max(int(high) + 1, least))


def _counted(x: ndarray, length: int) -> Any:
    """How often each number below a length is there, of such numbers."""
    # A driver may lack sorts of this dtype.
    rows: Any = asanyarray(np.sort(x))
    return np.diff(places(rows, _gpupy.index((length,), 0, x.dtype), "right"), prepend=0)


def histogram(a, bins=10, range=None, density=None, weights=None):
    made = None
    if weights is None and type(a) is ndarray and a._lazy and not sooner.is_numpys("histogram", a):
        made = sooner.by_drivers(_histogram, (a, bins, range, density), {})
    given = {"bins": bins, "range": range, "density": density, "weights": weights}
    return call("histogram", np.histogram, (a,), given) if made is None else made


def _histogram(a: Any, bins: Any, limits: Any, density: Any) -> Any:
    """The counts and the edges, or ``None`` where NumPy has its own way."""
    a, _ = bound(_histograms._ravel_and_check_weights)(a, None)
    edges, equal = bound(_histograms._get_bin_edges)(a, bins, limits, None)
    if a.dtype.kind not in "iuf" or edges.dtype.kind not in "iuf":
        return None
    if equal is not None:
        first, last, number = equal
        if edges.dtype not in (np.float32, np.float64) or number > _BINS:
            return None
        with np.errstate(over="ignore"):
            if not np.isfinite(edges.dtype.type(last) - edges.dtype.type(first)):
                return None
        a = a.astype(edges.dtype, copy=False)
    rows = np.sort(a)
    ends = [searchsorted(rows, edges[:-1]), searchsorted(rows, edges[-1:], "right")]
    counts = np.diff(np.concatenate(ends))
    if density:
        return counts / np.diff(edges).astype(float) / counts.sum(), edges
    return counts, edges


def width(a, b):
    """What histograms call: the difference of two ends, without a sign."""
    return _histograms._unsigned_subtract(to_host(a), to_host(b))


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    made = None
    parts = sample if isinstance(sample, (list, tuple)) else (sample,)
    if weights is None and parts and all(type(part) is ndarray and part._lazy for part in parts):
        if not sooner.is_numpys("histogramdd", parts[0], parts):
            made = sooner.by_drivers(_of_axes, (sample, bins, range, density), {})
    given = {"bins": bins, "range": range, "density": density, "weights": weights}
    return call("histogramdd", np.histogramdd, (sample,), given) if made is None else made


def _of_axes(sample: Any, bins: Any, limits: Any, density: Any) -> Any:
    """The counts in several axes and the edges of each, or ``None`` where NumPy has to judge them."""
    if type(sample) is not ndarray:
        sample = np.atleast_2d(np.stack(sample)).T if len({part.shape for part in sample}) == 1 else sample
    if type(sample) is not ndarray or sample.ndim != 2 or sample.dtype.kind not in "iuf":
        return None
    columns = [sample[:, axis] for axis in range(sample.shape[1])]
    bins = [bins] * len(columns) if isinstance(bins, int) else list(bins) if hasattr(bins, "__len__") else []
    limits = [None] * len(columns) if limits is None else limits
    if not len(bins) == len(limits) == len(columns) > 0:
        return None
    edges, places_of = [], []
    for column, number, ends in zip(columns, bins, limits, strict=True):
        if np.ndim(number) == 1:
            edge = asanyarray(number)
            if (
                not edge._lazy
                or edge.dtype.kind not in "iuf"
                or not edge.size
                or (edge[:-1] > edge[1:]).any()
            ):
                return None
        elif type(number) is int and number > 0:
            first, last = bound(_histograms._get_outer_edges)(column, ends)
            edge = linspace(first, last, number + 1)
        else:
            return None
        # What lies on the last edge is inside.
        found = searchsorted(edge, column, "right")
        edges.append(edge)
        places_of.append(np.where(column == edge[-1], found - 1, found))
    shape = tuple(len(edge) + 1 for edge in edges)
    whole = math.prod(shape)
    counts = _counted(ravel_multi_index(tuple(places_of), shape, "clip"), whole) if len(sample) else None
    counts = np.zeros_like(edges[0], np.intp, shape=whole) if counts is None else counts
    counts = counts.reshape(shape).astype(float)[(slice(1, -1),) * len(shape)]
    if density:
        total = counts.sum()
        for axis, edge in enumerate(edges):
            counts = counts / np.diff(edge).reshape([-1 if at == axis else 1 for at in range(len(shape))])
        counts = counts / total
    return counts, edges


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    arrays = tuple(multi_index) if isinstance(multi_index, (tuple, list, ndarray)) else ()
    made = None
    if not sooner.is_numpys("ravel_multi_index", arrays[0] if arrays else None, arrays[1:]):
        made = _raveled(arrays, dims, mode, order)
    if made is not None:
        return made
    given = {"mode": mode, "order": order}
    return call("ravel_multi_index", np.ravel_multi_index, (multi_index, dims), given)


def _steps(shape: Any, order: Any) -> tuple[list[int], list[int]] | None:
    """The extents, and how far apart neighbours along each axis are; ``None`` for those of no elements."""
    try:
        extents = [operator.index(n) for n in (shape if np.ndim(shape) else (shape,))]
    except TypeError:
        return None
    if order not in ("C", "F") or not extents or min(extents) <= 0:
        return None
    steps, step = [], 1
    for extent in extents if order == "F" else reversed(extents):
        steps.append(step)
        step *= extent
    if step >= 2**63:
        return None
    return extents, steps if order == "F" else steps[::-1]


def _raveled(arrays: tuple[Any, ...], dims: Any, mode: Any, order: Any) -> Any:
    ours = [type(a) is ndarray and a._lazy and a.dtype.kind in "iu" and a.dtype != np.uint64 for a in arrays]
    known, modes = _steps(dims, order), (mode,) * len(arrays) if isinstance(mode, str) else mode
    if type(modes) not in (tuple, list):
        return None
    if not arrays or not all(ours) or known is None or not len(known[0]) == len(arrays) == len(modes):
        return None
    if not set(modes) <= {"raise", "wrap", "clip"} or any(a.shape != arrays[0].shape for a in arrays):
        return None
    made: Any = 0
    outside: Any = None
    for a, extent, step, how in zip(arrays, *known, modes, strict=True):
        index = a.astype(np.intp, copy=False)
        if how == "raise":
            wrong = (index < 0) | (index >= extent)
            outside = wrong if outside is None else outside | wrong
        index = index % extent if how == "wrap" else np.clip(index, 0, extent - 1) if how == "clip" else index
        made = index * step + made
    if outside is not None and outside.any():
        # NumPy has the words.
        np.ravel_multi_index(([-1],) * len(arrays), (1,) * len(arrays))
    return made if made.ndim else made[()]


def unravel_index(indices, shape, order="C"):
    made = None if sooner.is_numpys("unravel_index", indices) else _unraveled(indices, shape, order)
    if made is not None:
        return made
    return call("unravel_index", np.unravel_index, (indices, shape), {"order": order})


def _unraveled(indices: Any, shape: Any, order: Any) -> Any:
    known = _steps(shape, order)
    if type(indices) is not ndarray or not indices._lazy or known is None:
        return None
    if indices.dtype.kind not in "iu" or indices.dtype == np.uint64 or not indices.size:
        return None
    index = indices.astype(np.intp, copy=False)
    extents, steps = known
    wrong = (index < 0) | (index >= max(steps) * extents[steps.index(max(steps))])
    if wrong.any():
        # NumPy has the words, of the first one.
        np.unravel_index(index.reshape(-1)[int(wrong.reshape(-1).argmax())].item(), tuple(extents))
    made = (index // step % extent for extent, step in zip(extents, steps, strict=True))
    return tuple(part if part.ndim else part[()] for part in made)


FUNCTIONS = {
    "bincount": bincount,
    "histogram": histogram,
    "histogramdd": histogramdd,
    "ravel_multi_index": ravel_multi_index,
    "unravel_index": unravel_index,
}
# By NumPy's functions that its others call.
INSIDE = inside(_histograms, {"_unsigned_subtract": width})
