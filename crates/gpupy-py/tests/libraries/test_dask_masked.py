"""Dask with chunks of ours that are masked, or of another subclass; the oracle is Dask with NumPy's.

Not here: plain chunks (``test_dask_chunks.py``).
"""

import numpy
import pytest

import gpupy

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
base = pytest.importorskip("dask.base")

VALUES = numpy.arange(24.0).reshape(4, 6)


@pytest.fixture(autouse=True)
def scheduled():
    with dask.config.set({"scheduler": "threads"}):
        yield


def masked(np, where=VALUES % 5 == 0):
    return np.ma.array(np.asarray(VALUES), mask=np.asarray(where))


def chunks_of(array, chunks=(2, 3)):
    return da.from_array(array, chunks=chunks, asarray=False)


LINES = [
    "m", "m.sum()", "m.sum(axis=0)", "m.mean(axis=0)", "m.mean()", "m.std()", "m.var(axis=1)",
    "m.min(axis=0)", "(m + 1).prod(axis=0)", "m.argmin(axis=0)", "m.cumsum(axis=0)", "m.cumprod(axis=1)",
    "da.concatenate([m, m])", "da.stack([m, m])", "m.rechunk((4, 2))", "m.T", "m.reshape(-1)", "m[1:, ::2]",
    "da.take(m, [0, 2], axis=0)", "da.topk(m, 2)", "da.median(m, axis=0)", "da.tensordot(m, m.T, 1)",
    "da.ma.count(m, axis=0)", "da.ma.average(m, axis=0)", "da.ma.where(x > 5, m, 0)",
    "da.ma.ones_like(m)", "da.ma.filled(m, -1)",
    "da.ma.masked_greater(x, 5).mean(axis=1)", "da.ma.masked_greater(x, 5).std()",
    "da.ma.masked_invalid(x / x).mean()", "m.to_backend(other).sum()", "m.to_backend('numpy').mean(axis=0)",
    "theirs.to_backend(other).sum()", "da.percentile(m.reshape(-1), 50)", "da.where(x > 5, m, 0)",
    "da.unique(m)",
    "m.map_overlap(lambda block: block + 1, depth=1, boundary='none')",
    "m.sum() * 1000 + chunks_of(masked(np, VALUES > 3)).sum()", "x.sum() * 1000 + m.sum()",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
@pytest.mark.filterwarnings("ignore")
def test_an_operation_gives_numpys_values_and_mask(line):
    found = []
    for np in (numpy, gpupy):
        names = {"np": np, "da": da, "masked": masked, "chunks_of": chunks_of, "VALUES": VALUES}
        names |= {"m": chunks_of(masked(np)), "x": chunks_of(np.asarray(VALUES)), "other": np.__name__}
        names["theirs"] = chunks_of(masked(numpy))
        found.append(eval(line, names).compute())
    theirs, ours = found
    mask = numpy.ma.getmaskarray(theirs)
    numpy.testing.assert_array_equal(numpy.asarray(gpupy.ma.getmaskarray(ours)), mask)
    values = (numpy.asarray(gpupy.ma.filled(ours, 0)), numpy.ma.filled(theirs, 0))
    numpy.testing.assert_allclose(*values, rtol=1e-6)


class Tagged(gpupy.ndarray):
    """One that keeps a word."""

    def __array_finalize__(self, of):
        self.word = getattr(of, "word", None)

    def __reduce__(self):
        made, args, state = super().__reduce__()
        return made, args, (*state, self.word)

    def __setstate__(self, state):
        *state, self.word = state
        super().__setstate__(tuple(state))


def tagged(word):
    array = gpupy.asarray(VALUES).view(Tagged)
    array.word = word
    return array


def test_a_token_tells_masks_fill_values_and_classes_apart_and_evaluates_nothing():
    names = [
        base.tokenize(array)
        for array in (
            gpupy.asarray(VALUES),
            masked(gpupy),
            masked(gpupy, VALUES > 3),
            gpupy.ma.array(masked(gpupy), fill_value=7.0),
            tagged("a"),
            tagged("b"),
        )
    ]
    assert len(set(names)) == len(names)
    assert base.tokenize(masked(gpupy)) == base.tokenize(masked(gpupy))
    assert base.tokenize(tagged("a")) == base.tokenize(tagged("a"))
    wide = gpupy.ma.array(gpupy.arange(1e6), mask=gpupy.arange(1e6) > 5) + 1
    gpupy.reset_stats()
    base.tokenize(wide)
    assert gpupy.stats()["launches"] == 0


def test_a_task_computes_the_mask_too():
    wide = gpupy.arange(1e6)
    chunk = chunks_of(gpupy.ma.array(wide, mask=wide > 5), -1)
    made = chunk.map_blocks(lambda block: gpupy.ma.sqrt(block - 3)).compute()
    gpupy.reset_stats()
    gpupy.evaluate(made.data, made.mask)
    assert gpupy.stats()["launches"] == 0


def test_what_goes_between_workers_keeps_its_class():
    protocol = pytest.importorskip("distributed.protocol")

    def sent(array):
        return protocol.deserialize(*protocol.serialize(array))

    made = sent(masked(gpupy))
    assert type(made) is gpupy.ma.MaskedArray
    numpy.testing.assert_array_equal(numpy.asarray(made.mask), VALUES % 5 == 0)
    made = sent(tagged("kept"))
    assert type(made) is Tagged and made.word == "kept"


def test_a_size_counts_the_mask():
    sizeof = pytest.importorskip("dask.sizeof").sizeof
    plain = gpupy.asarray(VALUES)
    assert sizeof(masked(gpupy)) == sizeof(plain) + sizeof(gpupy.asarray(VALUES > 3))
