"""h5py: datasets and attributes written from arrays, and read into them."""

from steps import Steps

step = Steps("h5py")


def file(h5py):
    return h5py.File("steps.h5", "w", driver="core", backing_store=False)


@step
def a_dataset_of_an_array(np, h5py):
    with file(h5py) as f:
        return f.create_dataset("a", data=np.arange(6.0).reshape(2, 3))[()]


@step
def a_dataset_by_its_name(np, h5py):
    with file(h5py) as f:
        f["a"] = np.arange(3, dtype=np.int16)
        return f["a"][1:]


@step
def a_compressed_dataset(np, h5py):
    with file(h5py) as f:
        return f.create_dataset("a", data=np.ones((8, 8)), compression="gzip", chunks=(4, 4))[...]


@step
def a_slice_that_is_written(np, h5py):
    with file(h5py) as f:
        made = f.create_dataset("a", (4, 3), "f4")
        made[1:3] = np.ones((2, 3), np.float32)
        return made[()]


@step
def elements_by_a_mask(np, h5py):
    with file(h5py) as f:
        made = f.create_dataset("a", data=np.arange(4.0))
        return made[np.array([True, False, True, False])]


@step
def elements_by_positions(np, h5py):
    with file(h5py) as f:
        made = f.create_dataset("a", data=np.arange(4.0))
        return made[np.array([0, 2])]


@step
def an_array_that_is_read_into(np, h5py):
    with file(h5py) as f:
        f["a"] = np.arange(3.0)
        x = np.empty(3)
        f["a"].read_direct(x)
        return x


@step
def a_part_of_an_array_that_is_read_into(np, h5py):
    with file(h5py) as f:
        f["a"] = np.arange(3.0)
        x = np.zeros(5)
        f["a"].read_direct(x, np.s_[0:2], np.s_[3:5])
        return x + 1


@step
def an_array_that_is_written_directly(np, h5py):
    with file(h5py) as f:
        made = f.create_dataset("a", (3,), "f8")
        made.write_direct(np.arange(3.0))
        return made[()]


@step
def an_attribute(np, h5py):
    with file(h5py) as f:
        f.attrs["a"] = np.arange(3)
        f.attrs["b"] = np.arange(3.0).mean()
        return f.attrs["a"], f.attrs["b"]


@step
def a_function_of_a_dataset(np, h5py):
    with file(h5py) as f:
        f["a"] = np.arange(3.0)
        return np.asarray(f["a"]) * 2, np.sum(np.asarray(f["a"]))


@step
def elements_by_a_slice_and_a_mask(np, h5py):
    with file(h5py) as f:
        made = f.create_dataset("a", data=np.arange(6.0).reshape(2, 3))
        made[0, np.array([True, False, True])] = np.array([7.0, 8.0])
        return made[:, np.array([True, False, True])], made[()]


@step
def rows_of_several_lengths(np, h5py):
    with file(h5py) as f:
        rows = np.empty(2, dtype=object)
        rows[0], rows[1] = np.arange(3, dtype=np.int32), np.arange(5, dtype=np.int32)
        made = f.create_dataset("a", data=rows, dtype=h5py.vlen_dtype(np.int32))
        made[1] = np.ones(2, np.int32)
        return [row.tolist() for row in made[()]]


@step
def a_record_with_a_row_in_it_as_an_attribute(np, h5py):
    with file(h5py) as f:
        kind = np.dtype([("row", h5py.vlen_dtype(np.int32)), ("n", np.int64)])
        f.attrs["a"] = np.array((np.arange(3, dtype=np.int32), 7), dtype=kind)[()]
        return f.attrs["a"]["row"].tolist(), int(f.attrs["a"]["n"])


@step
def texts_by_the_type_of_texts(np, h5py):
    with file(h5py) as f:
        f["a"] = np.array(["x", "yz"], dtype=h5py.string_dtype())
        return f["a"].asstr()[()].tolist(), f["a"].dtype.metadata == {"vlen": str}


@step
def enumerations_keep_their_names(np, h5py):
    kind = h5py.enum_dtype({"red": 0, "green": 1})
    with file(h5py) as f:
        f["a"] = np.array([1, 0], dtype=kind)
        arrays = np.zeros(2, kind), np.ones(2, kind)[1:], np.arange(2).astype(kind), np.empty(0, kind)
        names = [h5py.check_enum_dtype(each.dtype) for each in (f["a"], *arrays)]
        return names, f["a"][()].tolist(), (arrays[1] + 1).tolist()


test_h5py = step.tests()
