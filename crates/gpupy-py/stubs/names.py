"""A program that names all that gpupy's modules have, for a type checker: ``python stubs/names.py > FILE``.

The names are those of the modules themselves, so that one which the stubs do not know is an error in the
program. Not here: what a name is (``mypy.stubtest`` for gpupy's own, NumPy's stubs for the others).
"""

import importlib

import gpupy
from gpupy._numpys import submodules


def program():
    modules = ["gpupy", *(f"gpupy.{name}" for name in submodules.NAMES)]
    yield from (f"import {module}" for module in modules)
    for module in modules:
        found = importlib.import_module(module)
        names = {*(getattr(found, "__all__", None) or dir(found)), *(gpupy._OURS if found is gpupy else ())}
        yield from (f"{module}.{name}" for name in sorted(names) if not name.startswith("_"))


if __name__ == "__main__":
    print("\n".join(program()))
