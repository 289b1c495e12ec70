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


test_ctypes = step.tests()
