"""``python -m gpupy program.py``: a NumPy program with gpupy in NumPy's place.

Owns ``run`` and ``Finder``, by which modules are imported so. Import statements of the program, and of
modules that lie in its folder or below, give gpupy where they name NumPy's public modules; all else that
the program imports keeps NumPy. Not here: the command line (``__main__``), what stands in the code of a
program besides (``rewritten.py``), programs that no file has
(``running.py``), imports of a program that runs already (``imports.py``).
"""

import ast
import importlib.abc
import importlib.machinery
import pathlib
import sys
import types
from collections.abc import Callable, Sequence
from typing import TypeAlias

from . import texts
from .imports import ours, put
from .texts import keep


def run(path: str, arguments: list[str]) -> int:
    """Runs the file as Python runs a program: as ``__main__``, with these arguments, its folder searched.

    Returns the exit status where the program does not end by itself.
    """
    file = pathlib.Path(path)
    try:
        source = file.read_bytes()
    except OSError as error:
        print(f"python -m gpupy: cannot read `{path}`: {error.strerror}", file=sys.stderr)
        return 2
    # Python itself gives a program an absolute path, and its arguments as they are.
    absolute = str(file.absolute())
    code = _compiled(source, absolute, ours)
    main = types.ModuleType("__main__")
    main.__file__ = absolute
    # Pickles find the program's definitions by its module's name.
    sys.modules["__main__"] = main
    sys.argv = [path, *arguments]
    folder = file.resolve().parent
    sys.path[0] = str(folder)
    sys.meta_path.insert(0, Finder(lambda f: folder in f.parents and "site-packages" not in f.parts, ours))
    # Of code that is made while the program runs, too.
    put([str(folder)], True)
    exec(code, main.__dict__)
    return 0


# Whether loops have sites, at which they may run compiled.
HAS_SITES = texts.IS_ON

# The name of the module that stands for one, or `None` where that stays.
_Names: TypeAlias = Callable[[str], str | None]


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules whose files ``holds`` accepts, with the modules in place that ``name_of`` names.

    ``name_of(module)`` is the name of a module's replacement, or ``None`` where it has none.
    """

    def __init__(self, holds: Callable[[pathlib.Path], bool], name_of: _Names) -> None:
        self._holds = holds
        self._name_of = name_of

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        if not spec.origin or not self._holds(pathlib.Path(spec.origin).resolve()):
            return None
        spec.loader = _Loader(fullname, spec.origin, self._name_of)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, name_of: _Names) -> None:
        super().__init__(fullname, path)
        self._name_of = name_of

    def get_code(self, fullname: str) -> types.CodeType:
        # Never from bytecode, which was compiled from the module as it lies there.
        return _compiled(self.get_data(self.path), self.path, self._name_of)


def _compiled(source: bytes, path: str, name_of: _Names) -> types.CodeType:
    keep(path, source)
    imports = _Imports(name_of)
    tree = ast.fix_missing_locations(imports.visit(ast.parse(source, path)))
    if HAS_SITES and imports.has_loops:
        # Programs without loops start without it.
        from .._loops import running

        code = running.with_sites(tree, path, lambda: _as_written(source, path, name_of))
        if code is not None:
            return code
    return compile(tree, path, "exec", dont_inherit=True)


def of_text(source: str | bytes, name: str) -> types.CodeType:
    """The code of a text whose imports stay as they are, with its loops' sites."""
    tree = ast.parse(source, name)
    if HAS_SITES and any(isinstance(node, ast.For | ast.While) for node in ast.walk(tree)):
        # Programs without loops start without it.
        from .._loops import running

        code = running.with_sites(tree, name, lambda: compile(source, name, "exec", dont_inherit=True))
        if code is not None:
            return code
    return compile(source, name, "exec", dont_inherit=True)


def _as_written(source: bytes, path: str, name_of: _Names) -> types.CodeType:
    tree = ast.fix_missing_locations(_Imports(name_of).visit(ast.parse(source, path)))
    return compile(tree, path, "exec", dont_inherit=True)


# The module with what stands in a program's code, and the functions.
_REWRITTEN = "gpupy._program.rewritten"
_VIEWED, _GIVEN = "viewed", "given"


def _function(name: str) -> ast.expr:
    """The expression for a function that no name of the program stands for."""
    names = ast.keyword("fromlist", ast.Tuple([ast.Constant(name)], ast.Load()))
    module = ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant(_REWRITTEN)], [names])
    return ast.Attribute(module, name, ast.Load())


def _is_ndarray(node: ast.expr) -> bool:
    return getattr(node, "attr", getattr(node, "id", None)) == "ndarray"


class _Imports(ast.NodeTransformer):
    """Puts other modules in the place of NumPy's in imports, and two expressions (``rewritten.py``)."""

    def __init__(self, name_of: _Names) -> None:
        self._name_of = name_of
        self.has_loops = False

    def visit_For(self, node: ast.For) -> ast.For:
        self.has_loops = True
        self.generic_visit(node)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        self.has_loops = True
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "view"
            and any(map(_is_ndarray, values))
        ):
            node.args.insert(0, node.func.value)
            node.func = ast.copy_location(_function(_VIEWED), node.func)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        for inside in node.body:
            if isinstance(inside, ast.FunctionDef) and inside.name == "__array__":
                inside.decorator_list.append(ast.copy_location(_function(_GIVEN), inside))
        return node

    def visit_Import(self, node: ast.Import) -> ast.Import:
        new = []
        for name in node.names:
            found = self._name_of(name.name)
            if name.asname is None and name.name.startswith("numpy."):
                # `import numpy.fft` binds `numpy`, which the second one leaves.
                new.append(ast.alias(found, "numpy") if found else name)
                new.append(ast.alias("gpupy", "numpy"))
            else:
                new.append(ast.alias(found, name.asname or "numpy") if found else name)
        return ast.copy_location(ast.Import(new), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        node.module = (self._name_of(node.module or "") if node.level == 0 else None) or node.module
        return node
