"""NumPy's own tests, as they lie in the installed wheel, with gpupy in NumPy's place.

``run.py [FILE…]`` runs them in parallel, tries on NumPy itself what failed, holds the failures
against ``expected.toml`` and prints the score, of each file and of all. Owns the command line, the choice
of files and the verdict.
Not here: how gpupy gets in (``replace.py``), the processes (``processes.py``).
"""

import argparse
import collections
import json
import os
import pathlib
import sys
import time

import expected
import numpy
import processes

FOLDERS = ("_core", "lib", "linalg", "fft")


def all_files():
    """The test files below NumPy's folder, the longest first."""
    root = pathlib.Path(numpy.__file__).parent
    files = [f for folder in FOLDERS for f in (root / folder / "tests").glob("test_*.py")]
    files.sort(key=lambda f: -f.stat().st_size)
    return [f.relative_to(root).as_posix() for f in files]


def grouped(files):
    """Files in groups: a long one alone, short ones together, since a process costs a second."""
    root = pathlib.Path(numpy.__file__).parent
    groups, size = [], 0
    for file in files:
        length = (root / file).stat().st_size
        if not groups or size + length > 60_000:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += length
    return groups


def run(files, jobs):
    """The outcomes by gpupy, and the tests that fail by NumPy itself or are skipped there."""
    ours = processes.outcomes("gpupy", grouped(files), jobs)
    modules = {name for name in ours if "::" not in name}
    doubtful = {name for name, (outcome, _) in ours.items() if outcome != "passed"} - modules
    theirs = {}
    if doubtful:
        some = [f for f in files if any(name.startswith(f + "::") for name in doubtful)]
        theirs |= processes.outcomes("numpy", grouped(some), jobs, only=sorted(doubtful))
    if modules:
        # Nothing of these ran: all that NumPy passes there is missed.
        theirs |= processes.outcomes("numpy", grouped(sorted(modules)), jobs)
        for name, (outcome, _) in theirs.items():
            module = name.partition("::")[0]
            if outcome == "passed" and module in modules:
                ours.setdefault(name, ours[module])
    passing = {name for name, (outcome, _) in theirs.items() if outcome == "passed"}
    return {name: o for name, o in ours.items() if o[0] == "passed" or name in passing}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", help="such as `_core/tests/test_ufunc.py`; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--json", type=pathlib.Path, help="where to write outcomes and texts")
    parser.add_argument("--driver", default="cpu", help="the driver that gpupy uses")
    given = parser.parse_args()
    os.environ["GPUPY_DRIVER"] = given.driver
    known = all_files()
    unknown = [f for f in given.files if f not in known]
    if unknown:
        parser.error(f"no test file `{unknown[0]}` below {pathlib.Path(numpy.__file__).parent}")
    begun = time.monotonic()
    reasons = expected.load()
    files = given.files or known
    outcomes = run(files, given.jobs)
    if given.json:
        given.json.write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
    return report(reasons, outcomes, files, time.monotonic() - begun)


def report(reasons, outcomes, files, seconds):
    """Prints what happened; 1 if anything is other than expected."""
    counts = collections.Counter(outcome for outcome, _ in outcomes.values())
    total = sum(counts.values())
    of_file, passed_of_file = collections.Counter(), collections.Counter()
    for test, (outcome, _) in outcomes.items():
        of_file[test.partition("::")[0]] += 1
        passed_of_file[test.partition("::")[0]] += outcome == "passed"
    for file, count in sorted(of_file.items()):
        print(f"{passed_of_file[file]:6} of {count:6}  {file}")
    surprises, by_reason = expected.compare(reasons, outcomes, files)
    for reason, count in by_reason.most_common():
        print(f"{count:6}  {reason}")
    for surprise in surprises:
        print(surprise)
    passed = counts["passed"]
    print(
        f"NumPy {numpy.__version__}: {passed} of {total} tests that pass on NumPy pass on gpupy "
        f"({passed / max(total, 1):.2%}); {counts['crashed']} crashed, {counts['hung']} hung; {seconds:.0f} s"
    )
    python = ".".join(map(str, sys.version_info[:2]))
    if (numpy.__version__, python) != (reasons.numpy, reasons.python):
        # Other versions have other tests, and Python words many refusals.
        versions = f"NumPy {reasons.numpy} on Python {reasons.python}"
        print(f"expected.toml is for {versions}: nothing is held against it")
        return int(counts["crashed"] + counts["hung"] > 0)
    return int(bool(surprises))


if __name__ == "__main__":
    sys.exit(main())
