"""The programs by hand: the functions of `benches/hand` in Rust, called through ctypes.

Results go into arrays that are made once and used again in every run, as a program by hand would have it. The
product of two matrices is left out: NumPy's own is written by hand.
"""

import ctypes

import numpy

from gpupy._bench import programs


def version(program, arrays, library):
    """The program as a call without arguments, or nothing if there is none by hand in the library."""
    plan = _PLANS.get(program.text)
    if plan is None or (program.text is programs.matrix_product and arrays[1].ndim > 1):
        return None
    name, shapes, numbers, given = plan(arrays, **program.constants)
    results = tuple(numpy.empty(shape, dtype=numpy.float32) for shape in shapes)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*given, *results)]
    arguments = (*pointers, *(ctypes.c_size_t(number) for number in numbers))
    function = getattr(ctypes.CDLL(library), name)
    function.restype = None
    result = results if len(results) > 1 else results[0]

    def run():
        function(*arguments)
        return result

    # The pointers are good for as long as the operands live.
    run.operands = given
    return run


def _pointwise(name, results=1):
    def plan(arrays):
        return name, [arrays[0].shape] * results, [arrays[0].size], arrays

    return plan


def _image(name):
    def plan(arrays):
        return name, [arrays[0].shape], arrays[0].shape, arrays

    return plan


def _absolute_sum(arrays):
    return "hand_absolute_sum", [()], [arrays[0].size], arrays


def _distance_map(arrays, size, points):
    columns = numpy.array(points, dtype=numpy.float32).T.copy()
    return "hand_distance_map", [(size, size)], [size, len(points)], tuple(columns)


def _shaded_sphere(arrays, size):
    return "hand_shaded_sphere", [(size, size)] * 3, [size], arrays


def _matrix_vector(arrays):
    rows, columns = arrays[0].shape
    return "hand_matrix_vector", [(rows,)], [rows, columns], arrays


def _block_matching(arrays, reach, block):
    height, width = arrays[0].shape
    shape = (height // block, width // block)
    return "hand_block_matching", [shape, shape], [height, width, reach, block], arrays


_PLANS = {
    programs.scaled_sum: _pointwise("hand_scaled_sum"),
    programs.sine_times_exponential: _pointwise("hand_sine_times_exponential"),
    programs.absolute_sum: _absolute_sum,
    programs.distance_map: _distance_map,
    programs.shaded_sphere: _shaded_sphere,
    programs.black_scholes: _pointwise("hand_black_scholes", results=2),
    programs.life: _image("hand_life"),
    programs.convolution: _image("hand_convolution"),
    programs.rotation: _image("hand_rotation"),
    programs.column_normalisation: _image("hand_column_normalisation"),
    programs.matrix_product: _matrix_vector,
    programs.block_matching: _block_matching,
}
