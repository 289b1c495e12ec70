"""``python -m gpupy program.py``: a NumPy program with gpupy in NumPy's place.

Owns ``run`` and ``ours``. Import statements of the program, and of modules that lie in its folder or
below, give gpupy where they name NumPy's public modules; all else that the program imports keeps NumPy.
Not here: the command line (``__main__``).
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import sys
import types


def run(path, arguments):
    """Runs the file as Python runs a program: as ``__main__``, with these arguments, its folder searched.

    Returns the exit status where the program does not end by itself.
    """
    file = pathlib.Path(path)
    try:
        source = file.read_bytes()
    except OSError as error:
        print(f"python -m gpupy: cannot read `{path}`: {error.strerror}", file=sys.stderr)
        return 2
    code = _compiled(source, path)
    main = types.ModuleType("__main__")
    main.__file__ = path
    # What the program defines is found by its module's name, as pickles want it.
    sys.modules["__main__"] = main
    sys.argv = [path, *arguments]
    sys.path[0] = str(file.resolve().parent)
    sys.meta_path.insert(0, _Finder(file.resolve().parent))
    exec(code, main.__dict__)
    return 0


def ours(module):
    """gpupy's module for one of NumPy's public ones, by name; ``None`` where gpupy has none."""
    if module != "numpy" and not module.startswith("numpy."):
        return None
    name = "gpupy" + module.removeprefix("numpy")
    if any(part.startswith("_") for part in name.split(".")):
        return None
    try:
        found = sys.modules.get(name) or importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return name if found else None


def _compiled(source, path):
    tree = ast.fix_missing_locations(_Imports().visit(ast.parse(source, path)))
    return compile(tree, path, "exec", dont_inherit=True)


class _Imports(ast.NodeTransformer):
    """Puts ``gpupy`` in the place of ``numpy`` in import statements."""

    def visit_Import(self, node):
        new = []
        for name in node.names:
            found = ours(name.name)
            if found is None:
                new.append(name)
            elif name.asname is None and "." in name.name:
                # `import numpy.fft` binds `numpy`, which the second one leaves.
                new.extend([ast.alias(found, "numpy"), ast.alias("gpupy", "numpy")])
            else:
                new.append(ast.alias(found, name.asname or "numpy"))
        return ast.copy_location(ast.Import(new), node)

    def visit_ImportFrom(self, node):
        node.module = (ours(node.module or "") if node.level == 0 else None) or node.module
        return node


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of the program's own."""

    def __init__(self, folder):
        self._folder = folder

    def find_spec(self, fullname, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        file = pathlib.Path(spec.origin).resolve()
        if self._folder not in file.parents or "site-packages" in file.parts:
            return None
        spec.loader = _Loader(fullname, spec.origin)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        # Never from bytecode, which was compiled from the module as it lies there.
        return _compiled(self.get_data(self.path), self.path)
