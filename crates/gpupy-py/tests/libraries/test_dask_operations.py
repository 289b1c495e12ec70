"""Operations of Dask's arrays: those that keep our chunks, and the others with Dask's reason.

Owns the table of operations. Each is done with Dask's back end of NumPy's and with ours, and compared. What
does not keep our chunks, or does not say that it does, stands under Dask's reason; the lists are strict. Not
here: workers (``test_dask_workers.py``), what Dask is told (``test_dask_chunks.py``).
"""

import numpy
import pytest
from steps import compare

import gpupy

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

RANDOM = numpy.random.default_rng(0)
MATRIX = RANDOM.random((40, 40)) + 40 * numpy.eye(40)
LINE = RANDOM.random(1000)
TALL = RANDOM.random((400, 6))
WHOLE = RANDOM.integers(0, 9, 1000)


class Data:
    """Dask's arrays of the data above, in chunks of a namespace's."""

    def __init__(self, namespace):
        def made(array, chunks):
            return da.from_array(namespace.asarray(array), chunks=chunks)

        self.matrix, self.line = made(MATRIX, 20), made(LINE, 300)
        self.uneven, self.single = made(MATRIX, 17), made(LINE, 1000)
        self.tall, self.wide = made(TALL, (100, 6)), made(TALL.T, (6, 100))
        self.rows, self.whole = made(MATRIX, (17, 40)), made(WHOLE, 300)
        self.positive = made(MATRIX @ MATRIX.T, 20)


def written(x):
    x = x.copy()
    x[2:5] = -1
    return x


def generator():
    return da.random.default_rng(3)


