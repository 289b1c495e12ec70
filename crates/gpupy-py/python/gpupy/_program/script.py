"""``python -m gpupy program.py``: a NumPy program with gpupy in NumPy's place.

Owns ``run`` and ``Finder``, by which modules are imported so. Import statements of the program, and of
modules that lie in its folder or below, give gpupy where they name NumPy's public modules; all else that
the program imports keeps NumPy. Not here: the command line (``__main__``), what stands in the code of a
program besides (``rewritten.py``), programs that no file has
(``running.py``), imports of a program that runs already (``imports.py``).
"""

import ast
import bisect
import importlib.abc
import importlib.machinery
import pathlib
import re
import sys
import types
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from .._session import written_code
from . import module_loops, texts
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
    tree = _tree(source, path, name_of)
    written_code.note_tree(path, lambda: _tree(source, path, name_of))
    if HAS_SITES and module_loops.may_have_loops(source):
        # Programs without loops start without it.
        from .._loops import running

        code = running.with_sites(tree, path, lambda: _as_written(source, path, name_of))
        if code is not None:
            return code
    return compile(tree, path, "exec", dont_inherit=True)


def _as_written(source: bytes, path: str, name_of: _Names) -> types.CodeType:
    return compile(_tree(source, path, name_of), path, "exec", dont_inherit=True)


def _tree(source: bytes, path: str, name_of: _Names) -> ast.Module:
    tree, imports = ast.parse(source, path), _Imports(name_of)
    if not source.isascii() and source.count(_CLASS) != _normalized(source).count(_CLASS):
        # A name in other letters is the same one.
        return ast.fix_missing_locations(imports.visit(tree))
    imports.in_statements(tree, [number for number, line in _lines(source) if _CLASS in line])
    return tree


# Statements without it have no expression in whose place another one stands.
_CLASS = b"ndarray"


def _normalized(source: bytes) -> bytes:
    return unicodedata.normalize("NFKC", source.decode("utf-8", "replace")).encode("utf-8", "replace")


def _lines(source: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines by their numbers, as Python counts them."""
    return enumerate(_END.split(source), 1) if _CLASS in source else iter(())


_END = re.compile(rb"\r\n|\r|\n")


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


def _is_between(node: Any, lines: list[int]) -> bool:
    """Whether one of some lines, in order, is a statement's; parts of a `match` have none."""
    start = min([one.lineno for one in getattr(node, "decorator_list", [])] + [getattr(node, "lineno", 0)])
    at = bisect.bisect_left(lines, start)
    return at < len(lines) and lines[at] <= getattr(node, "end_lineno", lines[at])


# Where statements have others.
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


class _Imports(ast.NodeTransformer):
    """Puts other modules in the place of NumPy's in imports, and two expressions (``rewritten.py``)."""

    def __init__(self, name_of: _Names) -> None:
        self._name_of = name_of

    def in_statements(self, tree: ast.Module, lines: list[int]) -> None:
        """The same; expressions, which are most of a program, are looked at on these lines alone."""
        stack: list[Any] = [tree]
        while stack:
            node = stack.pop()
            for block in _BLOCKS:
                inside = getattr(node, block, None)
                if type(inside) is not list:
                    continue
                for number, one in enumerate(inside):
                    if type(one) is ast.Import:
                        inside[number] = ast.fix_missing_locations(self.visit_Import(one))
                        continue
                    if type(one) is ast.ImportFrom:
                        self.visit_ImportFrom(one)
                        continue
                    is_outer = hasattr(one, "body") or hasattr(one, "cases")
                    if type(one) is ast.ClassDef:
                        self._give(one)
                    if lines and _is_between(one, lines):
                        self._in_expressions(one)
                    if is_outer:
                        stack.append(one)

    def _in_expressions(self, node: ast.AST) -> None:
        """Looks at the expressions of a statement, without those of statements in it."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and name not in _BLOCKS:
                value[:] = [self.visit(one) if isinstance(one, ast.AST) else one for one in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "view"
            and any(map(_is_ndarray, values))
        ):
            node.args.insert(0, node.func.value)
            node.func = ast.fix_missing_locations(ast.copy_location(_function(_VIEWED), node.func))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        self._give(node)
        return node

    def _give(self, node: ast.ClassDef) -> None:
        for inside in node.body:
            if isinstance(inside, ast.FunctionDef) and inside.name == "__array__":
                inside.decorator_list.append(ast.copy_location(_function(_GIVEN), inside))
                ast.fix_missing_locations(inside)

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
