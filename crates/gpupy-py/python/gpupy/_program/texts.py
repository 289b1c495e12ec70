"""The texts of a program that runs with gpupy, as they were compiled.

Owns ``keep``, ``text_of``, ``without_file``, and the variable ``GPUPY_LOOPS``, which turns off the search
for loops: then nothing is kept. Not here: what is found in them (``loop_report.py``), modules that Python
itself compiles.
"""

import os
from collections.abc import Iterator
from typing import Any

_texts: dict[str, str | bytes] = {}
# IPython's own object, while the extension is loaded.
_notebooks: list[Any] = []


def _is_on() -> bool:
    value = os.environ.get("GPUPY_LOOPS", "1")
    if value not in ("0", "1"):
        raise ValueError(f"GPUPY_LOOPS is `0` or `1`, not `{value}`")
    return value == "1"


# Whether loops are looked for.
IS_ON = _is_on()


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


def note_notebook(notebook: Any) -> None:
    """Takes the cells of a notebook, which IPython keeps, for the program's."""
    _notebooks[:] = [notebook]


def forget_notebook() -> None:
    """Takes no cells any more."""
    _notebooks.clear()
