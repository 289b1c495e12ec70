"""Lists of items as other libraries have them: Arrow's and awkward's arrays.

Not here: arrays without items (``_methods/exchange.py``).
"""

from typing import Any

import numpy

import gpupy as np

from .items import Flat


def to_arrow(elements: Any, ends: numpy.ndarray[Any, Any], type: Any) -> Any:
    """Arrow's array of the items that end there, perhaps of another type."""
    import pyarrow

    made = pyarrow.LargeListArray.from_arrays(pyarrow.array(ends), pyarrow.array(numpy.asarray(elements)))
    return made if type is None else made.cast(type)


def of_arrow(array: Any) -> Flat:
    """The items of an Arrow array of lists."""
    if array.null_count or array.flatten().null_count:
        raise ValueError("a typed list has no nulls, but the Arrow array has")
    ends = array.offsets.to_numpy()
    values = array.values.to_numpy(zero_copy_only=False)[ends[0] : ends[-1]]
    return Flat(np.asarray(values), numpy.diff(ends).astype(numpy.int64), False)


def to_awkward(elements: Any, ends: numpy.ndarray[Any, Any]) -> Any:
    """The array of awkward of the items that end there, over the same elements."""
    import awkward

    offsets = awkward.index.Index64(ends.copy())
    content = awkward.contents.NumpyArray(numpy.asarray(elements))
    return awkward.Array(awkward.contents.ListOffsetArray(offsets, content))


def of_awkward(array: Any) -> Flat:
    """The items of awkward's array of lists of numbers."""
    import awkward

    sizes = numpy.asarray(awkward.num(array, axis=1), numpy.int64)
    return Flat(np.asarray(numpy.asarray(awkward.flatten(array, axis=1))), sizes, False)
