"""Which bytes an array shows, which of them a device lacks, and that a launch sends no others."""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import gpupy

KEYS = st.lists(
    st.builds(slice, *[st.one_of(st.none(), st.integers(-25, 25))] * 2, st.sampled_from([1, 2, 3, -1, -2])),
    min_size=1,
    max_size=2,
).map(tuple)
WAYS = st.sampled_from(["rows", "scalar", "indices", "mask", "flat"])
STEPS = st.lists(st.tuples(KEYS, WAYS, st.booleans()), min_size=1, max_size=6)


def found(driver):
    return next(row for row in gpupy.drivers() if row["name"] == driver)


def sends(driver):
    """Whether the driver has memory of its own, to which bytes are sent."""
    return not found(driver)["host_memory"]


def imports(driver):
    """Whether the driver reads large arrays in host memory where they lie."""
    return found(driver)["imports"]


def written(array, model, key, way, number):
    """Writes alike to an array and to NumPy's, by a view or by what names elements."""
    if way == "scalar":
        array[key] = model[key] = number
    elif way == "rows":
        array[key] = model[key] = (
            np.arange(model[key].size, dtype=np.float32).reshape(model[key].shape) + number
        )
    elif way == "flat":
        # A view of one axis that goes over the ends of rows.
        array.reshape(-1)[key[0]] = model.reshape(-1)[key[0]] = number
    else:
        rows = np.arange(len(model))[key[0]]
        index = rows if way == "indices" else np.isin(np.arange(len(model)), rows)
        values = np.full((len(rows), model.shape[1]), number, np.float32)
        array[index] = model[index] = values


def covers(extents, start, stop):
    return any(first <= start and stop <= first + size for first, size in extents)


@given(steps=STEPS)
def test_what_was_written_is_pending_and_arrives(limited, steps):
    model = np.arange(23 * 5, dtype=np.float32).reshape(23, 5)
    array = gpupy.asarray(model.copy())
    others = array[::-1, 1::2], array[3:17].T
    for number, (key, way, computes) in enumerate(steps, 1):
        if computes:
            gpupy.evaluate(array * 2)
        before = model.copy()
        written(array, model, key, way, number)
        changed = np.flatnonzero(before.reshape(-1) != model.reshape(-1))
        pending = array.pending_extents
        # All elements as one number are a constant, which is not sent.
        if sends(limited) and np.unique(model).size > 1:
            assert all(covers(pending, 4 * at, 4 * at + 4) for at in changed)
        for view in (array, *others):
            pending, (_, size) = view.pending_extents, view.extents
            assert all(0 <= first and length > 0 and first + length <= size for first, length in pending)
            assert all(a + b < c for (a, b), (c, _) in itertools.pairwise(pending))
            first, last = (pending or [(0, 0)])[0], (pending or [(0, 0)])[-1]
            hull = (first[0], last[0] + last[1] - first[0]) if pending else None
            assert view.pending_data == hull
        assert (array * 2).tolist() == (model * 2).tolist()
        assert [view.tolist() for view in others] == [model[::-1, 1::2].tolist(), model[3:17].T.tolist()]
    assert array.tolist() == model.tolist()


@given(steps=STEPS)
def test_a_launch_sends_no_more_than_is_pending(driver, steps):
    model = np.arange(23 * 5, dtype=np.float32).reshape(23, 5)
    array = gpupy.asarray(model.copy())
    assert array.pending_data == ((0, model.nbytes) if sends(driver) else None)
    gpupy.evaluate(array * 2)
    for number, (key, way, _) in enumerate(steps, 1):
        assert array.pending_extents == []
        written(array, model, key, way, number)
        gpupy.evaluate(array)
        gpupy.reset_stats()
        pending = array.pending_extents
        result = array * 2
        gpupy.evaluate(result)
        # What is written by the device itself was sent before, if it was the host's at all.
        assert gpupy.stats().bytes_uploaded <= sum(size for _, size in pending)
        assert gpupy.stats().extents_uploaded <= len(pending)
        assert result.tolist() == (model * 2).tolist()


