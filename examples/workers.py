"""Heat in a plate and the main components of pictures, computed by two workers of Dask in chunks of gpupy's.

NumPy computes the same programs in one piece; the results are compared and drawn. It needs Dask:

    pip install gpupy-array[dask] matplotlib
    python examples/workers.py --output workers.png
"""

import argparse
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from matplotlib import pyplot

# The import registers the back end; without this line Dask finds it by its entry point.
import gpupy  # noqa: F401

RATE = 0.2  # the flow to each neighbour in a step, as a part of the difference
DEPTH = 10  # steps between two exchanges of edges
SIDE = 16  # pixels of a picture in each direction
COMPONENTS = 8
PARTS = 8  # of the pictures, a chunk each


def plate(size):
    """A cold plate with two warm discs and a warm bar."""
    rows, columns = np.indices((size, size)) / size
    discs = (np.hypot(rows - 0.3, columns - 0.35) < 0.12) | (np.hypot(rows - 0.6, columns - 0.7) < 0.08)
    return np.where(discs | ((abs(rows - 0.85) < 0.02) & (abs(columns - 0.4) < 0.3)), 1.0, 0.0)


def flow(warmth, steps=DEPTH):
    """Some steps of heat; nothing leaves the plate."""
    for _ in range(steps):
        around = np.pad(warmth, 1, mode="edge")
        neighbours = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        warmth = warmth + RATE * (neighbours - 4 * warmth)
    return warmth


def flow_in_chunks(warmth, steps):
    """Heat in chunks: each takes as many cells of its neighbours along as heat reaches in its steps."""
    for _ in range(steps // DEPTH):
        warmth = warmth.map_overlap(flow, depth=DEPTH, boundary="none", meta=warmth._meta)
    return warmth


def pictures(count, part):
    """Pictures of a bright spot somewhere, a row of pixels each; other ones in each part."""
    generator = np.random.default_rng(part)
    places, width = generator.random((2, count, 1, 1)), 0.1 + 0.1 * generator.random((count, 1, 1))
    rows, columns = np.indices((SIDE, SIDE)) / SIDE
    distance = np.hypot(rows - places[0], columns - places[1])
    return np.exp(-((distance / width) ** 2)).reshape(count, -1)


def components(table, svd):
    """The main directions of a table's rows, and how much they vary along each."""
    _, values, directions = svd(table - table.mean(axis=0))
    return directions[:COMPONENTS], (values**2 / (len(table) - 1))[:COMPONENTS]


def difference(found, wanted):
    """How far an array lies from NumPy's, beside NumPy's largest element."""
    return float(abs(np.asarray(found) - wanted).max() / abs(wanted).max())


def aligned(found, wanted):
    """Directions whose signs are NumPy's: a direction is one with either."""
    found = np.asarray(found)
    return found * np.sign((found * wanted).sum(axis=1, keepdims=True))


def draw(before, after, directions, variances, output):
    """The plate before and after, the components as pictures, and their variances."""
    figure, grid = pyplot.subplots(3, 4, figsize=(10, 7.5), layout="constrained")
    for axes, warmth, title in zip(
        grid[0], (before, after), ("at the start", "after the steps"), strict=False
    ):
        axes.imshow(np.sqrt(warmth), cmap="inferno", vmin=0, vmax=1)
        axes.set_title("plate " + title)
    grid[0, 2].bar(range(1, COMPONENTS + 1), variances)
    grid[0, 2].set_title("variance of each component")
    grid[0, 3].remove()
    for number, (axes, direction) in enumerate(zip(grid[1:].flat, directions, strict=True), 1):
        bound = abs(direction).max()
        axes.imshow(direction.reshape(SIDE, SIDE), cmap="coolwarm", vmin=-bound, vmax=bound)
        axes.set_title(f"component {number}")
    for axes in [*grid[0, :2], *grid[1:].flat]:
        axes.set_axis_off()
    figure.savefig(output, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=800, help="cells of the plate in each direction")
    parser.add_argument("--steps", type=int, default=400, help="steps of heat, a multiple of 10")
    parser.add_argument("--pictures", type=int, default=40_000, help="how many pictures there are")
    parser.add_argument("--workers", type=int, default=2, help="processes that compute")
    parser.add_argument("--output", default="workers.png", help="the image to write")
    options = parser.parse_args()

    count = options.pictures // PARTS
    before, table = plate(options.size), np.concatenate([pictures(count, part) for part in range(PARTS)])
    began = time.perf_counter()
    wanted_heat = flow(before, options.steps)
    wanted, wanted_variances = components(table, lambda rows: np.linalg.svd(rows, full_matrices=False))
    print(f"NumPy, in one piece: {time.perf_counter() - began:.1f} s")

    dask.config.set({"array.backend": "gpupy"})
    with LocalCluster(n_workers=options.workers, dashboard_address=None) as cluster, Client(cluster):
        heat = da.from_array(before, chunks=options.size // 2).to_backend()
        # The workers make the pictures, so that only their numbers are sent.
        parts = [dask.delayed(pictures)(count, part) for part in range(PARTS)]
        chunks = [da.from_delayed(part, (count, SIDE**2), dtype=float) for part in parts]
        rows = da.concatenate(chunks).to_backend()
        began = time.perf_counter()
        graphs = flow_in_chunks(heat, options.steps), *components(rows, da.linalg.svd)
        warmth, directions, variances = dask.compute(*graphs)
        print(f"{options.workers} workers, in chunks of gpupy's: {time.perf_counter() - began:.1f} s")

    directions = aligned(directions, wanted)
    print(f"heat: largest difference {difference(warmth, wanted_heat):.1e}")
    print(f"variances: largest difference {difference(variances, wanted_variances):.1e}")
    print(f"components: largest difference {difference(directions, wanted):.1e}")
    draw(before, np.asarray(warmth), directions, np.asarray(variances), options.output)


if __name__ == "__main__":
    main()
