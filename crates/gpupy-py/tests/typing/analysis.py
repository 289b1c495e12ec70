"""A program of NumPy's submodules, each imported in another way."""

from typing import assert_type

import gpupy as np
import gpupy.polynomial.polynomial as poly
from gpupy import fft, linalg
from gpupy.lib.stride_tricks import sliding_window_view
from gpupy.linalg import LinAlgError, norm
from gpupy.random import Generator, default_rng
from gpupy.typing import NDArray


def noise(generator: Generator, length: int) -> NDArray[np.float64]:
    drawn = generator.standard_normal(length)
    assert_type(generator, np.random.Generator)
    return drawn + generator.random(length)


def spectrum(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.fft.rfft(signal)
    return np.abs(found).astype(np.float64)


def solved(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.floating] | None:
    try:
        return linalg.solve(matrix, right)
    except LinAlgError:
        return None


def main() -> None:
    signal = noise(default_rng(1), 64)
    strong = spectrum(signal)
    frequencies = fft.rfftfreq(signal.size, d=0.1)
    matrix = np.eye(3) * 2 + np.ones((3, 3))
    answer = solved(matrix, np.arange(3.0))
    values, vectors = np.linalg.eigh(matrix)
    q, r = np.linalg.qr(matrix)
    decomposed = np.linalg.svd(matrix, full_matrices=False)
    print(strong.shape, frequencies[1], answer, norm(matrix), np.linalg.det(matrix))
    print(values, vectors, q @ r, decomposed.S, np.linalg.inv(matrix))
    windows = sliding_window_view(signal, 4)
    print(windows.mean(axis=-1)[:2], poly.polyval(2.0, [1.0, 2.0]), np.polynomial.Polynomial([1.0, 2.0])(3.0))
    print(np.ma.masked_array([1.0, 2.0], mask=[False, True]).sum(), np.char.upper(np.array(["a"])))
    np.testing.assert_allclose(q @ r, matrix, atol=1e-12)
    with np.errstate(divide="ignore"):
        print(np.log(np.zeros(2)))


if __name__ == "__main__":
    main()
