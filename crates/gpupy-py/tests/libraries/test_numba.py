"""numba: compiled functions take our arrays as NumPy's, and write to them."""

from steps import Steps

step = Steps("numba")


@step
def a_sum_in_a_loop(np, numba):
    @numba.njit
    def total(x):
        found = 0.0
        for value in x:
            found += value
        return found

    return total(np.arange(5.0))


@step
def a_method_of_an_array(np, numba):
    return numba.njit(lambda x: x.sum())(np.arange(5.0))


@step
def an_array_that_is_written(np, numba):
    @numba.njit
    def double(x):
        for i in range(x.size):
            x[i] *= 2

    x = np.arange(5.0)
    double(x)
    return x + 1


@step
def a_view_that_is_written(np, numba):
    @numba.njit
    def clear(x):
        x[:] = 0

    x = np.arange(6.0).reshape(2, 3)
    clear(x[:, 1])
    return x


@step
def a_view_with_strides(np, numba):
    return numba.njit(lambda x: x[1])(np.arange(8)[::-2])


@step
def a_result_that_is_an_array(np, numba):
    return np.asarray(numba.njit(lambda x: x * 2)(np.arange(3.0))) + 1


@step
def a_matrix_and_a_number(np, numba):
    @numba.njit
    def scaled(x, by):
        found = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                found += x[i, j] * by
        return found

    return scaled(np.ones((2, 3), np.float32), np.arange(4.0).sum())


@step
def a_tuple_of_arrays(np, numba):
    return numba.njit(lambda pair: pair[0][0] + pair[1][1])((np.arange(2.0), np.arange(2.0)))


@step
def a_vectorized_function(np, numba):
    add = numba.vectorize(["float64(float64, float64)"])(lambda x, y: x + y)
    return np.asarray(add(np.arange(3.0), np.ones(3)))


@step
def a_generalised_function(np, numba):
    def body(x, n, y):
        for i in range(x.shape[0]):
            y[i] = x[i] + n

    add = numba.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")(body)
    return np.asarray(add(np.arange(3.0), 2.0))


@step
def a_stencil(np, numba):
    return np.asarray(numba.stencil(lambda x: x[-1] + x[1])(np.arange(5.0)))


@step(fails="numba hands what it compiled for a given signature the very object")
def a_function_with_a_signature(np, numba):
    return numba.njit("float64(float64[:])")(lambda x: x[0] + x[1])(np.arange(3.0) + 1)


@step
def functions_that_the_program_names(np, numba):
    @numba.njit
    def found(x):
        y = np.zeros(3) + np.sqrt(x[:3])
        return np.sin(x).sum(), y, np.linalg.norm(x), np.full((2, 2), np.pi), np.maximum(x, 1.0)

    return found(np.arange(4.0))


@step
def functions_that_the_program_has_imported(np, numba):
    cos, zeros, norm = np.cos, np.zeros, np.linalg.norm
    return numba.njit(lambda x: norm(zeros(3) + cos(x)))(np.arange(3.0))


@step
def names_of_the_programs_module(np, numba):
    names = {"np": np, "root": np.sqrt, "weights": np.arange(3.0)}
    exec("def f(x): return root(x + weights).sum() + np.ones(2)[0]", names)
    return numba.njit(names["f"])(np.ones(3))


@step
def a_constant_of_the_program(np, numba):
    weights = np.arange(3.0) + 1
    return numba.njit(lambda x: (x * weights).sum())(np.ones(3))


@step
def a_ufunc_whose_body_names_functions(np, numba):
    root = numba.vectorize(["float64(float64)"])(lambda x: np.sqrt(x) + 1)
    return np.asarray(root(np.arange(3.0)))


@step
def a_loop_by_several_threads(np, numba):
    @numba.njit(parallel=True)
    def squares(x):
        y = np.empty_like(x)
        for i in numba.prange(x.size):
            y[i] = x[i] ** 2
        return y

    return squares(np.arange(100.0))


@step
def the_type_of_an_array(np, numba):
    return str(numba.typeof(np.ones((2, 3), np.float32).T))


test_numba = step.tests()
