"""Thousands of things that are seen dimly, each followed by a Kalman filter of its own.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/tracks.py --output tracks.png
    python -m gpupy examples/tracks.py --output tracks.png
"""

import argparse

import numpy as np
from PIL import Image

# A state is a place and a velocity in two directions; places are seen, with this deviation.
MOVES = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
SEES = np.eye(2, 4)
NOISE = 0.03
PUSH = np.eye(4) * np.array([1e-7, 1e-7, 4e-7, 4e-7])


def chance(*numbers):
    """Numbers from -1 to 1 without a pattern, the same in every library."""
    mixed = sum(n * np.uint32(k) for n, k in zip(numbers, (2654435769, 2246822519, 3266489917), strict=False))
    mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(2246822519)
    mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(3266489917)
    return (mixed >> np.uint32(8)).astype(np.float64) * 2.0**-23 - 1.0


def paths(count, steps):
    """The true places, by step: rings that turn and drift."""
    k, t = np.arange(count), np.arange(steps)[:, np.newaxis]
    start = 2 * np.pi * k / count
    turned = start + 0.006 * t * (1 + k % 3)
    far = 0.25 + 0.1 * (k % 5)
    return np.stack([far * np.cos(turned), far * np.sin(turned)], axis=-1)


def seen(places):
    """The places with noise: the sum of three random numbers."""
    steps, count, _ = places.shape
    at = np.indices((steps, count, 2), dtype=np.uint32)
    return places + NOISE * sum(chance(at[0] * np.uint32(3) + np.uint32(n), at[1], at[2]) for n in range(3))


def followed(sights):
    """The filtered places, by step: a prediction, then a part of what was seen beyond it."""
    count = sights.shape[1]
    state = np.concatenate([sights[0], np.zeros((count, 2))], axis=1)[..., np.newaxis]
    unsure = np.broadcast_to(np.eye(4) * np.array([NOISE**2, NOISE**2, 1e-3, 1e-3]), (count, 4, 4))
    found = [state[:, :2, 0]]
    for sight in sights[1:]:
        state = MOVES @ state
        unsure = MOVES @ unsure @ MOVES.T + PUSH
        spread = SEES @ unsure @ SEES.T + NOISE**2 * np.eye(2)
        gain = unsure @ SEES.T @ np.linalg.inv(spread)
        state = state + gain @ (sight[..., np.newaxis] - SEES @ state)
        unsure = (np.eye(4) - gain @ SEES) @ unsure
        found.append(state[:, :2, 0])
    return np.stack(found)


def drawn(places, size):
    """A picture of places, lighter where more of them were."""
    at = np.clip((places * 0.6 + 0.5) * size, 0, size - 1).astype(np.int64)
    counts = np.bincount((at[..., 1] * size + at[..., 0]).ravel(), minlength=size * size)
    level = np.sqrt(counts.reshape(size, size) / counts.max())
    return (255 * np.clip(1.6 * level, 0.0, 1.0)).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=300, help="pixels along each side")
    parser.add_argument("--count", type=int, default=3000, help="things to follow")
    parser.add_argument("--steps", type=int, default=60, help="how often each is seen")
    parser.add_argument("--output", default="tracks.png", help="the image to write")
    options = parser.parse_args()

    places = paths(options.count, options.steps)
    sights = seen(places)
    filtered = followed(sights)
    half = options.steps // 2
    images = [drawn(each[half:], options.size) for each in (sights, filtered, places)]
    Image.fromarray(np.asarray(np.concatenate(images, axis=1))).save(options.output)
    for name, each in (("seen", sights), ("filtered", filtered)):
        apart = np.sqrt(((each - places)[half:] ** 2).sum(axis=-1).mean())
        print(f"{name}: {apart:.4f} from the true place")


if __name__ == "__main__":
    main()
