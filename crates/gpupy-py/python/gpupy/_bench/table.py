"""The results as text: tables in Markdown that are read as they are.

Owns ``report``. Not here: the plot (``plot``), and the results for programs, which are JSON (``command``).
"""

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

HEADS = (
    "program",
    "NumPy",
    "gpupy",
    "read",
    "NumPy / gpupy",
    "NumPy / read",
    "busy",
    "first call",
    "fallbacks",
    "apart",
)
EXPLANATION = (
    "NumPy, gpupy, read: medians of rounds in turns, each after as many runs of its own that are not timed. "
    "gpupy: until all is computed, and left there; read: until it is an array of NumPy. "
    "Busy: NumPy / gpupy by the time that processors were busy with it, which other work on the machine "
    "does not change. First call: as gpupy, the first time. Fallbacks: calls that NumPy did. Apart: the "
    "largest difference to NumPy, as a part of its largest value; WRONG beyond what the program allows."
)


def report(results: dict[str, Any]) -> list[str]:
    """The lines of the report: a table for each driver, what went wrong, costs, all ratios side by side."""
    lines = [title(results)]
    for seen in results["drivers"]:
        lines += ["", "## " + ": ".join(filter(None, (seen["driver"], seen["device"]))), ""]
        if seen["rows"]:
            lines += aligned(HEADS, [row(measured) for measured in seen["rows"]])
        lines += [f"- {problem}" for problem in problems(seen)]
        lines += costs(seen["costs"])
    if len(results["drivers"]) > 1:
        lines += ["", "## NumPy's time over gpupy's", "", *side_by_side(results["drivers"])]
    if results["import_s"]:
        by_numpy, more = map(duration, results["import_s"])
        lines += ["", f"Import: {by_numpy} for NumPy, and {more} more for gpupy."]
    lines += ["", EXPLANATION, *results["skipped"]]
    return lines


def title(results: dict[str, Any]) -> str:
    """What was compared, and where."""
    machine = results["machine"]
    return (
        f"# gpupy {results['gpupy']} beside NumPy {results['numpy']}\n"
        f"{results['date']}, Python {results['python']}, {machine['system']}, {machine['processor']}, "
        f"{machine['processors']} processors"
    )


def row(measured: dict[str, Any]) -> tuple[str, ...]:
    """The cells of one program on one driver."""
    by_numpy, left, read = (median(measured, side) for side in ("numpy_s", "left_s", "read_s"))
    apart = f"{measured['difference']:.1g}"
    return (
        measured["program"],
        duration(by_numpy),
        duration(left),
        duration(read),
        three(by_numpy / left),
        three(by_numpy / read),
        three(median(measured["busy"], "numpy_s") / median(measured["busy"], "left_s")),
        duration(measured["first_s"]),
        str(measured["fallbacks"]),
        apart if right(measured) else f"{apart} WRONG",
    )


def right(measured: dict[str, Any]) -> bool:
    """Whether gpupy's values were as near to NumPy's as they have to be."""
    return measured["difference"] <= measured["tolerance"]


def problems(seen: dict[str, Any]) -> Iterator[str]:
    """What a reader must not overlook, as sentences."""
    for measured in seen["rows"]:
        if not right(measured):
            yield (
                f"WRONG: {measured['program']} is {measured['difference']:.3g} apart from NumPy; "
                f"at most {measured['tolerance']:.3g} is right"
            )
        if measured["fallbacks"]:
            functions = ", ".join(measured["fallback_functions"])
            yield f"fallbacks: {measured['program']} calls {functions} of NumPy"
    for failure in seen["failures"]:
        yield f"FAILED: {failure['program']}: {failure['error']}"


def costs(seen: dict[str, Any] | None) -> list[str]:
    """What no program shows."""
    if seen is None:
        return []
    return [
        "",
        f"Recording one operation: {duration(seen['record_s'])}. A new expression of 100 operations on "
        f"100,000 elements: first {duration(seen['new_s'])}, then {duration(seen['again_s'])}; "
        f"for being new {duration(seen['new_more_s'])}.",
    ]


def side_by_side(drivers: Sequence[dict[str, Any]]) -> list[str]:
    """NumPy's time over gpupy's, a column a driver."""
    names = list(dict.fromkeys(measured["program"] for seen in drivers for measured in seen["rows"]))
    by_driver = [{measured["program"]: speedup(measured) for measured in seen["rows"]} for seen in drivers]
    rows = [(name, *(three(known[name]) if name in known else "" for known in by_driver)) for name in names]
    return aligned(("program", *(seen["driver"] for seen in drivers)), rows)


def speedup(measured: dict[str, Any]) -> float:
    """NumPy's time over gpupy's, the values left there."""
    return median(measured, "numpy_s") / median(measured, "left_s")


def median(measured: dict[str, Any], side: str) -> float:
    """The median of the rounds."""
    return statistics.median(measured[side])


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown with its columns aligned, the first one to the left."""
    widths = [max(len(cells[column]) for cells in (heads, *rows)) for column in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join((first, *others))} |"

    first, *others = widths
    rule = "|".join(["-" * (first + 2), *("-" * (width + 1) + ":" for width in others)])
    return [line(heads), f"|{rule}|", *(line(cells) for cells in rows)]


def duration(seconds: float) -> str:
    """A time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{three(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def three(number: float) -> str:
    """A number in about three digits, without an exponent."""
    size = abs(number)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 3
    return f"{number:.{digits}f}"
