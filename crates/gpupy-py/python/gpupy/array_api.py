"""The namespace of the Array API standard: ``x.__array_namespace__()``.

    xp = gpupy.array_api
    total = xp.sum(xp.asarray([1.0, 2.0]))     # an array without axes, where `gpupy.sum` gives NumPy's scalar

The standard has arrays, and no scalars of arrays: a result says by itself which namespace computes with it.
All of NumPy's functions are here, those of ``linalg`` and ``fft``, too, and give ``Array``: an array of
gpupy's whose elements and sums are arrays, pending like all others. Not here: what the functions compute.
"""

from typing import Any as _Any

import numpy as _numpy

from ._namespace import array_api as _array_api

Array = _array_api.Array
namespace = _array_api.namespace
__array_api_version__ = "2024.12"
__array_namespace_info__ = _numpy.__array_namespace_info__


def __getattr__(name: str) -> _Any:
    value = _array_api.found(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({"Array", "namespace", *_numpy.__all__})