@pytest.mark.parametrize("way", ["slice", "backwards", "steps", "indices", "mask", "flat"])
def test_ten_rows_of_a_million_are_all_that_is_sent(driver, way):
    rows = np.full((10, 3), 7, np.float32)
    array = gpupy.zeros((10**6, 3), np.float32) + gpupy.arange(3, dtype=np.float32)
    array = gpupy.asarray(array.to_numpy(copy=True))
    gpupy.evaluate(array * 2)
    assert array.pending_data is None
    gpupy.reset_stats()
    if way == "slice":
        array[100:110] = rows
        expected = [(1200, 120)]
    elif way == "backwards":
        array[109:99:-1] = rows
        expected = [(1200, 120)]
    elif way == "steps":
        array[100:200:10] = rows
        expected = [(1200 + 120 * row, 12) for row in range(10)]
    elif way == "indices":
        array[np.arange(10) * 100 + 7] = rows
        expected = [(84 + 1200 * row, 12) for row in range(10)]
    elif way == "mask":
        array[np.arange(10**6) % 100_000 == 1] = rows
        expected = [(12 + 1_200_000 * row, 12) for row in range(10)]
    else:
        array.reshape(-1)[1:31] = rows.reshape(-1)
        expected = [(4, 120)]
    if way in ("indices", "mask"):
        # Which elements these are is known when it is computed.
        gpupy.evaluate(array)
    # A driver that reads host memory where it lies is sent nothing of what was written there.
    is_sent = sends(driver) and (way not in ("indices", "mask", "flat") or not imports(driver))
    assert array.pending_extents == expected or not is_sent
    moved = gpupy.stats().bytes_uploaded
    gpupy.evaluate(array * 2)
    if is_sent:
        assert gpupy.stats().bytes_uploaded - moved == 120
        # Ten rows of indices, of eight bytes at most, and as many of a mask.
        assert moved <= 80 if way in ("indices", "mask") else moved == 0
    assert (array * 2)[:, 1].sum() == 2 * 10**6 + 2 * 10 * 6


def test_extents_are_numpys_bounds(auto):
    model = np.zeros((7, 5, 3), np.int32)
    array = gpupy.asarray(model)
    for key in [..., np.s_[2], np.s_[::-2], np.s_[1:4, ::-1, 2], np.s_[6, 4, 2:], np.s_[:0], np.s_[..., 1]]:
        seen = model[key]
        low, high = np.lib.array_utils.byte_bounds(seen)
        low, high = low - model.ctypes.data, high - model.ctypes.data
        offset, size = array[key].extents
        assert (offset, size) == (low, high - low) if seen.size else size == 0
    assert array[2].view(np.int16)[1:].extents == (2 * 60 + 12, 48)


def test_all_of_a_pinned_base_is_pending(auto):
    array = gpupy.asarray(np.arange(100, dtype=np.float32))
    gpupy.evaluate(array * 2)
    memory = np.asarray(array)
    assert array.pending_extents == [(0, 400)] and array[10:20].pending_data == (0, 40)
    memory[3] = 5
    assert (array * 2)[3] == 10 and array.pending_data == (0, 400)


def test_a_constant_is_sent_as_a_number(driver):
    array = gpupy.zeros((1000, 4), np.float32)
    gpupy.evaluate(array + 1)
    assert array.pending_extents == []
    # What is written into one is computed from the number and what is written.
    array[5:7] = np.ones((2, 4), np.float32)
    assert array.pending_data == (0, 16_000)
    gpupy.reset_stats()
    assert (array + 1).sum() == 4008 and gpupy.stats().bytes_uploaded <= 32


def test_a_subclass_has_attributes_of_these_names(auto):
    class Named(gpupy.ndarray):
        @property
        def extents(self):
            return "mine"

    class Set(gpupy.ndarray):
        def __array_finalize__(self, of):
            self.extents = self.pending_data = self._extents = "set"

    array = gpupy.arange(5)
    assert array.view(Named).extents == "mine" and array.view(Named).pending_data == array.pending_data
    kept = array.view(Set)[1:]
    assert kept.extents == kept.pending_data == kept._extents == "set"
    with pytest.raises(AttributeError):
        array.extents = 1


def test_of_records_what_changed_is_pending_and_sent(driver, monkeypatch):
    kind = np.dtype([("position", np.float32, 3), ("mass", np.float32), ("number", np.int32)])
    records = gpupy.zeros(10**5, kind)
    with gpupy.fallback("error"):
        records["mass"] = 2
        assert records.extents == (0, 2_000_000) and records["mass"].extents == (12, 1_999_984)
        assert records.pending_data == (0, 2_000_000)
        assert (records["mass"] * 3).sum() == 6 * 10**5
        if sends(driver):
            assert records["mass"].pending_data is None
        records["position"][1000, 1] = 4
        records[70_000:70_002]["mass"] = 5
        pending = records.pending_extents
        changed = [(20_004, 4), (1_400_012, 24)]
        assert all(covers(pending, at, at + size) for at, size in changed)
        if sends(driver):
            assert pending == changed
        gpupy.reset_stats()
        assert (records["mass"] * 3).sum() == 6 * 10**5 + 18
        assert gpupy.stats().bytes_uploaded <= 4 * 8
        assert (records["position"][:, 1] + 1).sum() == 10**5 + 4
