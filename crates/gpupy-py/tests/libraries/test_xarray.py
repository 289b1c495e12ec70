"""xarray: named arrays around ours."""

import pytest
from steps import Steps

step = Steps("xarray")


def table(np, xr):
    return xr.DataArray(
        np.arange(12.0).reshape(3, 4), dims=("t", "x"), coords={"t": np.arange(3), "x": np.arange(4) * 10}
    )


@step
def a_named_array(np, xr):
    return table(np, xr).sel(x=20).values


@step
def a_mean_of_an_axis(np, xr):
    return table(np, xr).mean("t").values


@step
def arithmetic(np, xr):
    return (table(np, xr) * 2 + table(np, xr).isel(t=0)).values


@step
def a_ufunc(np, xr):
    return np.sqrt(table(np, xr)).values


@step
def a_choice(np, xr):
    return table(np, xr).where(table(np, xr) > 5, 0).values


@step
def a_choice_by_an_array(np, xr):
    return table(np, xr).isel(x=np.array([3, 1])).values


@step
def a_choice_by_the_place_of_an_extreme(np, xr):
    row = table(np, xr).isel(t=0)
    place = row.argmax("x")
    return float(row.isel(x=place)), int(place), float(row[row.argmin()]), float(row["x"][place])


@step
def a_choice_by_counts(np, xr):
    row = table(np, xr).isel(t=0)
    return float(row[row.count() - 1]), float(row.isel(x=(row > 3).any().astype(int)))


@step
def a_choice_by_labels(np, xr):
    return table(np, xr).sel(x=np.array([30, 10])).values


@step
def nearest_labels(np, xr):
    return table(np, xr).sel(x=[12, 28], method="nearest").values


@step
def groups(np, xr):
    return table(np, xr).groupby(xr.DataArray(np.array([0, 1, 0]), dims="t", name="g")).sum().values


@step
def windows(np, xr):
    return table(np, xr).rolling(x=2).mean().values


@step
def an_interpolation(np, xr):
    pytest.importorskip("scipy")
    return table(np, xr).interp(x=15.0).values


@step
def a_set_of_arrays(np, xr):
    made = xr.Dataset({"a": ("x", np.arange(3.0)), "b": ("x", np.ones(3))})
    return float((made["a"] + made["b"]).sum()), list(made.data_vars)


@step
def a_frame(np, xr):
    pytest.importorskip("pandas")
    return table(np, xr).to_series().sum()


@step
def a_function_applied(np, xr):
    return xr.apply_ufunc(lambda x: np.asarray(x) ** 2, table(np, xr)).values


@step
def concatenated(np, xr):
    return xr.concat([table(np, xr), table(np, xr) + 1], "t").values


@step
def differences(np, xr):
    return table(np, xr).diff("x").values, table(np, xr).cumsum("x").values


@step
def a_transposed_table(np, xr):
    made = table(np, xr).transpose("x", "t")
    return made.dims, dict(made.sizes), made.values


@step
def a_written_element(np, xr):
    made = table(np, xr)
    made[1, 2] = -1
    made.loc[{"t": 0}] = np.zeros(4)
    return made.values


@step
def identical_arrays(np, xr):
    return bool(table(np, xr).identical(table(np, xr)))


@step
def a_masked_array_has_no_values_there(np, xr):
    made = xr.DataArray(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
    return made.sum().values, made.values


@step
def dates_have_the_unit_that_xarray_gives_them(np, xr):
    return xr.DataArray(np.array([1, 2], dtype="m8[D]")).values


@step
def interpolations_at_an_array(np, xr):
    pytest.importorskip("scipy")
    return table(np, xr).interp(x=np.array([5.0, 15.0])).values


@step
def points_by_arrays_of_places(np, xr):
    places = xr.DataArray(np.array([0, 2]), dims="k"), xr.DataArray(np.array([3, 1]), dims="k")
    return table(np, xr).isel(t=places[0], x=places[1]).values


@step
def the_lines_of_a_set(np, xr):
    return str(xr.Dataset({"a": ("x", np.arange(3.0))}))


@step
def functions_that_a_data_array_has_give_one(np, xr):
    array = xr.DataArray(np.array([3.0, 1.0, 2.0]), dims="x")
    functions = (np.sum, np.mean, np.max, np.all, np.cumsum, np.argsort, np.round, np.squeeze)
    made = [function(array) for function in functions] + [np.take(array, [0, 1]), np.repeat(array, 2)]
    return [(type(each).__name__, np.asarray(each.data)) for each in made]


@step
def keys_without_axes(np, xr):
    array, key = table(np, xr), np.array(1)
    several = [
        array[key],
        array.isel(x=key),
        array.isel(x=xr.DataArray(key)),
        array.isel(x=xr.Variable((), key)),
    ]
    slices = [array.sel(t=slice(key, np.array(2))), array.isel(x=slice(key, 3))]
    return [
        np.asarray(each.data) for each in (*several, *slices, array.variable[key], array.variable[key, :])
    ]


test_xarray = step.tests()
