"""Figures 7 and 8 in one picture: how much faster than loops by hand each side is, a line a program.

Owns `svg`. A side is a dot, shaders by hand are rings. The scale is logarithmic; right of 1 a side is faster
than the loops by hand. Not here: the numbers (`comparison.py`).
"""

import math

import loading
from gpupy._bench.plot import GRID, INK, between, colour, dot, line, text

WIDTH, TOP, STEP = 1000, 100, 40
ENDS = (170, 970)
# Shaders by hand are rings in the colour of gpupy's dot on the same driver.
RING = "shader, "


def svg(speeds):
    """The picture as text."""
    names = [name for name in loading.PROGRAMS if any(name in known for known in speeds.values())]
    values = [value for known in speeds.values() for value in known.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    bottom = TOP + STEP * len(names)

    def across(value):
        return between(ENDS, (math.log10(value) - low) / ((high - low) or 1))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 50}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{bottom + 50}" fill="white"/>',
        text(20, 26, "Speed relative to loops by hand in Rust: right of 1 is faster", size=16),
        *_legend(speeds),
    ]
    for power in range(low, high + 1):
        x = across(10.0**power)
        parts += [
            line(x, TOP, x, bottom, INK if power == 0 else GRID),
            text(x, bottom + 18, f"{10.0**power:g}", "middle"),
        ]
    for place, name in enumerate(names):
        y = TOP + (place + 0.5) * STEP
        parts += [
            line(*ENDS[:1], y, ENDS[1], y, GRID),
            text(ENDS[0] - 10, y + 4, loading.PROGRAMS[name], "end"),
        ]
        parts += [
            _mark(across(known[name]), y, side, speeds) for side, known in speeds.items() if name in known
        ]
    return "\n".join([*parts, "</svg>", ""])


def _legend(speeds):
    x, y = 20, 50
    for side in speeds:
        if x + 40 + 7 * len(side) > WIDTH:
            x, y = 20, y + 20
        yield _mark(x + 4, y - 4, side, speeds)
        yield text(x + 14, y, side)
        x += 40 + 7 * len(side)


def _mark(x, y, side, speeds):
    sides = [other for other in speeds if not other.startswith(RING)]
    if not side.startswith(RING):
        return dot(x, y, sides.index(side))
    like = colour(sides.index(f"gpupy, {side.removeprefix(RING)}"))
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="{like}" stroke-width="2"/>'
