"""The text of large arrays whose elements are still to be computed or moved: of their corners, which is all
that NumPy shows.

Owns ``text``. Not here: the text of arrays that are there, which NumPy writes.
"""

from itertools import product
from typing import Any

import numpy as np

from .hosts import to_host


def text(array: Any, is_repr: bool) -> str:
    """What NumPy's ``repr`` or ``str`` of it is. No more than the corners is computed."""
    options = np.get_printoptions()
    write = np.array_repr if is_repr else np.array_str
    if array.size <= options["threshold"]:
        return str(write(to_host(array)))
    host = _corners(array, options["edgeitems"])
    with np.printoptions(threshold=0):
        words = str(write(host))
    elements, named, rest = words.rpartition(f"shape={host.shape}")
    if not named:
        return words
    # The extents are those of all, on a line of their own where they do not fit.
    elements, rest = elements.rstrip(), f"shape={array.shape}{rest}"
    width = len(elements) - elements.rfind("\n") - 1 + len(rest) + 1
    return elements + (" " if width <= options["linewidth"] else "\n" + " " * len("array(")) + rest


def _corners(array: Any, edge: int) -> np.ndarray:
    # One more than is shown at either end: corners are of one shape, and so read by one kernel.
    more = edge + 1
    ends = [
        (slice(more), slice(extent - more, None)) if extent > 2 * more else (slice(None),)
        for extent in array.shape
    ]
    corners = np.empty([min(extent, 2 * more) for extent in array.shape], array.dtype)
    for chosen in product(*ends):
        # The last ones are as far from the end there as here.
        placed = tuple(slice(end.start and -more, end.stop) for end in chosen)
        corners[placed] = to_host(array[chosen])
    return corners
