"""pandas: frames and series made of arrays, chosen from by masks and positions, written to, and read out."""

import io

from steps import Steps

step = Steps("pandas")


def frame(pd):
    return pd.DataFrame({"x": [3.0, 1.0, 2.0, 5.0], "y": [1, 2, 3, 4], "name": list("abca")})


@step
def a_series_of_an_array(np, pd):
    return pd.Series(np.arange(5) * 2.5)


@step
def a_series_with_an_index_that_is_an_array(np, pd):
    return pd.Series([1, 2, 3], index=np.array([10, 20, 30]))


@step
def a_series_of_float32_keeps_its_dtype(np, pd):
    return pd.Series(np.linspace(0, 1, 4, dtype=np.float32))


@step
def a_series_under_another_dtype(np, pd):
    return pd.Series(np.arange(3), dtype="float64")


@step
def a_frame_of_a_matrix(np, pd):
    return pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["a", "b"])


@step
def a_frame_of_columns(np, pd):
    return pd.DataFrame({"a": np.arange(3), "b": np.ones(3), "c": np.array([True, False, True])})


@step
def a_frame_of_a_list_of_rows(np, pd):
    return pd.DataFrame([np.arange(3), np.arange(3) * 2])


@step
def a_new_column(np, pd):
    made = frame(pd)
    made["z"] = np.sqrt(np.arange(4.0))
    return made


@step
def a_column_by_assign(np, pd):
    return frame(pd).assign(z=np.arange(4) ** 2)


@step
def an_inserted_column(np, pd):
    made = frame(pd)
    made.insert(1, "z", np.zeros(4))
    return made


@step
def rows_by_a_mask(np, pd):
    return frame(pd)[np.array([True, False, True, False])]


@step
def rows_by_a_computed_mask(np, pd):
    return frame(pd)[np.arange(4) > 1]


@step
def elements_of_a_series_by_a_mask(np, pd):
    return frame(pd)["x"][np.array([True, False, True, False])]


@step
def cells_by_a_mask_and_a_name(np, pd):
    return frame(pd).loc[np.array([True, False, True, False]), "y"]


@step
def cells_written_by_a_mask(np, pd):
    made = frame(pd)
    made.loc[np.array([True, False, True, False]), "y"] = 7
    return made


@step
def a_series_written_by_a_mask(np, pd):
    made = pd.Series([1.0, 2.0, 3.0])
    made[np.array([True, False, True])] = 0
    return made


@step
def rows_by_positions(np, pd):
    return frame(pd).iloc[np.array([2, 0])]


@step
def rows_by_a_mask_of_positions(np, pd):
    return frame(pd).iloc[np.array([True, False, False, True])]


@step
def rows_by_labels(np, pd):
    return frame(pd).loc[np.array([3, 1])]


@step
def rows_by_take(np, pd):
    return frame(pd).take(np.array([1, 1]))


@step
def columns_by_a_mask(np, pd):
    return frame(pd).loc[:, np.array([True, True, False])]


@step
def where_a_mask_holds(np, pd):
    return frame(pd)["x"].where(np.array([True, False, True, False]), -1.0)


@step
def masked_where_a_mask_holds(np, pd):
    return frame(pd)["x"].mask(np.array([True, False, True, False]))


@step
def arithmetic_with_a_series(np, pd):
    return frame(pd)["x"] * np.arange(4.0) + np.ones(4)


@step
def arithmetic_with_a_series_on_the_right(np, pd):
    return np.arange(4.0) * frame(pd)["x"]


@step
def comparison_with_a_series(np, pd):
    return frame(pd)["x"] > np.array([2.0, 2.0, 2.0, 2.0])


@step
def a_ufunc_of_a_series(np, pd):
    return np.sqrt(frame(pd)["x"])


@step
def a_ufunc_of_a_frame(np, pd):
    return np.exp(frame(pd)[["x", "y"]])


@step
def a_function_of_a_series(np, pd):
    return np.mean(frame(pd)["x"]), np.asarray(np.where(frame(pd)["x"] > 2, 1, 0))


@step
def a_scalar_among_the_cells(np, pd):
    made = frame(pd)
    made.loc[0, "x"] = np.arange(4.0).sum()
    return made


@step
def a_column_that_is_one_scalar(np, pd):
    return frame(pd).assign(z=np.arange(4.0).mean())


@step
def rows_by_a_scalar(np, pd):
    return frame(pd).iloc[np.array([3, 1]).max()]


@step
def a_row_by_a_label_that_is_a_scalar(np, pd):
    return frame(pd).loc[np.array([3, 1])[1]]


