"""The texts of a program that runs with gpupy, as they were compiled.

Owns ``keep``, ``text_of`` and ``without_file``. Where loops are not looked for, nothing is kept. Not here:
what is found in them (``loop_report.py``), modules that Python itself compiles.
"""

import linecache
from collections.abc import Iterator, Mapping
from typing import Any

from .._session.written_code import IS_ON

_texts: dict[str, str | bytes] = {}
# By the texts of cells with loops, the names of their files.
_cells: dict[str, str] = {}
# IPython's own object, while the extension is loaded.
_notebooks: list[Any] = []


def keep(name: str, text: str | bytes) -> None:
    """Keeps a text by the name of its file, or by the name that tracebacks show."""
    if IS_ON:
        _texts[name] = text


def text_of(file: str) -> str | bytes | None:
    """The text of a file, as it was compiled; None where Python compiled it."""
    return _texts.get(file)


def without_file() -> Iterator[tuple[str, str | bytes]]:
    """Texts that no file has, with their names: of ``-c``, of standard input, the cells of a notebook."""
    yield from ((name, text) for name, text in list(_texts.items()) if name.startswith("<"))
    for notebook in _notebooks:
        history = getattr(notebook, "history_manager", None)
        cells = list(getattr(history, "input_hist_parsed", None) or ())
        yield from (
            (f"In [{number}]", cell) for number, cell in enumerate(cells) if isinstance(cell, str) and cell
        )


def keep_cell(file: str) -> None:
    """Keeps the name of the file that a cell of a notebook has for IPython."""
    _cells["".join(linecache.getlines(file)).rstrip()] = file


def file_of_cell(text: str | bytes) -> str | None:
    """The name of the file that a cell with this text has, if it has loops."""
    return _cells.get(text.rstrip()) if isinstance(text, str) else None


def names_of_cells() -> Mapping[str, Any] | None:
    """The present values of the names of cells."""
    return getattr(_notebooks[0], "user_ns", None) if _notebooks else None


def note_notebook(notebook: Any) -> None:
    """Takes the cells of a notebook, which IPython keeps, for the program's."""
    _notebooks[:] = [notebook]


def forget_notebook() -> None:
    """Takes no cells any more."""
    _notebooks.clear()
