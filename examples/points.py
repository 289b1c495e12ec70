"""Draws 100,000 points of a simulation by OpenGL, which reads them where gpupy has computed them.

    python examples/points.py --output points.gif

The points fall around two masses that circle each other. A step is NumPy's lines, evaluated by the driver
``gl``, which has joined the renderer's context. ``places.lend()`` gives the texture that holds the points; a
shader fetches them from there, so that no point passes host memory. It wants the package ``moderngl``.
"""

import argparse

import moderngl
import numpy

import gpupy as np
import palette

SEED = 1
TIME = 0.004  # between two steps
STEPS = 8  # between two frames
SOFTENING = 0.02  # points nearer to a mass than that are hardly pulled more
EXTENT = 1.6  # the visible range, from the middle
LIGHT = 0.06  # of one point
SKY = ((0.01, 0.01, 0.05), (0.1, 0.2, 0.6), (0.5, 0.7, 1.0), (1.0, 1.0, 0.95))

VERTEX = """
#version 330
uniform sampler2D places;
uniform int row, count;
uniform float extent;

// Element k of the array: four are in a texel, and a row has so many.
float element(int k) {
    int column = k % row;
    return texelFetch(places, ivec2(column / 4, k / row), 0)[column % 4];
}

void main() {
    gl_Position = vec4(element(gl_VertexID), element(count + gl_VertexID), 0.0, extent);
}
"""
FRAGMENT = """
#version 330
uniform float light;
out float lit;

void main() { lit = light; }
"""


def start(count):
    """The places and the speeds of a ring of points that turns."""
    chance = numpy.random.default_rng(SEED)
    radius, angle = chance.uniform(0.45, 1.2, count), chance.uniform(0, 2 * numpy.pi, count)
    places = radius * numpy.stack([numpy.cos(angle), numpy.sin(angle)])
    speeds = numpy.stack([-numpy.sin(angle), numpy.cos(angle)]) / numpy.sqrt(radius)
    return np.asarray(places, dtype=np.float32), np.asarray(speeds, dtype=np.float32)


def step(places, speeds, time):
    """Moves every point by the forces of both masses, in place."""
    for mass, phase in ((0.7, 0.0), (0.3, numpy.pi)):
        away = (1 - mass) * 0.4
        x, y = away * numpy.cos(3 * time + phase), away * numpy.sin(3 * time + phase)
        apart = np.asarray([[x], [y]], dtype=np.float32) - places
        square = (apart * apart).sum(axis=0) + SOFTENING
        speeds += TIME * mass * apart / (square * np.sqrt(square))
    places += TIME * speeds


class Plate:
    """The picture that the points light."""

    def __init__(self, context, count, pixels):
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        program["count"], program["extent"], program["light"] = count, EXTENT, LIGHT
        self._context, self._program, self._count = context, program, count
        self._points = context.vertex_array(program, [])
        self._plate = context.simple_framebuffer((pixels, pixels), components=1, dtype="f4")

    def draw(self, places):
        """How much light falls on each pixel."""
        self._plate.use()
        self._plate.clear()
        self._context.enable(moderngl.BLEND)
        self._context.blend_func = moderngl.ONE, moderngl.ONE
        with places.lend() as texture:
            self._program["row"] = texture.row
            size = texture.width, texture.height
            self._context.external_texture(texture.id, size, 4, 0, "f4").use()
            self._points.render(moderngl.POINTS, vertices=self._count)
        light = numpy.frombuffer(self._plate.read(components=1, dtype="f4"), numpy.float32)
        return light.reshape(self._plate.size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000, help="points")
    parser.add_argument("--frames", type=int, default=60, help="frames")
    parser.add_argument("--pixels", type=int, default=512, help="pixels in each direction")
    parser.add_argument("--output", default="points.gif", help="the image to write, with all frames")
    options = parser.parse_args()

    context = moderngl.create_standalone_context(backend="egl")
    np.use("gl", share=True)
    places, speeds = start(options.size)
    plate = Plate(context, options.size, options.pixels)
    frames = []
    for frame in range(options.frames):
        for turn in range(STEPS):
            step(places, speeds, (frame * STEPS + turn) * TIME)
            # So that all steps are one kernel, which is compiled once.
            np.evaluate(places, speeds)
        frames.append(palette.picture(1 - numpy.exp(-plate.draw(places)), SKY))
    frames[0].save(options.output, save_all=True, append_images=frames[1:], duration=40, loop=0)
    print(f"energy of motion {float((speeds * speeds).sum() / 2 / options.size):.6f} a point")


if __name__ == "__main__":
    main()