# Chunks and meta are ours.
OURS = {
    # Creation.
    "ones": lambda d: da.ones((10, 12), chunks=5),
    "zeros": lambda d: da.zeros((10, 12), chunks=5, dtype="i4"),
    "full": lambda d: da.full((10, 12), 3.5, chunks=5),
    "empty": lambda d: da.empty((10, 12), chunks=5) * 0,
    "arange": lambda d: da.arange(0.0, 10.0, 0.5, chunks=7),
    "ones_like": lambda d: da.ones_like(d.uneven),
    "full_like": lambda d: da.full_like(d.uneven, 2.0),
    "from_array": lambda d: d.uneven,
    "from_delayed": lambda d: da.from_delayed(
        d.matrix.to_delayed()[0, 1], (20, 20), dtype=float, meta=d.matrix._meta
    ),
    "random": lambda d: generator().random((30, 30), chunks=11),
    "normal": lambda d: generator().normal(2.0, 3.0, size=(30, 30), chunks=11),
    "integers": lambda d: generator().integers(0, 10, size=100, chunks=30),
    "permutation": lambda d: generator().permutation(d.line),
    "RandomState": lambda d: da.random.RandomState(3).uniform(size=(30, 30), chunks=11),
    "diag": lambda d: da.diag(d.line[:30]),
    "tri": lambda d: da.tri(20, chunks=7),
    "indices": lambda d: da.indices((6, 8), chunks=(3, 4)),
    "nonzero": lambda d: da.nonzero(d.whole)[0],
    "argwhere": lambda d: da.argwhere(d.whole),
    "to_backend and back": lambda d: d.uneven.to_backend("numpy").to_backend(),
    # Elements.
    "arithmetic": lambda d: d.uneven * 2 + d.uneven.T,
    "sqrt": lambda d: numpy.sqrt(d.uneven),
    "where": lambda d: da.where(d.uneven > 0.5, d.uneven, 0),
    "clip": lambda d: da.clip(d.uneven, 0.2, 0.7),
    "astype": lambda d: d.uneven.astype("f4"),
    "round": lambda d: d.uneven.round(2),
    "isclose": lambda d: da.isclose(d.uneven, 0.5, atol=0.3),
    "digitize": lambda d: da.digitize(d.line, numpy.array([0.2, 0.5])),
    "isin": lambda d: da.isin(d.whole, [1, 2]),
    "select": lambda d: da.select([d.uneven > 0.5], [d.uneven], 0),
    "imaginary parts": lambda d: (d.uneven * 1j).imag,
    # Axes reduced.
    "sum": lambda d: d.uneven.sum(axis=0),
    "mean": lambda d: d.uneven.mean(axis=1),
    "var": lambda d: d.uneven.var(axis=1),
    "max": lambda d: d.uneven.max(axis=0),
    "prod": lambda d: (d.uneven / 20).prod(axis=0),
    "any": lambda d: (d.uneven > 0.99).any(axis=0),
    "nansum": lambda d: da.nansum(d.uneven, axis=0),
    "ptp": lambda d: da.ptp(d.uneven, axis=0),
    "average": lambda d: da.average(d.uneven, axis=0),
    "median": lambda d: da.median(d.uneven, axis=0),
    "cumsum": lambda d: d.uneven.cumsum(axis=0),
    "cumprod": lambda d: d.tall.cumprod(axis=1),
    "topk": lambda d: da.topk(d.line, 5),
    "argtopk": lambda d: da.argtopk(d.line, 5),
    "percentile": lambda d: da.percentile(d.single, [25, 50, 75]),
    "bincount": lambda d: da.bincount(d.whole, minlength=10),
    "searchsorted": lambda d: da.searchsorted(da.cumsum(d.line), d.line[:50] * 100),
    "cov": lambda d: da.cov(d.wide),
    "corrcoef": lambda d: da.corrcoef(d.wide),
    # Products and decompositions.
    "matmul": lambda d: d.uneven @ d.uneven,
    "tensordot": lambda d: da.tensordot(d.uneven, d.uneven, axes=1),
    "einsum": lambda d: da.einsum("ij,jk->ik", d.uneven, d.uneven),
    "outer": lambda d: da.outer(d.line[:50], d.line[:30]),
    "solve": lambda d: da.linalg.solve(d.matrix, d.matrix[:, :1].rechunk((20, 1))),
    "solve_triangular": lambda d: da.linalg.solve_triangular(
        da.tril(d.matrix), d.matrix[:, :1].rechunk((20, 1)), lower=True
    ),
    "inv": lambda d: da.linalg.inv(d.matrix),
    "cholesky": lambda d: da.linalg.cholesky(d.positive, lower=True),
    "lstsq": lambda d: da.linalg.lstsq(d.tall, d.tall[:, 0] * 2)[0],
    "qr": lambda d: abs(da.linalg.qr(d.tall)[0]),
    "tsqr": lambda d: abs(da.linalg.tsqr(d.tall)[1]),
    "sfqr": lambda d: abs(da.linalg.sfqr(d.wide)[1]),
    "svd, values": lambda d: da.linalg.svd(d.tall)[1],
    "svd, vectors": lambda d: abs(da.linalg.svd(d.tall)[0]),
    "svd_compressed": lambda d: da.linalg.svd_compressed(d.tall, 6, seed=1)[1],
    # Views and shapes.
    "transposed": lambda d: d.uneven.T,
    "reshape": lambda d: d.matrix.reshape(1600),
    "slices": lambda d: d.uneven[3:30:2, ::-1],
    "an index array": lambda d: d.uneven[[3, 1, 39]],
    "take": lambda d: da.take(d.uneven, [3, 1], axis=1),
    "vindex": lambda d: d.uneven.vindex[[3, 1], [2, 5]],
    "a written slice": lambda d: written(d.uneven),
    "concatenate": lambda d: da.concatenate([d.uneven, d.uneven]),
    "stack": lambda d: da.stack([d.uneven, d.uneven]),
    "block": lambda d: da.block([[d.uneven, d.uneven]]),
    "roll": lambda d: da.roll(d.uneven, 3, axis=0),
    "flip": lambda d: da.flip(d.uneven, 0),
    "pad by the edge": lambda d: da.pad(d.uneven, 2, mode="edge"),
    "repeat": lambda d: da.repeat(d.uneven, 2, axis=0),
    "tile": lambda d: da.tile(d.uneven, 2),
    "broadcast_to": lambda d: da.broadcast_to(d.uneven, (3, 40, 40)),
    "diff": lambda d: da.diff(d.uneven, axis=0),
    "expand_dims and squeeze": lambda d: da.expand_dims(d.uneven, 0).squeeze(),
    "triu": lambda d: da.triu(d.matrix),
    "meshgrid": lambda d: da.meshgrid(d.line[:30], d.line[:20])[0],
    "moveaxis": lambda d: da.moveaxis(d.uneven[None], 0, 2),
    "delete": lambda d: da.delete(d.uneven, 3, axis=0),
    "append": lambda d: da.append(d.uneven, d.uneven, axis=0),
    "compress": lambda d: da.compress(numpy.arange(40) % 2 == 0, d.uneven, axis=0),
    "shuffle": lambda d: da.shuffle(d.matrix, [[3, 1], [2, 5]], axis=0),
    # Blocks.
    "rechunk": lambda d: d.uneven.rechunk((40, 5)),
    "map_blocks": lambda d: d.uneven.map_blocks(lambda b: b * 2),
    "map_overlap, periodic": lambda d: d.matrix.map_overlap(
        lambda b: b + numpy.roll(b, 1, 0), depth=1, boundary="periodic"
    ),
    "map_overlap, reflected": lambda d: d.matrix.map_overlap(
        lambda b: b + numpy.roll(b, 1, 0), depth=1, boundary="reflect"
    ),
    "map_overlap, constant": lambda d: d.matrix.map_overlap(
        lambda b: b + numpy.roll(b, 1, 0), depth=1, boundary=0
    ),
    "map_overlap, none": lambda d: d.matrix.map_overlap(lambda b: b * 2, depth=1, boundary="none"),
    "sliding windows": lambda d: da.lib.stride_tricks.sliding_window_view(d.line, 5).mean(axis=-1),
}

