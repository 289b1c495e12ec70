"""The sizes at which the code changes its way, read from its sources.

Owns ``constants``, ``of_text`` and ``SIZES``. Every whole number that a constant names in the Rust crates or
in the Python package, or a field of a crate's thresholds, is taken for a threshold, of elements or of bytes:
one that is added or changed is drawn without a word here. Not here: what is drawn of them (``literals.py``).
"""

import ast
import bisect
import operator
import re
from pathlib import Path

_CRATES = Path(__file__).resolve().parents[3]
_RUST = re.compile(r"\bconst (\w+): (?:usize|isize|[iu](?:16|32|64)) =\s*([^;{]+);")
_FIELD = re.compile(r"^    (\w+): (?:usize|isize|[iu](?:16|32|64)) =\s*([^;{,]+),", re.MULTILINE)
_PYTHON = re.compile(r"^(_?[A-Z][A-Z_]*) = ([\d_][^#\n]*)", re.MULTILINE)
_CAST = re.compile(r"\bas [iu]\w+")
_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
}
# Larger ones are limits of memory and patterns of bits, and no array of a test goes there.
_LARGEST = 1 << 22


def _value(node, named):
    """The value of an expression; ``LookupError`` where it is more than arithmetic of named constants."""
    match node:
        case ast.Expression(body=body):
            return _value(body, named)
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return named[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, named), _value(right, named))
    raise KeyError(ast.dump(node))


def of_text(text, pattern=_RUST):
    """The constants that the text of one file names."""
    named = {}
    for name, expression in pattern.findall(text):
        try:
            tree = ast.parse(_CAST.sub("", expression).strip(), mode="eval")
            named[name] = _value(tree, named)
        except (LookupError, SyntaxError, ValueError):
            # A size of a type, or a function of one: it follows from others.
            continue
    return named


def constants():
    """For each source file, as its path below ``crates/``, the constants that it names."""
    sources = [path for path in _CRATES.glob("*/src/**/*.rs")]
    files = [(path, _FIELD if path.name == "thresholds.rs" else _RUST) for path in sources]
    files += [(path, _PYTHON) for path in (_CRATES / "gpupy-py/python").glob("**/*.py")]
    found = {str(path.relative_to(_CRATES)): of_text(path.read_text(), kind) for path, kind in sorted(files)}
    return {path: named for path, named in found.items() if named}


def _sizes():
    named = {value for of_file in constants().values() for value in of_file.values()}
    thresholds = {value for value in named if 2 <= value <= _LARGEST}
    # A threshold in bytes is reached by fewer elements.
    thresholds |= {value // size for value in thresholds for size in (2, 4, 8, 16) if value >= 2 * size}
    return sorted({near for value in thresholds for near in (value - 1, value, value + 1)})


# One below, at and one above each of them, in order.
SIZES = _sizes()


def up_to(most):
    """How many of ``SIZES`` are no greater."""
    return bisect.bisect_right(SIZES, most)
