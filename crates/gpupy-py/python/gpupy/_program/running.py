"""``python -m gpupy -m MODULE``, ``-c CODE`` and ``-``: programs as Python takes them, on gpupy.

Owns ``module``, ``code`` and ``standard_input``. Each runs as ``__main__`` with its arguments, and the
current folder is searched for modules and is the program's. Not here: files (``script.py``), which imports
give gpupy (``imports.py``).
"""

import importlib.util
import os
import sys
import types
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any

from . import imports, module_loops, texts


def module(name: str, arguments: list[str]) -> int:
    """Runs a module by its name; of a package, its ``__main__``. The whole package is the program's."""
    sys.path[0] = os.getcwd()
    spec = None
    try:
        top = importlib.util.find_spec(name.partition(".")[0])
        # Set before the import, because modules inside it are found by it.
        imports.put(_folders(top, arguments), True)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if not f"{name}.__main__".startswith(error.name or "."):
            raise
    if spec is None or not hasattr(spec.loader, "get_code"):
        print(f"python -m gpupy: no module named `{name}` that can be run", file=sys.stderr)
        return 1
    main = types.ModuleType("__main__")
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    main.__file__ = spec.origin
    return _run(main, _code(spec), [spec.origin or name, *arguments])


def _code(spec: ModuleSpec) -> types.CodeType:
    """The code of a module that is run."""
    loader: Any = spec.loader
    if type(loader) is SourceFileLoader and spec.origin:
        return module_loops.of_text(loader.get_data(spec.origin), spec.origin)
    code: types.CodeType = loader.get_code(spec.name)
    return code


def _folders(top: ModuleSpec | None, arguments: list[str]) -> list[str]:
    """The program's folders: the current one, its package's, those of files that its arguments name."""
    named = [argument.partition("::")[0] for argument in arguments]
    found = [path if os.path.isdir(path) else os.path.dirname(path) for path in named if os.path.exists(path)]
    return [os.getcwd(), *((top and top.submodule_search_locations) or ()), *found]


def code(text: str, arguments: list[str]) -> int:
    """Runs a text."""
    return _run_text(text, "<string>", ["-c", *arguments])


def standard_input(arguments: list[str]) -> int:
    """Runs code from standard input."""
    return _run_text(sys.stdin.buffer.read(), "<stdin>", ["-", *arguments])


def _run_text(text: str | bytes, name: str, arguments: list[str]) -> int:
    sys.path[0] = ""
    imports.put([os.getcwd()], True)
    texts.keep(name, text)
    return _run(types.ModuleType("__main__"), module_loops.of_text(text, name), arguments)


def _run(main: types.ModuleType, compiled: types.CodeType, arguments: list[str]) -> int:
    """Runs a main module; returns the exit status where it does not end by itself."""
    # Pickles find the program's definitions by its module's name.
    sys.modules["__main__"] = main
    sys.argv = arguments
    exec(compiled, main.__dict__)
    return 0
