"""Times the ten programs of Accelerator's article: `cargo xtask bench --accelerator` starts it.

Owns the options and the files `out/accelerator.md`, `.json` and `.svg`.
Not here: the comparison (`comparison.py`), the processors that all sides share
(`processors.py`), the programs (`examples/accelerator/`).
"""

import argparse
import json
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def main():
    """Times the programs; the status is 1 if a value was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hand", required=True, help="the library of the loops by hand")
    parser.add_argument("--shaders", required=True, help="the program of the shaders by hand")
    parser.add_argument("--rounds", type=int, default=9, help="at most so many runs of each side")
    parser.add_argument("--programs", default="", help="words, one of which a program has in its name")
    parser.add_argument("--drivers", default="", help="those to time, with commas; all when none is named")
    parser.add_argument("--quick", action="store_true", help="small images, to see that all works")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder to write to")
    options = parser.parse_args()

    # For old versions of OpenBLAS; a new one would run by older instructions.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)
    sys.path.append(str(FOLDER.parent))
    from processors import share  # noqa: PLC0415

    processors = share()
    sys.path.insert(0, str(FOLDER.parent.parent / "examples" / "accelerator"))
    # Only now: each side counts the processors when it is imported.
    import comparison  # noqa: PLC0415
    import plot  # noqa: PLC0415

    task = {
        "hand": options.hand,
        "shaders": options.shaders,
        "apis": comparison.APIS,
        "rounds": options.rounds,
        "sizes": comparison.QUICK if options.quick else None,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    drivers = [name for name in options.drivers.split(",") if name] or comparison.DRIVERS
    if unknown := set(drivers).difference(comparison.DRIVERS):
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(comparison.DRIVERS)}")
    seen, written = {}, {}
    # Written after each driver, so that a run that is ended early leaves what it has.
    for of_driver in comparison.measure(task, options.programs.lower().split(","), drivers):
        seen |= of_driver
        written = {
            "md": "\n".join(comparison.report(seen, processors)) + "\n",
            "json": json.dumps(seen, indent=1) + "\n",
            "svg": plot.svg(comparison.speedups(seen)),
        }
        for suffix, text in written.items():
            (options.out / f"accelerator.{suffix}").write_text(text, encoding="utf-8")
    if not seen:
        print(f"None of these drivers starts: {', '.join(drivers)}", file=sys.stderr)
        return 1
    names = ", ".join(f"{options.out}/accelerator.{suffix}" for suffix in written)
    print(f"{written['md']}\nWritten: {names}")
    return 1 if comparison.wrong(seen) else 0


if __name__ == "__main__":
    sys.exit(main())
