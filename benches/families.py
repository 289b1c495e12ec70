"""Plain NumPy programs at sizes that nobody chose, beside NumPy: ``python benches/families.py [--seed S]``.

Owns the verdicts and the tables. Of each family (`benches/families/`) a central extent k is drawn, with the
choices of its text, and its neighbours are timed too: one fewer, one more, half, twice, around the next power
of two, and k with twice the elements. Another seed, which is printed, draws others. A *gain* is NumPy's time
over gpupy's. A row *fails* where a size gains less than a third of its neighbours' median, or of the size
beside it (a cliff), or less than 0.95; it counts if three further measurements say the same. A wrong value
fails at once. The status is 1 if anything failed. Not here: the draw and the clock
(`benches/families/cases.py`), counts of instructions (`benches/families_counted.py`), every length of one
short axis (`benches/short_axes.py`).
"""

import argparse
import json
import math
import os
import secrets
import statistics
import sys

# One thread each, and NumPy's products by the processor's own instructions.
os.environ.update({"GPUPY_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import families_counted
from families import FAMILIES
from families.cases import WrongError, drawn

import gpupy
from gpupy._bench import table

# A size that gains less than this part of its neighbours' median is a cliff.
CLIFF = 1 / 3
# A gain below this is a failure.
LEAST = 0.95
# A suspicious size is measured so often again, and counts if it is so each time.
AGAIN = 3
# A cliff where gpupy takes less than this times what it takes for neighbours is one of NumPy's.
NUMPYS = 1.5
HEADS = ("verdict", "program", "ns an element", "neighbours'", "NumPy's", "gain", "neighbours'", "")


def swept(cases):
    """Rows for the cases of one draw: times and verdicts."""
    found = [row(case) for case in cases]
    for one in found:
        compare(one, [other for other in found if other is not one and other["gain"]])
        if one["verdict"] or not suspicion(one):
            continue
        again = [row(one["case"]) for _ in range(AGAIN)]
        verdicts = [other["verdict"] or suspicion({**one, **other}) for other in again]
        if all(verdicts):
            one.update(sorted(again, key=lambda other: other["gain"])[AGAIN // 2])
            one["verdict"] = one["verdict"] or suspicion(one)
            if one["verdict"] == "cliff" and nanoseconds(one) < NUMPYS * one["usual"]:
                one["words"] = "NumPy's time differs"
    return found


def compare(one, near):
    """Notes what a row's neighbours gain and take: their medians, or those of a faster size beside it."""
    one["neighbours"] = statistics.median(other["gain"] for other in near) if near else one["gain"]
    one["usual"] = statistics.median(map(nanoseconds, near)) if near else nanoseconds(one)
    case = one["case"]
    beside = [other for other in near if abs(other["case"].k - case.k) == 1 and other["case"].n == case.n]
    for other in beside:
        is_faster = NUMPYS * nanoseconds(other) < nanoseconds(one)
        if is_faster and other["gain"] > one["neighbours"]:
            one["neighbours"], one["usual"] = other["gain"], nanoseconds(other)


def nanoseconds(one):
    """What an element takes by gpupy."""
    return 1e9 * one["gpupy"] / one["case"].n


def row(case):
    """What a case takes; its verdict says what no time can excuse."""
    found = {"case": case, "numpy": 0.0, "gpupy": 0.0, "gain": 0.0, "verdict": "", "words": ""}
    try:
        found["numpy"], found["gpupy"] = case.measured()
        found["gain"] = found["numpy"] / found["gpupy"]
    except WrongError as error:
        found.update(verdict="WRONG", words=str(error))
    except Exception as error:
        found.update(verdict="FAILED", words=f"{type(error).__name__}: {error}")
    return found


def suspicion(one):
    """What a gain says against a row, or nothing."""
    if one["gain"] < CLIFF * one.get("neighbours", 0):
        return "cliff"
    return "slow" if one["gain"] < LEAST else ""


def line(found):
    """The rows of a draw as a line of a table: nanoseconds an element, and the gain, at each extent."""
    case = found[0]["case"]
    cells = [
        f"{one['case'].k}{'' if one['case'].n == case.n else ' (2n)'}: {nanoseconds(one):.2f} "
        f"({one['gain']:.2f}{' ' if one['verdict'] else ''}{one['verdict']})"
        for one in found
    ]
    choices = ", ".join(str(value) for value in case.choices.values())
    return f"{case.family.name} [{choices}; n={case.n}]  " + "  ".join(cells)


def severity(one):
    """Rows without times first, then by the gain beside what it should be."""
    return one["gain"] / max(LEAST, CLIFF * one["neighbours"])


def report(found):
    """Prints what failed, and the mean; the status."""
    failed = sorted((one for one in found if one["verdict"]), key=severity)
    gains = [one["gain"] for one in found if one["gain"]]
    if failed:
        cells = [
            (
                one["verdict"],
                str(one["case"]),
                f"{nanoseconds(one):.3g}",
                f"{one['usual']:.3g}",
                f"{1e9 * one['numpy'] / one['case'].n:.3g}",
                f"{one['gain']:.2f}",
                f"{one['neighbours']:.2f}",
                one["words"],
            )
            for one in failed
        ]
        print("\n" + "\n".join(table.aligned(HEADS, cells)))
    words = ("cliff", "slow", "WRONG", "FAILED")
    counts = {word: sum(one["verdict"] == word for one in failed) for word in words}
    numpys = sum(one["verdict"] == "cliff" and bool(one["words"]) for one in failed)
    mean = math.exp(statistics.fmean(map(math.log, gains))) if gains else 0
    print(
        f"\n{len(found)} sizes: the geometric mean of the gains is {mean:.2f}; {counts['cliff']} cliffs "
        f"({numpys} by NumPy's times), "
        f"{counts['slow']} below {LEAST} besides, {counts['WRONG']} wrong, {counts['FAILED']} failed"
    )
    return 1 if failed else 0


def plain(one):
    """A row for the file."""
    case = one["case"]
    own = {"family": case.family.name, "file": case.family.file, "k": case.k, "n": case.n, "seed": case.seed}
    names = ("numpy", "gpupy", "gain", "neighbours", "usual", "verdict", "words")
    times = {name: one[name] for name in names}
    return {**own, "choices": case.choices, **times}


def main():
    """Draws and measures; the status is 1 if a row failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**6), help="draws the same sizes again"
    )
    parser.add_argument("--draws", type=int, default=1, help="of each family")
    parser.add_argument("--dense", action="store_true", help="each small extent, rather than a few of them")
    parser.add_argument("--families", default="", metavar="A,B", help="parts of their names, or files")
    parser.add_argument("--list", action="store_true", help="only the names")
    parser.add_argument("--instructions", action="store_true", help="counts, of one seed, instead of times")
    parser.add_argument("--json", metavar="FILE", help="all rows as JSON")
    options = parser.parse_args()

    wanted = options.families.split(",")
    chosen = [each for each in FAMILIES.values() if any(w in each.name or w == each.file for w in wanted)]
    if not chosen:
        parser.error(f"no family has `{options.families}` in its name; `--list` names them")
    if options.list:
        print("\n".join(f"{each.file:12} {each.name}, k from {each.least} to {each.most}" for each in chosen))
        return 0
    if options.instructions:
        part = 1 if options.families else families_counted.PART
        return families_counted.report([each.name for each in chosen[::part]])
    print(f"{len(chosen)} families, --seed {options.seed}, driver {gpupy.current_driver()}")
    print("program [choices; elements]  k: ns an element (gain)")
    found = []
    for family in chosen:
        for number in range(options.draws):
            rows_of_draw = swept(drawn(family, options.seed, number, dense=options.dense))
            print(line(rows_of_draw), flush=True)
            found += rows_of_draw
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"seed": options.seed, "rows": [plain(one) for one in found]}, file, indent=1)
    return report(found)


if __name__ == "__main__":
    sys.exit(main())
