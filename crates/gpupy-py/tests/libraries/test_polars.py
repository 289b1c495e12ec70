"""polars: series and frames of arrays, chosen from by masks and positions, and read out."""

from steps import Steps

step = Steps("polars")


@step
def a_series_of_an_array(np, pl):
    return pl.Series("a", np.arange(4) * 1.5)


@step
def a_series_without_a_name(np, pl):
    return pl.Series(np.arange(4, dtype=np.int32))


@step
def a_series_of_bools(np, pl):
    return pl.Series(np.arange(4) > 1)


@step
def a_series_of_a_view_with_strides(np, pl):
    return pl.Series(np.arange(8)[::-2])


@step
def a_series_under_another_dtype(np, pl):
    return pl.Series("a", np.arange(3), dtype=pl.Float32)


@step
def a_series_of_rows(np, pl):
    return pl.Series("a", np.arange(6.0).reshape(3, 2)).to_list()


@step
def a_frame_of_columns(np, pl):
    return pl.DataFrame({"a": np.arange(3), "b": np.ones(3, np.float32)})


@step
def a_frame_of_a_matrix(np, pl):
    return pl.DataFrame(np.arange(6).reshape(3, 2), schema=["a", "b"], orient="row")


@step
def a_frame_of_an_array_by_its_function(np, pl):
    return pl.from_numpy(np.arange(6.0).reshape(3, 2), schema=["a", "b"], orient="row")


@step
def a_new_column(np, pl):
    return pl.DataFrame({"a": [1, 2]}).with_columns(pl.Series("b", np.array([0.5, 1.5])))


@step
def rows_by_a_mask(np, pl):
    return pl.DataFrame({"a": [1, 2, 3]}).filter(np.array([True, False, True]))


@step
def elements_by_positions(np, pl):
    return pl.Series("a", [5, 6, 7])[np.array([2, 0])]


@step
def a_literal(np, pl):
    return pl.DataFrame({"a": [1.0, 2.0]}).with_columns(b=pl.col("a") * pl.lit(np.arange(4.0).sum()))


@step
def values_in_an_array(np, pl):
    return pl.Series("a", [1, 2, 3]).is_in(np.array([1, 3]))


@step
def arithmetic_with_a_series(np, pl):
    return pl.Series("a", [1.0, 2.0]) + np.array([0.5, 0.25])


@step
def a_ufunc_of_a_series(np, pl):
    return np.asarray(np.sqrt(pl.Series("a", [1.0, 4.0])))


@step
def an_array_of_a_series(np, pl):
    return np.asarray(pl.Series("a", [1.0, 4.0])) * 2


@step
def an_array_of_a_frame(np, pl):
    return np.asarray(pl.DataFrame({"a": [1.0, 4.0], "b": [2.0, 3.0]})).sum(axis=0)


@step
def a_function_mapped_over_batches(np, pl):
    frame = pl.DataFrame({"a": [1.0, 4.0]})
    return frame.with_columns(
        pl.col("a").map_batches(lambda s: pl.Series(np.sqrt(np.asarray(s))), return_dtype=pl.Float64)
    )


@step
def a_function_of_batches_that_gives_an_array(np, pl):
    frame = pl.DataFrame({"a": [1.0, 4.0], "b": [3.0, 5.0]})
    root = pl.col("a").map_batches(lambda s: np.sqrt(s.to_numpy()))
    both = pl.map_batches(["a", "b"], lambda two: np.hypot(two[0].to_numpy(), two[1].to_numpy()))
    return frame.select(root, both.alias("both"))


@step
def large_columns(np, pl):
    return pl.DataFrame({"a": np.arange(100_000) * 0.5}).select(pl.col("a").max())


@step
def comparisons_with_an_array(np, pl):
    return [pl.Series(["a", "b"]) == np.array(["a", "c"]), pl.Series([1, 2]) != np.array([1, 3])]


test_polars = step.tests()
