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
import rewrite
import suites

FOLDERS = ("_core", "lib", "linalg", "fft", "ma", "random")


_LIST = pathlib.Path(__file__).with_name("expected.toml")


def all_files(suite):
    """The test files below NumPy's folder, the longest first."""
    files = [f for folder in FOLDERS for f in (suite.tests / folder / "tests").glob("test_*.py")]
    files.sort(key=lambda f: -f.stat().st_size)
    return [f.relative_to(suite.tests).as_posix() for f in files]


def grouped(suite, files):
    """Files in groups: a long one alone, short ones together, since a process costs a second."""
    groups, size = [], 0
    for file in files:
        length = (suite.tests / file).stat().st_size
        if not groups or size + length > 60_000:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += length
    return groups


def run(suite, files, jobs):
    """The outcomes by gpupy, without the tests that fail by NumPy itself or are skipped there."""
    ours = processes.outcomes(suite, "gpupy", grouped(suite, files), jobs)
    modules = {name for name in ours if "::" not in name}
    doubtful = {name for name, (outcome, _) in ours.items() if outcome != "passed"} - modules
    theirs = {}
    if doubtful:
        some = [f for f in files if any(name.startswith(f + "::") for name in doubtful)]
        theirs |= processes.outcomes(suite, "numpy", grouped(suite, some), jobs, only=sorted(doubtful))
    if modules:
        # Nothing of these ran: all that NumPy passes there is missed.
        theirs |= processes.outcomes(suite, "numpy", grouped(suite, sorted(modules)), jobs)
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
    parser.add_argument("--rewrite", action="store_true", help="make expected.toml what this run gives")
    given = parser.parse_args()
    os.environ["GPUPY_DRIVER"] = given.driver
    suite = suites.numpys()
    known = all_files(suite)
    unknown = [f for f in given.files if f not in known]
    if unknown:
        parser.error(f"no test file `{unknown[0]}` below {suite.tests}")
    begun = time.monotonic()
    reasons = expected.load(_LIST, versions())
    files = given.files or known
    outcomes = run(suite, files, given.jobs)
    if given.rewrite and not given.files:
        rewrite.rewrite(_LIST, versions(), outcomes)
        reasons = expected.load(_LIST, versions())
    if given.json:
        given.json.write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
    return report(reasons, "the tests", outcomes, files, time.monotonic() - begun)


def versions():
    """Describes the versions of a list of expected failures."""
    return f"NumPy {numpy.__version__}, Python {sys.version_info[0]}.{sys.version_info[1]}"


def report(reasons, whose, outcomes, files, seconds):
    """Prints what happened; 1 if anything is other than expected."""
    counts = collections.Counter(outcome for outcome, _ in outcomes.values())
    total = sum(counts.values())
    of_file, passed_of_file = collections.Counter(), collections.Counter()
    for test, (outcome, _) in outcomes.items():
        of_file[test.partition("::")[0]] += 1
        passed_of_file[test.partition("::")[0]] += outcome == "passed"
    for file, count in sorted(of_file.items()):
        print(f"{passed_of_file[file]:6} of {count:6}  {file}")
    of_folder, passed_of_folder = (_by_folder(c) for c in (of_file, passed_of_file))
    for folder, count in sorted(of_folder.items()):
        part = passed_of_folder[folder]
        print(f"{part:6} of {count:6}  {folder} ({part / count:.2%})")
    passed = counts["passed"]
    score = (
        f"{versions()}: {passed} of {total} of {whose} that pass on NumPy pass on gpupy "
        f"({passed / max(total, 1):.2%}); {counts['crashed']} crashed, {counts['hung']} hung; {seconds:.0f} s"
    )
    if not reasons.strict:
        # Other versions have other tests, and Python words many refusals.
        print(score)
        lists = " and for ".join(reasons.lists)
        print(f"the list of expected failures is for {lists}: nothing is held against it")
        return int(counts["crashed"] + counts["hung"] > 0)
    surprises, by_reason = expected.compare(reasons, outcomes, files)
    for reason, count in by_reason.most_common():
        print(f"{count:6}  {reason}")
    for surprise in surprises:
        print(surprise)
    print(score)
    return int(bool(surprises))


def _by_folder(of_file):
    """Counts by the folder that stands first in a file's name."""
    found = collections.Counter()
    for file, count in of_file.items():
        found[file.partition("/")[0]] += count
    return found


if __name__ == "__main__":
    sys.exit(main())
