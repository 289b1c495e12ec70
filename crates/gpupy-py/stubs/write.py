"""The stubs of gpupy's submodules, which are NumPy's under our name: ``python stubs/write.py`` writes them.

Owns the files of ``python/gpupy`` that begin with ``HEAD``. What there is stands in
``_numpys/submodules.py``, which is read from the source; what a name is, NumPy's own stubs say, those of the
release that is installed. Each module has a folder, as a stub without a module beside it makes Pyright warn.
With ``--check`` nothing is written, and a file that is not as it would be written is an error. Not here: the
stubs of gpupy's own names (``__init__.pyi``, ``_gpupy.pyi``).
"""

import ast
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python" / "gpupy"
HEAD = "# Written by stubs/write.py; do not edit.\n"

# Names of a module beside its `__all__`.
BEYOND = {
    "exceptions": "RankWarning",
    "lib.format": "ARRAY_ALIGN BUFFER_SIZE EXPECTED_KEYS GROWTH_AXIS_MAX_DIGITS MAGIC_LEN MAGIC_PREFIX "
    "descr_to_dtype drop_metadata dtype_to_descr header_data_from_array_1_0 isfileobj magic open_memmap "
    "read_array read_array_header_1_0 read_array_header_2_0 read_magic write_array write_array_header_1_0 "
    "write_array_header_2_0",
}
# Our replacements of NumPy's functions.
INSTEAD = "from ._program.drivers import info as info\n"
TWICE = "# Ours stand before NumPy's for Mypy, which keeps the first of a name, and behind for Pyright.\n"
# Modules that are attributes under other names in NumPy.
SOURCES = {"emath": "lib.scimath"}


def names():
    """The submodules that gpupy installs, by their names below the package."""
    tree = ast.parse((PACKAGE / "_numpys/submodules.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NAMES":
            words = node.value.func.value
            return ast.literal_eval(words).split()
    raise LookupError("`NAMES` is not in _numpys/submodules.py")


def stubs():
    """The text of each stub, by its path."""
    found = names()
    texts = {PACKAGE / "_ours.pyi": HEAD + modules(n for n in found if "." not in n) + INSTEAD}
    for name in found:
        inside = [other.removeprefix(f"{name}.") for other in found if other.startswith(f"{name}.")]
        texts[PACKAGE.joinpath(*name.split("."), "__init__.pyi")] = text(name, inside)
    return texts


def text(name, inside):
    """The stub of one module, with the modules inside it."""
    source = f"numpy.{SOURCES.get(name, name)}"
    all_of_it = f"from {source} import *"
    beyond = "".join(f"from {source} import {other} as {other}\n" for other in BEYOND.get(name, "").split())
    if not inside:
        return f"{HEAD}{all_of_it}\n{beyond}"
    ours = modules(inside)
    return f"{HEAD}{TWICE}{ours}{all_of_it}  # type: ignore[no-redef,unused-ignore]\n{beyond}{ours}"


def modules(inside):
    return "".join(f"from . import {module} as {module}\n" for module in inside)


def main():
    check = sys.argv[1:] == ["--check"]
    wanted = stubs()
    there = {path for path in PACKAGE.rglob("*.pyi") if path.read_text().startswith(HEAD)}
    wrong = sorted(there - wanted.keys())
    wrong += [path for path in wanted if path not in there or path.read_text() != wanted[path]]
    if check:
        for path in wrong:
            print(f"{path}: not as `python {sys.argv[0]}` writes it")
        return 1 if wrong else 0
    for path in wrong:
        if path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path])
        else:
            path.unlink()
            path.parent.rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main())