@step
def groups_by_an_array(np, pd):
    return frame(pd)[["x", "y"]].groupby(np.array([0, 1, 0, 1])).sum()


@step
def groups_mapped_by_a_function_of_ours(np, pd):
    return frame(pd).groupby("name")["x"].agg(lambda values: float(np.sum(np.asarray(values))))


@step
def values_in_an_array(np, pd):
    return frame(pd)["y"].isin(np.array([1, 4]))


@step
def bins(np, pd):
    return pd.cut(np.array([1.0, 7.0, 5.0]), np.array([0.0, 3.0, 6.0, 9.0])).codes


@step
def quantiles(np, pd):
    return frame(pd)["x"].quantile(np.array([0.25, 0.5]))


@step
def an_index_of_an_array(np, pd):
    return pd.Index(np.array([3, 1, 2])).sort_values()


@step
def reindexed_by_an_array(np, pd):
    return pd.Series([1.0, 2.0, 3.0]).reindex(np.array([2, 0, 5]))


@step
def categories_of_an_array(np, pd):
    codes, uniques = pd.factorize(np.array([5, 3, 5]))
    return codes, np.asarray(uniques)


@step
def unique_values(np, pd):
    return np.asarray(pd.unique(np.array([2, 1, 2])))


@step
def times_of_an_array(np, pd):
    return pd.to_datetime(np.array([0, 86400]), unit="s")


@step
def a_span_of_a_scalar(np, pd):
    return str(pd.Timedelta(np.array([1.5, 2.5])[1], unit="s"))


@step
def numbers_of_an_array(np, pd):
    return np.asarray(pd.to_numeric(np.array([1.5, 2.5])))


@step
def what_is_missing(np, pd):
    return np.asarray(pd.isna(np.array([1.0, np.nan])))


@step
def whether_a_scalar_is_missing(np, pd):
    return bool(pd.isna(np.array([1.0, np.nan])[1]))


@step
def questions_of_dtypes(np, pd):
    array, scalar = np.arange(3.0), np.arange(3.0).sum()
    ask = pd.api.types
    return [
        ask.is_numeric_dtype(array),
        ask.is_float_dtype(array),
        ask.is_bool_dtype(array > 1),
        ask.is_list_like(array),
        ask.is_array_like(array),
        ask.is_scalar(scalar),
        ask.is_float(scalar),
        ask.is_number(scalar),
        ask.is_hashable(array),
    ]


@step
def whether_a_scalar_is_an_integer(np, pd):
    return pd.api.types.is_integer(np.arange(3).sum())


@step
def windows_of_weights(np, pd):
    return frame(pd)["x"].rolling(2).apply(lambda values: float(np.sum(np.asarray(values))), raw=True)


@step
def merged_by_arrays(np, pd):
    left = pd.DataFrame({"k": np.array([1, 2, 3]), "a": np.ones(3)})
    right = pd.DataFrame({"k": np.array([3, 1]), "b": np.arange(2.0)})
    return left.merge(right, on="k")


@step
def concatenated(np, pd):
    return pd.concat([pd.Series(np.arange(2)), pd.Series(np.arange(3))], ignore_index=True)


@step
def crossed(np, pd):
    return pd.crosstab(np.array([0, 0, 1]), np.array([1, 1, 0]))


@step
def a_table_in_a_file(np, pd):
    file = io.StringIO()
    pd.DataFrame({"a": np.arange(3) / 4}).to_csv(file)
    return file.getvalue()


@step
def our_array_of_a_column(np, pd):
    return np.asarray(frame(pd)["x"]) + np.array(frame(pd)[["x", "y"]]).sum(axis=1)


@step
def sorted_by_an_array_of_places(np, pd):
    return frame(pd).iloc[np.argsort(np.asarray(frame(pd)["x"]))]


@step
def replaced(np, pd):
    return pd.Series(np.array([1, 2, 1])).replace(np.array([1, 2])[0], 9)


@step
def filled_by_a_scalar(np, pd):
    return pd.Series([1.0, None]).fillna(np.arange(4.0).mean())


@step
def clipped_by_arrays(np, pd):
    return frame(pd)["x"].clip(np.full(4, 1.5), np.full(4, 4.0))


@step
def a_search_in_a_sorted_series(np, pd):
    return pd.Series([1, 2, 3]).searchsorted(np.array([0, 3]))


@step
def an_interval_index(np, pd):
    return pd.IntervalIndex.from_breaks(np.array([0.0, 1.0, 2.0]))


@step
def a_multi_index(np, pd):
    return pd.MultiIndex.from_arrays([np.array([1, 1, 2]), np.array([3, 4, 3])])


@step
def an_index_set_to_an_array(np, pd):
    return frame(pd).set_index(np.array([5, 6, 7, 8]))


