"""A program as people write it: heat in a plate, in functions with annotated arrays."""

from typing import assert_type

import numpy

import gpupy as np
from gpupy.typing import ArrayLike, DTypeLike, NDArray

Plate = NDArray[np.float64]


def plate(rows: int, columns: int, dtype: DTypeLike = np.float64) -> np.ndarray:
    made = np.zeros((rows, columns), dtype=dtype)
    made[0, :] = 1.0
    made[1:-1, ::2] += 0.5
    return made


def step(heat: Plate, rate: float = 0.1) -> Plate:
    inner = heat[1:-1, 1:-1]
    around = heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]
    after = heat.copy()
    after[1:-1, 1:-1] = inner + rate * (around - 4 * inner)
    return after


def limited(heat: Plate, most: float) -> Plate:
    out = np.empty_like(heat)
    np.minimum(heat, most, out=out)
    np.negative(heat, out=out, where=heat < 0)
    np.add(out, 1, out=out, casting="same_kind")
    return out


def hot(heat: Plate, least: float) -> NDArray[np.bool]:
    return (heat > least) & ~np.isnan(heat)


def spread(heat: ArrayLike) -> float:
    values = np.asarray(heat, dtype=np.float64)
    return float(values.max() - values.min())


def by_numpy(heat: Plate) -> Plate:
    # What takes NumPy's arrays takes ours.
    return numpy.ascontiguousarray(numpy.flipud(heat))


def main() -> None:
    heat = np.asarray(plate(6, 8), dtype=np.float64)
    assert_type(heat, NDArray[np.float64])
    for _ in range(3):
        heat = step(heat)
    heat = limited(heat, 0.75) - 1.0
    mask = hot(heat, 0.1)
    assert_type(mask, NDArray[np.bool])
    picked = heat[mask]
    picked[0] = heat.T[0, 1]
    total = np.sum(picked, dtype=np.float64)
    assert_type(total, np.float64)
    rows: NDArray[np.intp] = np.argmax(heat, axis=1)
    narrow = heat.astype(np.float32).reshape(-1)
    assert_type(narrow, np.ndarray[tuple[int], np.dtype[np.float32]])
    joined = np.concatenate([narrow, np.arange(4, dtype=np.float32)])
    np.where(joined > 0, joined, 0)
    print(total.item(), rows.shape, joined.size, spread(heat), by_numpy(heat)[0, 0])
    print(np.stack([heat, heat]).mean(axis=0).tolist()[0], heat @ heat.T, np.einsum("ij->i", heat))
    for row in heat:
        print(row)


if __name__ == "__main__":
    main()
