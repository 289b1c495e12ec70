"""The chart of the README: `cargo xtask bench --chart` draws it from stored results.

    python benches/chart.py                          draws docs/pictures/beside_others.svg
    python benches/chart.py --store out/peers.json   first stores a run of `bench --peers`

With ``--store`` the README's program is timed too. Owns both files of `docs/pictures`. Invariant: the same
results give the same picture, so that a test sees when one of them is old. Not here: the programs and how
they are timed (`benches/peers`, `benches/accelerator`).
"""

import argparse
import contextlib
import datetime
import io
import json
import math
import pathlib
import platform
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/pictures/beside_others.json"
PICTURE = RESULTS.with_suffix(".svg")

# Programs of the chart: of several sizes the largest, and one that gains nothing.
SHOWN = (
    "distance map 2048², 50 points",
    "shaded sphere 2048²",
    "Black–Scholes 4 M",
    "Life 1000²",
    "5-tap convolution 1000²",
    "matrix × matrix 1000²",
)
ROUNDS = 9

COLOURS = {"gpupy": "#1f6fb4", "JAX": "#d98c1f", "numexpr": "#8a8a8a"}
INK, GRID = "#222222", "#dddddd"
WIDTH, PANEL, NAMES, BARS = 1180, 590, 215, 310
TOP, BAR, GAP, FOOT = 92, 13, 12, 58


def main():
    """Stores results, if they are given, and draws the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--store", type=pathlib.Path, metavar="FILE", help="results of `bench --peers` to store"
    )
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    if options.store:
        results["panels"][0] |= _stored(json.loads(options.store.read_text(encoding="utf-8")))
        results["readme"] = _readme()
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PICTURE.write_text(svg(results), encoding="utf-8")
    print(f"Written: {PICTURE.relative_to(ROOT)}")


def program():
    """The README's program."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]


def _stored(rows):
    """The rows of the chart, and where and when they were measured."""
    known = {row["program"]: row["seconds"] for row in rows}
    seconds = {
        name: {side: float(f"{statistics.median(runs):.3g}") for side, runs in known[name].items()}
        for name in SHOWN
    }
    return {"seconds": seconds, **_here()}


def _here():
    import numpy  # noqa: PLC0415

    from gpupy._program import versions  # noqa: PLC0415

    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    python = platform.python_version()
    return {
        "machine": f"{versions.processor()}, {versions.processors()} virtual cores",
        "versions": f"Python {python}, NumPy {numpy.__version__}",
        "date": datetime.date.today().isoformat(),
        "commit": commit,
    }


def _readme():
    """The README's program by NumPy and by gpupy in turns: medians of milliseconds, imports not counted."""
    from gpupy._bench import timing  # noqa: PLC0415

    def call(text):
        code = compile(text, "README.md", "exec")

        def run():
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, {})

        return run, None

    sides = {"numpy": call(program().replace("import gpupy as", "import numpy as")), "gpupy": call(program())}
    times, _ = timing.in_turns(sides, 1, ROUNDS, lambda _: None)
    return {
        f"{side}_ms": float(f"{statistics.median(runs) * 1000:.2g}") for side, runs in times.items()
    } | _here()


def svg(results):
    """The picture as text: a panel for each machine, a bar for each library, on a logarithmic scale."""
    panels = results["panels"]
    height = TOP + max(_height(panel) for panel in panels) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{height:g}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, number * PANEL)
    return "\n".join([*parts, "</svg>", ""])


def _sides(panel):
    """The libraries of a panel beside the one that it compares with."""
    return [side for side in COLOURS if any(side in row for row in panel["seconds"].values())]


def _height(panel):
    return len(panel["seconds"]) * (len(_sides(panel)) * BAR + GAP)


def _panel(panel, x):
    base, sides = panel["baseline"], _sides(panel)
    factors = {
        name: {side: row[base] / row[side] for side in sides if side in row}
        for name, row in panel["seconds"].items()
    }
    every = [factor for row in factors.values() for factor in row.values()]
    low = min(0, math.floor(math.log10(min(every)) * 2) / 2)
    high = math.ceil(math.log10(max(every)) * 2) / 2
    left, bottom = x + NAMES, TOP + _height(panel)

    def across(factor):
        return left + BARS * (math.log10(factor) - low) / (high - low)

    yield _text(x + 20, 26, panel["title"], size=16)
    yield _text(x + 20, 46, f"times as fast as {base}; {panel['sides']}")
    place = x + 20
    for side in sides:
        yield f'<rect x="{place}" y="60" width="11" height="11" fill="{COLOURS[side]}"/>'
        yield _text(place + 17, 70, side)
        place += 50 + 7 * len(side)
    for power in range(math.ceil(low), math.floor(high) + 1):
        at = across(10.0**power)
        yield f'<path d="M{at:.1f} {TOP - 8}V{bottom}" stroke="{INK if power == 0 else GRID}"/>'
        yield _text(at, bottom + 14, f"{10.0**power:g}", "middle")
    y = TOP
    for name, row in factors.items():
        yield _text(left - 10, y + len(sides) * BAR / 2 + 4, name, "end")
        for side in sides:
            if side in row:
                start, end = sorted((across(1), across(row[side])))
                yield (
                    f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="{BAR - 2}" '
                    f'fill="{COLOURS[side]}"/>'
                )
                yield _text(
                    end + 5,
                    y + BAR - 3,
                    f"{row[side]:.2g}" if row[side] < 10 else f"{row[side]:.0f}",
                    size=11,
                )
            y += BAR
        y += GAP
    yield _text(x + 20, bottom + 36, f"{panel['machine']}; {panel['versions']}", size=11)
    yield _text(x + 20, bottom + 51, f"{panel['date']}, commit {panel['commit']}", size=11)


def _text(x, y, words, anchor="start", size=12):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{INK}">{words}</text>'


if __name__ == "__main__":
    main()
