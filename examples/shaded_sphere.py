"""Draws a sphere, lit from one side, by tracing one ray through each pixel.

There is no loop over pixels: every line works on whole arrays. The same text runs by NumPy and by gpupy;
what differs is the module that it is given and the dtype.

    python examples/shaded_sphere.py --gpupy --output sphere.png
"""

import argparse

import numpy
from PIL import Image

LIGHT = (-1, 1, 1)  # direction of the light
BACKGROUND = (0.0, 0.0, 0.5)  # red, green, blue
AMBIENT = (0.1, 0.2, 0.3)  # the colour in the shade
DIFFUSE = (0.2, 0.5, 0.6)  # the colour added by the light


def shaded_sphere(xp, dtype, size):
    """Returns the red, green and blue planes, with values from 0 to 255, by the array module `xp`."""
    w, h = size, size
    radius = 0.4 * min(w, h)
    vx, vy, vz = w / 2, h / 2, w  # the eye
    cx, cy, cz = w / 2, h / 2, 0  # the centre of the sphere
    lx, ly, lz = LIGHT

    # The pixels of the image plane, and from the eye through each of them, the direction of a ray.
    x = xp.fromfunction(lambda x, y: x, (w, h), dtype=dtype)
    y = xp.fromfunction(lambda x, y: y, (w, h), dtype=dtype)
    z = 0
    dx, dy, dz = x - vx, y - vy, z - vz

    # Where a ray meets the sphere: a quadratic equation in the distance along it.
    a = dx**2 + dy**2 + dz**2
    b = 2 * dx * (vx - cx) + 2 * dy * (vy - cy) + 2 * dz * (vz - cz)
    c = cx**2 + cy**2 + cz**2 + vx**2 + vy**2 + vz**2 - 2 * (cx * vx + cy * vy + cz * vz) - radius**2
    discriminant = b * b - 4 * a * c
    t = (-b - xp.sqrt(discriminant)) / (2 * a)
    ix, iy, iz = vx + t * dx, vy + t * dy, vz + t * dz

    # The normal there, of length 1, and how far it is turned to the light.
    nx, ny, nz = (ix - cx) / radius, (iy - cy) / radius, (iz - cz) / radius
    lit = nx * lx + ny * ly + nz * lz

    # Rays that miss have no real solution; their values are not selected here.
    return [
        255 * xp.where(discriminant > 0, xp.where(lit > 0, ambient + lit * diffuse, ambient), background)
        for background, ambient, diffuse in zip(BACKGROUND, AMBIENT, DIFFUSE, strict=True)
    ]


def picture(channels, size):
    """Makes an image of three planes, which are read as they are in memory."""
    planes = [Image.frombuffer("F", (size, size), c, "raw", "F", 0, 1).convert("L") for c in channels]
    return Image.merge("RGB", planes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpupy", action="store_true", help="compute by gpupy instead of NumPy")
    parser.add_argument("--size", type=int, default=512, help="pixels in each direction")
    parser.add_argument("--output", default="shaded_sphere.png", help="the image to write")
    options = parser.parse_args()

    if options.gpupy:
        import gpupy as xp  # noqa: PLC0415

        dtype = xp.gpufloat32
    else:
        import numpy as xp  # noqa: PLC0415

        dtype = xp.float32

    # The square roots of the rays that miss are NaN, and meant to be.
    with numpy.errstate(invalid="ignore"):
        channels = shaded_sphere(xp, dtype, options.size)
        picture(channels, options.size).save(options.output)
    print(f"{options.output}: a shaded sphere")


if __name__ == "__main__":
    main()
