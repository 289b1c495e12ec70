"""The core's table of operations, as `tests/data/core/tables.json` has it.

Owns ``ufuncs``, by which tests take their cases from the table. Not here: ufuncs of several operations.
"""

import json
import pathlib

_PATH = pathlib.Path(__file__).parents[3] / "tests" / "data" / "core" / "tables.json"
_ROWS = json.loads(_PATH.read_text())["operations"]


def ufuncs(arity: int, exact: bool) -> dict[str, float]:
    """NumPy's ufuncs that are one operation, with their bounds in ULP, which are 0 of the exact ones."""
    rows = [row for row in _ROWS if row["arity"] == arity and (row["ulp"] == 0) == exact]
    return {name: row["ulp"] for row in rows for name in row["numpy"]}
