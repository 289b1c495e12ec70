"""The results as a picture: NumPy's time over gpupy's, a line a driver.

Owns ``svg``. On the left ``2.5*x + y`` at each size, on the right the programs, both on logarithmic scales;
above 1 gpupy is faster. Not here: the numbers (``table``).
"""

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import catalogue, table

COLOURS = ("#1f6fb4", "#d1590c", "#3a8f3a", "#8a4fb0", "#b02a37", "#6b6b6b")
WIDTH, HEIGHT = 1180, 560
TOP, BOTTOM = 70, 500
SIZES = (70, 480)  # the left and right end of the sizes' panel
PROGRAMS = (740, 1150)
INK, GRID = "#222222", "#dddddd"


def svg(results: dict[str, Any]) -> str:
    """The picture as text."""
    drivers = [
        {table_row["program"]: table.speedup(table_row) for table_row in seen["rows"]}
        for seen in results["drivers"]
    ]
    names = [f"{seen['driver']}: {seen['device']}" for seen in results["drivers"]]
    ratios = [value for known in drivers for value in known.values()] or [1.0]
    low = min(0, math.floor(math.log10(min(ratios))))
    high = max(1, math.ceil(math.log10(max(ratios))))
    scale = (low, high)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(SIZES[0], 24, "NumPy's time over gpupy's: above 1 gpupy is faster", size=16),
    ]
    parts += legend(names)
    parts += sizes_panel(results["sizes"], drivers, scale)
    parts += programs_panel(results["programs"], drivers, scale)
    return "\n".join([*parts, "</svg>", ""])


def legend(names: Iterable[str]) -> Iterator[str]:
    """The drivers' names beside their colours, in one line above the panels."""
    x = SIZES[0]
    for number, name in enumerate(names):
        yield f'<circle cx="{x + 4}" cy="44" r="4" fill="{colour(number)}"/>'
        yield text(x + 14, 48, name)
        x += 40 + 7 * len(name)


def sizes_panel(
    sizes: Sequence[int], drivers: Sequence[dict[str, float]], scale: tuple[int, int]
) -> Iterator[str]:
    """The sweep over the sizes: a line a driver."""
    if not sizes:
        return
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def across(size: int) -> float:
        return between(SIZES, (math.log10(size) - first) / ((last - first) or 1))

    def up(value: float) -> float:
        return between((BOTTOM, TOP), (math.log10(value) - scale[0]) / (scale[1] - scale[0]))

    for power in range(scale[0], scale[1] + 1):
        y = up(10.0**power)
        yield line(SIZES[0], y, SIZES[1], y, INK if power == 0 else GRID)
        yield text(SIZES[0] - 8, y + 4, f"{10.0**power:g}", "end")
    for size in sizes:
        yield line(across(size), TOP, across(size), BOTTOM, GRID)
        yield text(across(size), BOTTOM + 18, catalogue.count(size), "middle")
    yield text(sum(SIZES) / 2, BOTTOM + 42, f"{catalogue.SWEPT}: elements of float32", "middle")
    for number, known in enumerate(drivers):
        points = [(size, known.get(catalogue.swept(size).name)) for size in sizes]
        places = [(across(size), up(value)) for size, value in points if value]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline points="{path}" fill="none" stroke="{colour(number)}" stroke-width="2"/>'
        yield from (dot(x, y, number) for x, y in places)


def programs_panel(
    names: Sequence[str], drivers: Sequence[dict[str, float]], scale: tuple[int, int]
) -> Iterator[str]:
    """The programs from top to bottom: a dot a driver."""

    def across(value: float) -> float:
        return between(PROGRAMS, (math.log10(value) - scale[0]) / (scale[1] - scale[0]))

    if not names:
        return
    for power in range(scale[0], scale[1] + 1):
        x = across(10.0**power)
        yield line(x, TOP, x, BOTTOM, INK if power == 0 else GRID)
        yield text(x, BOTTOM + 18, f"{10.0**power:g}", "middle")
    step = (BOTTOM - TOP) / len(names)
    for place, name in enumerate(names):
        y = TOP + (place + 0.5) * step
        yield line(PROGRAMS[0], y, PROGRAMS[1], y, GRID)
        yield text(PROGRAMS[0] - 10, y + 4, name, "end")
        for number, known in enumerate(drivers):
            if known.get(name):
                yield dot(across(known[name]), y, number)
    yield text(sum(PROGRAMS) / 2, BOTTOM + 42, "programs", "middle")


def between(ends: tuple[float, float], share: float) -> float:
    """The place that divides a distance."""
    return ends[0] + share * (ends[1] - ends[0])


def colour(number: int) -> str:
    """A driver's colour; they begin again when there are many."""
    return COLOURS[number % len(COLOURS)]


def line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> str:
    """A thin line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>'


def dot(x: float, y: float, number: int) -> str:
    """A measured value."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour(number)}"/>'


def text(x: float, y: float, words: str, anchor: str = "start", size: int = 12) -> str:
    """Words in a line."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}">'
        f"{html.escape(words)}</text>"
    )
