"""The price of an Asian option, which pays by the mean of a stock's prices, from many drawn paths.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/asian_option.py --output asian_option.png
    python -m gpupy examples/asian_option.py --output asian_option.png

Random numbers are those of NumPy's generator, which the device draws itself.
"""

import argparse

import numpy as np
from PIL import Image

START, STRIKE, RATE, VOLATILITY, YEARS = 100.0, 105.0, 0.03, 0.25, 1.0


def paths(count, steps):
    """Prices after each step: geometric Brownian motion."""
    rng = np.random.default_rng(20)
    radius = np.sqrt(-2.0 * np.log1p(-rng.random((count, steps))))
    normal = radius * np.cos(2.0 * np.pi * rng.random((count, steps)))
    step = YEARS / steps
    growth = (RATE - VOLATILITY**2 / 2) * step + VOLATILITY * np.sqrt(step) * normal
    return START * np.exp(np.cumsum(growth, axis=1))


def price(prices):
    """The price today, and its standard error."""
    pays = np.maximum(prices.mean(axis=1) - STRIKE, 0.0) * np.exp(-RATE * YEARS)
    return pays.mean(), pays.std() / np.sqrt(len(pays))


def picture(prices, height):
    """How many paths pass each price, by time, some of them alone, and the strike as a line."""
    count, steps = prices.shape
    rows = np.clip(height - (prices - 40.0) / 140.0 * height, 0, height - 1).astype(np.int64)
    passes = np.bincount((rows * steps + np.arange(steps)).ravel(), minlength=height * steps)
    level = (passes.reshape(height, steps) / count) ** 0.4
    level = level / level.max()
    level[rows[:9], np.arange(steps)] = 0.9
    level[int(height - (STRIKE - 40.0) / 140.0 * height)] = 1.0
    return (255 * np.stack([level, 0.85 * level**1.5, 0.35 + 0.3 * level], axis=-1)).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20000, help="paths to draw")
    parser.add_argument("--steps", type=int, default=250, help="days of a path")
    parser.add_argument("--output", default="asian_option.png", help="the image to write")
    options = parser.parse_args()

    prices = paths(options.count, options.steps)
    value, error = price(prices)
    image = Image.fromarray(np.asarray(picture(prices, 150)))
    image.resize((2 * image.width, 2 * image.height), Image.Resampling.NEAREST).save(options.output)
    print(f"price {value:.3f}, within {2 * error:.3f}")


if __name__ == "__main__":
    main()
