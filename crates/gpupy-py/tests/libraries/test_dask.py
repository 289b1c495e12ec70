"""Dask: chunks of our arrays, beside arrays of ours."""

from steps import Steps

step = Steps("dask.array")


@step
def chunks_of_an_array(np, da):
    return da.from_array(np.arange(8.0), chunks=4).sum().compute()


@step
def an_expression_of_chunks(np, da):
    x = da.from_array(np.arange(16.0).reshape(4, 4), chunks=2)
    return (np.sqrt(x) + x.T).mean(axis=0).compute()


@step
def a_product(np, da):
    x = da.from_array(np.arange(16.0).reshape(4, 4), chunks=2)
    return (x @ x).compute()


@step
def a_function_of_blocks(np, da):
    return da.ones(8, chunks=4).map_blocks(lambda block: np.asarray(block) * 2, dtype=float).compute()


@step
def elements_by_a_mask(np, da):
    x = da.from_array(np.arange(8.0), chunks=4)
    return x[x > 3].compute()


@step
def elements_by_an_index_array(np, da):
    return da.arange(8, chunks=4)[np.array([5, 1])].compute()


@step
def percentiles(np, da):
    return da.percentile(da.from_array(np.arange(8.0), chunks=4), [25, 50]).compute()


@step
def a_stack(np, da):
    return da.stack([da.from_array(np.ones(4), chunks=2), da.from_array(np.zeros(4), chunks=2)]).compute()


@step
def arithmetic_with_an_array(np, da):
    return (da.ones(4, chunks=2) + np.arange(4.0)).compute()


@step
def arithmetic_with_an_array_on_the_left(np, da):
    return (np.arange(4.0) + da.ones(4, chunks=2)).compute()


@step
def overlapping_blocks(np, da):
    x = da.from_array(np.arange(8.0), chunks=4)
    return x.map_overlap(lambda b: b + np.roll(b, 1), depth=1, boundary="periodic").compute()


@step
def the_size_of_an_array(np, da):
    from dask.sizeof import sizeof

    return sizeof(np.ones(1000)) >= 8000


@step
def the_name_of_equal_arrays(np, da):
    from dask.base import tokenize

    return tokenize(np.arange(4.0)) == tokenize(np.arange(4.0)) != tokenize(np.arange(5.0))


@step
def a_task_of_arrays(np, da):
    import dask

    return dask.delayed(lambda x: x.sum())(np.arange(4.0)).compute()


@step
def a_histogram(np, da):
    return da.histogram(da.from_array(np.arange(8.0), chunks=4), bins=np.array([0, 4, 8]))[0].compute()


@step
def functions_that_dask_has_give_arrays_of_dask(np, da):
    x = da.from_array(np.arange(6.0), chunks=3)
    functions = (np.sum, np.mean, np.std, np.max, np.cumsum, np.round, np.transpose, np.squeeze, np.ravel)
    made = [function(x) for function in functions] + [
        np.concatenate([x, x]),
        np.repeat(x, 2),
        np.where(x > 2, x, 0),
    ]
    return [(type(each).__module__, each.compute()) for each in made]


test_dask = step.tests()
