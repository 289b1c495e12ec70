"""The programs by CuPy, on a GPU of NVIDIA's: the same text as for NumPy.

Operands lie on the GPU and results stay there; a run ends when the GPU has finished.
"""

import cupy
import numpy

import loading


def version(name, given):
    """The program as a call without arguments."""
    program = getattr(loading.load(name, cupy), name)
    arrays = [cupy.asarray(array) for array in given]

    def run():
        result = program(*arrays)
        cupy.cuda.get_current_stream().synchronize()
        return Result(result)

    return run


class Result:
    """An array on the GPU, which NumPy copies only where it is asked to."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(cupy.asnumpy(self._array), dtype=dtype)
