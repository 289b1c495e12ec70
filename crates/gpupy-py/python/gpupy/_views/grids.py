"""Grids that are spanned by coordinates along each axis.

Owns ``meshgrid``. Not here: the coordinates themselves (``_creation/coordinates.py``).
"""

import numpy as np

from .._classes import subclass
from .._creation.conversion import asanyarray
from .._fallback.hosts import to_host
from .._gpupy import call, wrap
from .shape import broadcast_arrays


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    grids = [asanyarray(x) for x in xi]
    if indexing not in ("xy", "ij") or not all(g._lazy for g in grids):
        if subclass.any_instance(xi):
            return call("meshgrid", np.meshgrid, xi, {"copy": copy, "sparse": sparse, "indexing": indexing})
        given = to_host(xi)
        return wrap(np.meshgrid(*given, copy=copy, sparse=sparse, indexing=indexing))
    rank = len(grids)
    out = [g.reshape((1,) * axis + (-1,) + (1,) * (rank - axis - 1)) for axis, g in enumerate(grids)]
    if indexing == "xy" and rank > 1:
        out[0] = out[0].reshape((1, -1) + (1,) * (rank - 2))
        out[1] = out[1].reshape((-1, 1) + (1,) * (rank - 2))
    if not sparse:
        out = list(broadcast_arrays(*out, subok=True))
    if copy:
        out = [g._copy() for g in out]
    return tuple(out)


FUNCTIONS = {"meshgrid": meshgrid}
