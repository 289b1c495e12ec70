"""The text of arrays that are larger than memory: of their corners, which is all that NumPy shows.

Owns ``text``. Not here: the text of arrays that are there, which NumPy writes.
"""

from typing import Any

import numpy as np

from .._fallback import to_host


def text(array: Any, is_repr: bool) -> str:
    """What NumPy's ``repr`` or ``str`` of it is."""
    from gpupy import concatenate

    options = np.get_printoptions()
    write = np.array_repr if is_repr else np.array_str
    if array.size <= options["threshold"]:
        return str(write(to_host(array)))
    corners, edge = array, options["edgeitems"]
    for axis, extent in enumerate(array.shape):
        if extent > 2 * edge:
            first, last = [slice(None)] * axis, [slice(None)] * axis
            # One more than is shown: it stands for all between.
            parts = (corners[(*first, slice(edge + 1))], corners[(*last, slice(extent - edge, None))])
            corners = concatenate(parts, axis)
    host = to_host(corners)
    with np.printoptions(threshold=0):
        words = str(write(host))
    # The extents are those of all.
    return words.replace(f"shape={host.shape}", f"shape={array.shape}")
