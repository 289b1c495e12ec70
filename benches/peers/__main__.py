"""Times gpupy beside NumPy, JAX, numexpr and loops by hand: `cargo xtask bench --peers` starts it.

Owns the options and the files `out/peers.md` and `out/peers.json`. Not
here: the comparison (`comparison.py`), the processors that all sides share
(`processors.py`).
"""

import argparse
import json
import pathlib
import sys


def main():
    """Times the programs; the status is 1 if a value of ours was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hand", help="the library of the loops by hand; without it they are left out")
    parser.add_argument("--rounds", type=int, default=9, help="at most so many runs of each side")
    parser.add_argument("--programs", default="", help="words, one of which a program has in its name")
    parser.add_argument("--quick", action="store_true", help="small programs, to see that all works")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder to write to")
    options = parser.parse_args()

    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
    from processors import share  # noqa: PLC0415

    processors = share()
    # Only now: each side counts the processors when it is imported.
    import comparison  # noqa: PLC0415

    rows = []
    for program in comparison.programs(options.programs, options.quick):
        print(f"   {program.name}", file=sys.stderr, flush=True)
        rows.append(comparison.compare(program, options.hand, options.rounds))

    options.out.mkdir(parents=True, exist_ok=True)
    text = "\n".join(comparison.report(rows, processors)) + "\n"
    (options.out / "peers.md").write_text(text, encoding="utf-8")
    (options.out / "peers.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(f"{text}\nWritten: {options.out}/peers.md, {options.out}/peers.json")
    return 1 if any(comparison.wrong(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