@step
def an_index_set_to_arrays_and_a_column(np, pd):
    return frame(pd).set_index([np.array([1, 1, 2, 2]), "x"])


@step
def a_sample_by_weights_and_a_state_of_arrays(np, pd):
    return frame(pd).sample(2, weights=np.array([0.0, 0.0, 1.0, 1.0]), random_state=np.array([1, 2]))


@step
def text_joined_with_arrays(np, pd):
    others = [np.array(["c", "d"]), np.array(["e", "f"])]
    return pd.Series(["a", "b"]).str.cat(others)


@step
def labels_deleted_by_an_array(np, pd):
    return pd.Index([0, 1, 2, 3]).delete(np.array([1, 2]))


@step
def a_frame_of_records(np, pd):
    records = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])
    return [pd.DataFrame(records), pd.DataFrame.from_records(records)]


@step
def a_series_of_records_is_refused(np, pd):
    try:
        pd.Series(np.zeros(2, dtype=[("a", int), ("b", float)]))
    except ValueError as error:
        return str(error)


@step
def merged_by_arrays_on_both_sides(np, pd):
    one, other = pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"y": [3.0, 4.0]})
    return pd.merge(one, other, left_on=np.array([1, 2]), right_on=np.array([2, 1]))


@step
def spans_added_to_dates(np, pd):
    return pd.DatetimeIndex(["2020-01-01", "2020-02-01"]) + np.array([1, 2], dtype="m8[D]")


@step
def a_ufunc_of_a_series_and_an_array(np, pd):
    return [np.maximum(pd.Series([0.0, 2.0]), np.ones(2)), np.hypot(np.ones(2), pd.Series([0.0, 2.0]))]


@step
def a_ufunc_of_a_frame_and_an_array(np, pd):
    return np.minimum(pd.DataFrame({"x": [0.0, 2.0]}), np.ones((2, 1)))


@step
def operators_with_arrays_of_two_axes(np, pd):
    table = frame(pd)[["x", "y"]]
    added = table.copy()
    added += np.ones((4, 2))
    return [table + np.ones((4, 2)), np.ones((4, 2)) - table, table > np.full((4, 2), 2.0), added]


@step
def operators_with_arrays_without_axes(np, pd):
    series = pd.Series([1, 2, 3])
    series += np.array(5)
    return [series, pd.Index([5, 6]) == np.array(5), pd.array([1, None], dtype="Int64") + np.array(1)]


@step
def operators_of_nullable_and_sparse_arrays(np, pd):
    nullable = pd.array([1, 2, None], dtype="Int64")
    sparse = pd.arrays.SparseArray([0, 0, 1])
    ones = np.array([1, 1, 1])
    made = [nullable + ones, ones * nullable, nullable == ones, sparse + ones, np.add(nullable, ones)]
    return [pd.Series(value) for value in made]


@step
def dates_compared_with_an_array_of_dates(np, pd):
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]))
    return dates == np.array(["2020-01-01", "2020-01-03"], dtype="M8[ns]")


@step
def texts_added_to_an_array_of_texts(np, pd):
    return [pd.Series(["a", "b"]) + np.array(["c", "d"]), pd.Series(["a", "b"]) == np.array(["a", "d"])]


@step
def cells_chosen_from_a_matrix(np, pd):
    table = frame(pd)[["x", "y"]]
    return [table.where(table > 2, np.zeros((4, 2))), table.mask(table > 2, np.full((4, 2), 9.0))]


@step
def arrays_of_extensions_by_their_classes(np, pd):
    mask = np.array([False, True, False])
    made = [pd.arrays.IntegerArray(np.array([1, 2, 3]), mask), pd.arrays.BooleanArray(~mask, mask)]
    return [pd.Series(value) for value in made]


@step
def a_logical_ufunc_of_dates_is_refused(np, pd):
    try:
        np.logical_xor(pd.array([True]), np.array(["2020-01-01"], dtype="M8[ns]"))
    except TypeError as error:
        return str(error)


@step
def functions_that_a_series_has_give_a_series(np, pd):
    series = pd.Series([3.0, 1.0, 2.0], index=list("abc"))
    return [np.cumsum(series), np.round(series), np.repeat(series, 2), np.argsort(series)]


@step
def functions_of_arrays_with_nothing_in_some_places(np, pd):
    numbers = pd.array([1, 2, None])
    return [np.sum(numbers), np.max(numbers), np.mean(numbers)]


@step
def a_running_sum_of_a_frame(np, pd):
    return np.cumsum(pd.DataFrame({"x": [1, 2], "y": [3, 4]}))


test_pandas = step.tests()
