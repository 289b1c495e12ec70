"""Tests of libraries, as they lie in their installed packages, with gpupy in NumPy's place.

``run_libraries.py FOLDER [SUITE…]`` runs those of ``library_suites.SUITES`` whose library is installed in the
folder, tries on NumPy itself what failed, and holds the failures against the list of the suite in
``expected``. Owns the command line and the table of figures. Not here: which suites there are
(``library_suites.py``), processes and verdict (``numpy_tests``).
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import sys
import time

_HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(_HERE.parent / "numpy_tests"))

import expected  # noqa: E402
import library_suites  # noqa: E402
import rewrite  # noqa: E402
import run  # noqa: E402


def list_of(name):
    """The file with the known failures of a suite."""
    return _HERE / "expected" / f"{name}.toml"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folder", type=pathlib.Path, help="where libraries are installed: pip install --target"
    )
    parser.add_argument("suites", nargs="*", help="all by default: " + ", ".join(library_suites.SUITES))
    parser.add_argument("--files", nargs="*", help="only these files of the suites")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--json", type=pathlib.Path, help="the folder for outcomes and texts")
    parser.add_argument("--driver", default="cpu", help="the driver that gpupy uses")
    parser.add_argument("--rewrite", action="store_true", help="make the lists what this run gives")
    given = parser.parse_args()
    unknown = [name for name in given.suites if name not in library_suites.SUITES]
    if unknown:
        parser.error(f"no suite `{unknown[0]}`; there are {', '.join(library_suites.SUITES)}")
    os.environ["GPUPY_DRIVER"] = given.driver
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(given.folder.resolve()), os.environ.get("PYTHONPATH", "")]
    )
    sys.path.insert(0, str(given.folder.resolve()))
    rows, surprising = [], 0
    for name in given.suites or library_suites.SUITES:
        suite = library_suites.of(name, given.folder)
        files = library_suites.files_of(suite)
        if given.files:
            files = [f for f in files if f in given.files]
        if not files:
            print(f"{name}: left out: `{given.folder}` has no tests of it")
            continue
        begun = time.monotonic()
        outcomes = run.run(suite, files, given.jobs)
        if given.json:
            given.json.mkdir(exist_ok=True)
            (given.json / f"{name}.json").write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
        row = library_suites.SUITES[name]
        versions = f"{row.library} {importlib.metadata.version(_package(row.library))}, {run.versions()}"
        if given.rewrite and not given.files:
            rewrite.rewrite(list_of(name), versions, outcomes)
        reasons = expected.load(list_of(name), versions)
        print(f"== {name}: {row.about}")
        surprising += run.report(reasons, f"{row.library}'s tests", outcomes, files, time.monotonic() - begun)
        passed = sum(outcome == "passed" for outcome, _ in outcomes.values())
        rows.append(f"| `{name}` | {row.about} | {len(outcomes)} | {len(outcomes) - passed} |")
    print("\n".join(["", "| suite | tests of | pass on NumPy | fail on gpupy |", "|---|---|---|---|", *rows]))
    return int(surprising > 0)


def _package(library):
    return {"sklearn": "scikit-learn"}.get(library, library)


if __name__ == "__main__":
    sys.exit(main())