# Chunks are ours, and the array's meta is NumPy's.
NO_META = {
    "Dask passes no meta of what it selects by another array": {
        "a mask": lambda d: d.line[d.line > 0.5],
    },
    "Dask passes no meta of reductions to places, and of those by name": {
        "argmax": lambda d: d.uneven.argmax(axis=0),
        "quantile": lambda d: da.quantile(d.tall, 0.5, axis=0),
        "coarsen": lambda d: da.coarsen(numpy.mean, d.matrix, {0: 2, 1: 2}),
        "histogram": lambda d: da.histogram(d.line, bins=10, range=(0, 1))[0],
    },
    "Dask asks the function about an array of NumPy's": {
        "gradient": lambda d: da.gradient(d.line.rechunk(250))[0],
        "fft": lambda d: da.fft.fft(d.rows),
        "apply_along_axis": lambda d: da.apply_along_axis(
            lambda row: row * 2, 1, d.uneven, dtype=float, shape=(40,)
        ),
    },
}

# Some chunks, or all, are NumPy's.
NUMPYS = {
    "Dask makes them of NumPy's arrays, whatever the back end: `to_backend()` follows": {
        "eye": lambda d: da.eye(20, chunks=7),
        "linspace": lambda d: da.linspace(0, 1, 50, chunks=20),
        "lu": lambda d: da.linalg.lu(d.matrix)[2],
    },
    "Dask joins chunks with constants of NumPy's": {
        "pad by a constant": lambda d: da.pad(d.uneven, 2, mode="constant"),
        "insert": lambda d: da.insert(d.uneven, 3, 0, axis=0),
    },
    "Dask puts the parts into records, which are NumPy's": {
        "unique": lambda d: da.unique(d.whole),
        "histogram2d": lambda d: da.histogram2d(d.line, d.line, bins=[4, 4], range=[(0, 1), (0, 1)])[0],
    },
}

# Results without axes are NumPy's scalars, as without Dask where their value is known.
SCALARS = {
    "sum": lambda d: d.uneven.sum(),
    "mean": lambda d: d.uneven.mean(),
    "std": lambda d: d.uneven.std(),
    "min": lambda d: d.uneven.min(),
    "argmin": lambda d: d.line.argmin(),
    "all": lambda d: (d.uneven > 0.99).all(),
    "nanmean": lambda d: da.nanmean(d.uneven),
    "moment": lambda d: da.reductions.moment(d.line, 3),
    "dot": lambda d: da.dot(d.line, d.line),
    "norm": lambda d: da.linalg.norm(d.uneven),
    "count_nonzero": lambda d: da.count_nonzero(d.whole),
    "allclose": lambda d: da.allclose(d.uneven, d.uneven),
}


def flat(table):
    return {name: step for steps in table.values() for name, step in steps.items()}


def parametrized(table):
    return pytest.mark.parametrize("step", table.values(), ids=table)


def both(step):
    """The array that an operation gives with our chunks, which has the values that it has with NumPy's."""
    with dask.config.set({"array.backend": "numpy", "scheduler": "threads"}):
        wanted = step(Data(numpy))
    with dask.config.set({"array.backend": "gpupy", "scheduler": "threads"}):
        found = step(Data(gpupy))
        assert (found.shape, found.dtype, found.chunks) == (wanted.shape, wanted.dtype, wanted.chunks) or (
            numpy.isnan(wanted.shape).any()
        )
        compare(found.compute(), wanted.compute())
    return found


def chunks(array):
    parts = dask.compute(*numpy.ravel(numpy.array(array.to_delayed(), dtype=object)), scheduler="threads")
    return {type(part) for part in parts}


@parametrized(OURS)
def test_chunks_and_meta_stay_ours(step):
    array = both(step)
    assert type(array._meta) is gpupy.ndarray
    assert array._meta.shape == (0,) * array.ndim
    assert chunks(array) == {gpupy.ndarray}


@parametrized(flat(NO_META))
def test_chunks_stay_ours_where_dask_passes_no_meta(step):
    array = both(step)
    assert type(array._meta) is numpy.ndarray, "it belongs to `OURS` now"
    assert chunks(array) == {gpupy.ndarray}


@parametrized(flat(NUMPYS))
def test_chunks_become_numpys_for_dasks_reason_and_ours_again(step):
    array = both(step)
    assert numpy.ndarray in chunks(array), "it belongs to `OURS` now"
    with dask.config.set({"array.backend": "gpupy"}):
        ours = array.map_blocks(gpupy.asarray)
    assert chunks(ours) == {gpupy.ndarray}


@parametrized(SCALARS)
def test_what_has_no_axes_is_numpys_scalar(step):
    array = both(step)
    assert array.ndim == 0
    (kind,) = chunks(array)
    assert issubclass(kind, numpy.generic)
    # With an array of ours it gives one of ours.
    assert type((Data(gpupy).line + array).compute(scheduler="threads")) is gpupy.ndarray


@parametrized({name: step for name, step in OURS.items() if "to_backend" not in name})
def test_a_back_end_of_numpys_gives_numpys_chunks(step):
    with dask.config.set({"array.backend": "gpupy", "scheduler": "threads"}):
        array = step(Data(gpupy))
        back = array.to_backend("numpy")
    assert type(back._meta) is numpy.ndarray
    assert chunks(back) == {numpy.ndarray}
