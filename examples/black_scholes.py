"""Prices of options by Black and Scholes, of both kinds at once: with an `if` for each special case.

    python examples/black_scholes.py --output black_scholes.png

The normal distribution is approximated as in Abramowitz and Stegun, 26.2.17, whose error is below 7.5e-8.
"""

import argparse

import numpy as np

import gpupy
import palette

WARM = ((1.0, 1.0, 0.95), (1.0, 0.8, 0.4), (0.8, 0.2, 0.2), (0.2, 0.0, 0.2))
RATE = 0.05


def distribution(x):
    """The share of a normal distribution below x."""
    far = abs(x)
    k = 1 / (1 + 0.2316419 * far)
    powers = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    above = 0.3989422804 * np.exp(-far * far / 2) * powers
    return above if x < 0 else 1 - above


@gpupy.kernel
def price(spot, strike, years, volatility, is_call):
    """The price of an option: the right to buy (a call) or to sell (a put) at the strike."""
    if years <= 0:
        gain = spot - strike if is_call else strike - spot
        return max(gain, 0 * gain)
    discounted = strike * np.exp(-RATE * years)
    spread = volatility * np.sqrt(years)
    if spread <= 0:
        gain = spot - discounted if is_call else discounted - spot
        return max(gain, 0 * gain)
    first = (np.log(spot / strike) + (RATE + volatility * volatility / 2) * years) / spread
    second = first - spread
    if is_call:
        return spot * distribution(first) - discounted * distribution(second)
    return discounted * distribution(-second) - spot * distribution(-first)


def options_of(size):
    """Spots by column, years by row; calls on the left, puts on the right."""
    spot = gpupy.linspace(50, 150, size, dtype=np.float32)
    years = gpupy.linspace(0, 2, size, dtype=np.float32)[:, None]
    is_call = gpupy.arange(2)[:, None, None] == 0
    return spot, np.float32(100), years, np.float32(0.3), is_call


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=400, help="pixels of each half")
    parser.add_argument("--output", default="black_scholes.png", help="the image to write")
    options = parser.parse_args()

    calls, puts = np.asarray(price(*options_of(options.size)))
    palette.picture(np.hstack([calls, puts]) / 55, WARM).save(options.output)
    print(f"at the strike, in two years: a call costs {calls[-1, options.size // 2]:.2f}")


if __name__ == "__main__":
    main()
