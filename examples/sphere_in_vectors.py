"""Draws the sphere of ``shaded_sphere.py`` in vectors, as a shader would be written.

    python examples/sphere_in_vectors.py --output sphere.png

Rays, normals and colours are arrays of ``vec3``, one for each pixel. They are recorded component by
component, so that all of it is one launch, as in scalars.
"""

import argparse

import numpy

import gpupy as np
import shaded_sphere
from gpupy.vectors import dot, select, vec3
from shaded_sphere import AMBIENT, BACKGROUND, DIFFUSE, LIGHT


def sphere(size):
    """Returns the red, green and blue planes, with values from 0 to 255."""
    radius = 0.4 * size
    eye, centre = vec3(size / 2, size / 2, size), vec3(size / 2, size / 2, 0)
    x, y = np.indices((size, size), dtype=np.float32)
    ray = vec3(x, y, 0) - eye

    # Where a ray meets the sphere: a quadratic equation in the distance along it.
    a, b = dot(ray, ray), 2 * dot(ray, eye - centre)
    c = dot(eye - centre, eye - centre) - radius**2
    discriminant = b * b - 4 * a * c
    t = (-b - np.sqrt(discriminant)) / (2 * a)

    # The normal there, of length 1, and how far it is turned to the light.
    normal = (eye + t * ray - centre) / radius
    lit = dot(normal, vec3(*LIGHT))

    # Rays that miss have no real solution; their values are not selected here.
    shaded = vec3(*AMBIENT) + select(lit > 0, lit, 0) * vec3(*DIFFUSE)
    colour = select(discriminant > 0, shaded, vec3(*BACKGROUND))
    return [255 * plane for plane in (colour.r, colour.g, colour.b)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=512, help="pixels in each direction")
    parser.add_argument("--output", default="sphere_in_vectors.png", help="the image to write")
    options = parser.parse_args()

    # The square roots of the rays that miss are NaN, and meant to be.
    with numpy.errstate(invalid="ignore"):
        planes = sphere(options.size)
        np.evaluate(*planes)
        shaded_sphere.picture(planes, options.size).save(options.output)
    print(f"{options.output}: a shaded sphere")


if __name__ == "__main__":
    main()
