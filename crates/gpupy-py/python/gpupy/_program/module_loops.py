"""Loops of modules, cells and texts whose imports stay as they are: their code is compiled with sites.

Owns ``of_text``, ``Finder``, by which modules of the program are imported so from ``gpupy.install()`` on,
and the compiler of a notebook's cells. Invariants: where no loop gets a site, a module is loaded as Python
loads it, from its bytecode too; other modules are found as they were. Not here: programs whose imports are
replaced in their source (``script.py``), what a site does (``_loops``).
"""

import ast
import importlib.abc
import importlib.machinery
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._session import written_code
from . import texts

# What begins a line of each loop's; a text that has it may have none. What begins with one character is found
# at once, and few texts have other ends of lines.
_FIRST = re.compile(rb"[ \t\f]*(?:for|while)\b")
_LOOP = re.compile(rb"\n[ \t\f]*(?:for|while)\b")
_OTHER = re.compile(rb"[\r\xbf][ \t\f]*(?:for|while)\b")


def may_have_loops(source: str | bytes) -> bool:
    """Whether a text may have loops as statements."""
    found = source.encode("utf-8", "replace") if isinstance(source, str) else source
    if not written_code.IS_ON:
        return False
    return bool(_LOOP.search(found) or _FIRST.match(found) or _OTHER.search(found))


def of_text(source: str | bytes, name: str) -> types.CodeType:
    """The code of a text, with its loops' sites."""
    code = _with_sites(source, name)
    return compile(source, name, "exec", dont_inherit=True) if code is None else code


def _with_sites(source: str | bytes, name: str) -> types.CodeType | None:
    """The code of a text with sites; None where it has none."""
    if not may_have_loops(source):
        return None
    # Programs without loops start without it.
    from .._loops import running

    tree = ast.parse(source, name)
    return running.with_sites(tree, name, lambda: compile(source, name, "exec", dont_inherit=True))


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules as Python does; those that ``holds`` accepts, by the names that they get, have sites."""

    def __init__(self, holds: Callable[[Mapping[str, object]], bool]) -> None:
        self._holds = holds

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        is_source = spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader
        if spec is not None and is_source and self._holds({"__name__": fullname, "__file__": spec.origin}):
            spec.loader = _Loader(fullname, spec.origin or "")
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> types.CodeType | None:
        source = self.get_data(self.path)
        code = _with_sites(source, self.path)
        if code is None:
            return super().get_code(fullname)
        texts.keep(self.path, source)
        return code


def put(holds: Callable[[Mapping[str, object]], bool]) -> None:
    """Has modules found so from here on."""
    if not written_code.IS_ON or any(isinstance(one, Finder) for one in sys.meta_path):
        return
    # Those that others put before Python's own come first, as they did.
    path = sys.meta_path
    own = importlib.machinery.PathFinder
    path.insert(path.index(own) if own in path else len(path), Finder(holds))


def take_away() -> None:
    """Has modules found as Python finds them; those that were imported stay."""
    for one in [one for one in sys.meta_path if isinstance(one, Finder)]:
        sys.meta_path.remove(one)


class _Cells:
    """The compiler of a notebook's cells, which are compiled statement by statement."""

    def __init__(self, notebook: Any) -> None:
        self._notebook = notebook
        self._theirs: type[Any] = type(notebook.compile)

        class Compiler(self._theirs):  # type: ignore[name-defined, misc]
            """IPython's compiler, whose code has sites."""

            def __call__(compiler, source: Any, filename: Any, symbol: Any, *args: Any, **kwargs: Any) -> Any:
                def plain() -> Any:
                    return super(Compiler, compiler).__call__(source, filename, symbol, *args, **kwargs)

                code = _of_cell(source, filename, getattr(notebook, "user_ns", {}), plain)
                return plain() if code is None else code

        self._ours = Compiler

    def put(self) -> None:
        if type(self._notebook.compile) is self._theirs:
            self._notebook.compile.__class__ = self._ours

    def take_away(self) -> None:
        if type(self._notebook.compile) is self._ours:
            self._notebook.compile.__class__ = self._theirs


def _of_cell(
    tree: Any, file: str, names: Mapping[str, Any], plain: Callable[[], types.CodeType]
) -> types.CodeType | None:
    """The code of some of a cell's statements with sites; None where it has none."""
    if not isinstance(tree, ast.Module | ast.Interactive) or not _has_loops(tree):
        return None
    texts.keep_cell(file)
    # Notebooks without loops start without it.
    from .._loops import running

    return running.of_cell(tree, file, names, plain)


def _has_loops(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.For | ast.While) for node in ast.walk(tree))


_notebooks: list[_Cells] = []


def put_in_cells(notebook: Any) -> None:
    """Has the cells of a notebook compiled with sites from here on."""
    if written_code.IS_ON and hasattr(notebook, "compile") and not _notebooks:
        _notebooks.append(_Cells(notebook))
        _notebooks[0].put()


def forget_cells() -> None:
    """Has cells compiled as they were."""
    while _notebooks:
        _notebooks.pop().take_away()
