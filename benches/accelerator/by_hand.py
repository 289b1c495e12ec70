"""The programs by hand: the functions of `benches/hand` in Rust, called through ctypes.

Results go into arrays that are made once and used again in every run, as a program by hand would have it. The
product of two matrices is NumPy's own, which is written by hand.
"""

import ctypes

import numpy


def version(name, given, library):
    """The program as a call without arguments."""
    if name == "matrix_matrix":
        return lambda: given[0] @ given[1]
    function, shape, numbers = _PLANS[name](*given)
    result = numpy.empty(shape, dtype=numpy.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*given, result)]
    arguments = (*pointers, *(ctypes.c_size_t(number) for number in numbers))
    called = getattr(ctypes.CDLL(library), function)
    called.restype = None

    def run():
        called(*arguments)
        return result

    # The pointers are good for as long as the operands live.
    run.operands = given
    return run


def _image(function):
    return lambda image, *_: (function, image.shape, image.shape)


_PLANS = {
    "absolute_sum": lambda matrix: ("hand_absolute_sum", (), [matrix.size]),
    "matrix_vector": lambda matrix, _: ("hand_matrix_vector", matrix.shape[:1], matrix.shape),
    "life": _image("hand_life"),
    "demosaic": lambda raw: ("hand_demosaic", (*raw.shape, 3), raw.shape),
    "convolve": _image("hand_convolution"),
    "rotate": lambda picture: ("hand_colour_rotation", picture.shape, picture.shape[:2]),
    "corners": _image("hand_corners"),
    "motion": lambda before, _: (
        "hand_motion",
        (before.shape[0] // 16, before.shape[1] // 16, 2),
        before.shape,
    ),
    "stereo": _image("hand_stereo"),
}
