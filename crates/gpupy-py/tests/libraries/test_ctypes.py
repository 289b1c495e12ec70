"""ctypes: arrays as arguments of functions in C, and over the memory of others."""

from steps import Steps

step = Steps("ctypes")


@step
def a_pointer_argument(np, ctypes):
    from numpy.ctypeslib import ndpointer

    libc = ctypes.CDLL(None)
    libc.memcpy.argtypes = [ndpointer(np.float64), ndpointer(np.float64), ctypes.c_size_t]
    libc.memcpy.restype = None
    x, y = np.zeros(3), np.arange(3.0)
    libc.memcpy(x, y, 24)
    return x + 1


@step
def a_pointer_argument_of_the_namespace(np, ctypes):
    libc = ctypes.CDLL(None)
    kind = np.ctypeslib.ndpointer(np.int32, ndim=1, flags="C_CONTIGUOUS")
    libc.memset.argtypes = [kind, ctypes.c_int, ctypes.c_size_t]
    libc.memset.restype = None
    x = np.ones(3, np.int32)
    libc.memset(x, 0, 8)
    return x


@step
def a_pointer_argument_of_another_dtype_is_refused(np, ctypes):
    kind = np.ctypeslib.ndpointer(np.int32)
    try:
        kind.from_param(np.ones(3))
    except TypeError as error:
        return str(error)


@step
def data_as_a_pointer(np, ctypes):
    x = np.arange(3.0)
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[2]


@step
def an_array_of_ctypes(np, ctypes):
    kept = (ctypes.c_double * 3)(1, 2, 3)
    return np.ctypeslib.as_array(kept) * 2


@step
def ctypes_of_an_array(np, ctypes):
    made = np.ctypeslib.as_ctypes(np.arange(3.0))
    return list(made)


@step
def a_buffer_over_an_array(np, ctypes):
    x = np.zeros(2, np.uint16)
    (ctypes.c_uint16 * 2).from_buffer(x)[1] = 7
    return x


def _written_from_both_sides(memory, array):
    """What each side reads of the other's writes, before and after the array was computed with."""
    seen = []
    for number in (1, 0):
        array[(0,) * array.ndim] = number
        seen.append(memory[0])
        memory[1] = 1 - number
        seen.append(array.reshape(-1)[1].item())
        seen.append((array + array).tolist())
    array[...] = 1
    array[..., 1:] += array[..., 1:]
    return seen, list(memory)


_NAMES = "bool byte ubyte short ushort int uint long ulong longlong size_t float double".split()


@step
def memory_of_c_of_each_type_is_one_memory_with_its_array(np, ctypes):
    found = {}
    for name in _NAMES:
        memory = (getattr(ctypes, f"c_{name}") * 5)()
        array = np.ctypeslib.as_array(memory)
        found[name] = str(array.dtype), _written_from_both_sides(memory, array)
    return found


@step
def memory_behind_a_pointer_is_one_memory_with_its_array(np, ctypes):
    memory = (ctypes.c_float * 6)()
    pointer = ctypes.cast(memory, ctypes.POINTER(ctypes.c_float))
    array = np.ctypeslib.as_array(pointer, shape=(2, 3))
    return array.shape, _written_from_both_sides(memory, array)


@step
def views_of_memory_of_c_are_of_that_memory(np, ctypes):
    memory = ((ctypes.c_double * 4) * 3)()
    array = np.ctypeslib.as_array(memory)
    array[1:, ::2] = 5
    array.T[0][0] = 6
    memory[2][1] = 7
    return array, [list(row) for row in memory]


@step
def much_memory_of_c_is_read_as_it_is_at_each_use(np, ctypes):
    memory = (ctypes.c_double * 100_000)()
    array = np.ctypeslib.as_array(memory)
    array[:] = 2
    before = array.sum()
    memory[0] = 5
    return before, memory[99_999], array.sum()


@step
def structures_of_c_are_one_memory_with_their_records(np, ctypes):
    class Point(ctypes.Structure):
        _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_double))

    memory = (Point * 3)()
    array = np.ctypeslib.as_array(memory)
    array["y"][1] = 2.5
    memory[0].x = 4
    return memory[1].y, array["x"].tolist()


@step
def an_array_to_ctypes_and_back_is_one_memory(np, ctypes):
    first = np.arange(4.0)
    second = np.ctypeslib.as_array(np.ctypeslib.as_ctypes(first))
    second[0], first[1] = 5, 7
    return first, second


@step
def an_array_of_the_program_stays_itself(np, ctypes):
    array = np.arange(3.0)
    return np.ctypeslib.as_array(array) is array, np.ctypeslib.as_array([1, 2])


test_ctypes = step.tests()
