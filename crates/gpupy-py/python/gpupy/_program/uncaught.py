"""Errors that end a program are shown as Python shows them, without the lines of what runs the program.

Owns ``begin``. Not here: how a program runs (``script.py``, ``running.py``).
"""

import ast
import runpy
import sys
import types
from typing import TypeAlias

from .._fallback.policy import PACKAGES

_Trace: TypeAlias = types.TracebackType | None
# What stands above a program's own lines; Python's parser, if it is not one.
_RUNNERS = tuple(path for path in (PACKAGES[0], runpy.__file__, "<frozen runpy>", ast.__file__) if path)


def begin() -> None:
    """From here on, errors that nothing catches begin with the program's own line."""
    shown = sys.excepthook

    def excepthook(
        kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
    ) -> None:
        of_program = trace
        while of_program is not None and of_program.tb_frame.f_code.co_filename.startswith(_RUNNERS):
            of_program = of_program.tb_next
        # A program that is no Python has no lines yet; other errors of the runners are shown whole.
        if isinstance(error, SyntaxError) if of_program is None else _is_main(of_program.tb_frame):
            error, trace = error.with_traceback(of_program), of_program
        shown(kind, error, trace)

    sys.excepthook = excepthook


def _is_main(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__") == "__main__"
