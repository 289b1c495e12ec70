"""A landscape of spheres without end, by marching along rays: a function of loops and branches for each
pixel.

    python examples/ray_marcher.py --output ray_marcher.png

A ray advances by the distance to the nearest surface, until it is there or too far away (sphere tracing;
Hart, 1996). The surface is lit by one lamp, with a shadow that a second march finds.
"""

import argparse

import numpy as np
from PIL import Image

import gpupy

STEPS, FAR, NEAR = 80, np.float32(30), np.float32(0.002)
LAMP = tuple(np.float32(part) for part in (0.6, 0.7, -0.39))


def distance(x, y, z):
    """How far the scene is from a point: a floor, and a sphere in each square of it."""
    floor = y + 1
    cell_x, cell_z = x - 3 * np.floor(x / 3) - np.float32(1.5), z - 3 * np.floor(z / 3) - np.float32(1.5)
    sphere = np.sqrt(cell_x * cell_x + y * y + cell_z * cell_z) - np.float32(0.8)
    return min(floor, sphere)


def march(start, along):
    """How far a ray goes until it meets the scene."""
    (x, y, z), (along_x, along_y, along_z) = start, along
    gone = np.float32(0.01)
    for _ in range(STEPS):
        step = distance(x + gone * along_x, y + gone * along_y, z + gone * along_z)
        if step < NEAR or gone > FAR:
            break
        gone += step
    return gone


@gpupy.kernel
def brightness(u, v):
    """The light that comes from a direction of the camera's, from 0 to 1."""
    length = np.sqrt(u * u + v * v + np.float32(2.25))
    along_x, along_y, along_z = u / length, v / length, np.float32(1.5) / length
    x, y, z = np.float32(0), np.float32(0.6), np.float32(-2)
    gone = march((x, y, z), (along_x, along_y, along_z))
    sky = np.float32(0.35) + np.float32(0.5) * max(along_y, np.float32(0))
    if gone > FAR:
        return sky
    x, y, z = x + gone * along_x, y + gone * along_y, z + gone * along_z
    here, near = distance(x, y, z), np.float32(0.01)
    normal_x, normal_y = distance(x + near, y, z) - here, distance(x, y + near, z) - here
    normal_z = distance(x, y, z + near) - here
    size = np.sqrt(normal_x * normal_x + normal_y * normal_y + normal_z * normal_z) + np.float32(1e-6)
    lit = (normal_x * LAMP[0] + normal_y * LAMP[1] + normal_z * LAMP[2]) / size
    if lit <= 0:
        shade = np.float32(0)
    elif march((x + 4 * near * LAMP[0], y + 4 * near * LAMP[1], z + 4 * near * LAMP[2]), LAMP) < FAR:
        shade = np.float32(0.15) * lit
    else:
        shade = lit
    # Distant surfaces fade into the sky.
    haze = gone / FAR
    return (np.float32(0.1) + np.float32(0.8) * shade) * (1 - haze) + sky * haze


def directions(size):
    """Where the pixels lie on the camera's screen."""
    u = gpupy.linspace(-1, 1, size, dtype=np.float32)
    v = gpupy.linspace(1, -1, size, dtype=np.float32)[:, None]
    return u, v


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=512, help="pixels in each direction")
    parser.add_argument("--output", default="ray_marcher.png", help="the image to write")
    options = parser.parse_args()

    light = np.asarray(brightness(*directions(options.size)))
    Image.fromarray(np.rint(255 * light.clip(0, 1)).astype(np.uint8)).save(options.output)
    print(f"{options.output}: a landscape of spheres")


if __name__ == "__main__":
    main()
