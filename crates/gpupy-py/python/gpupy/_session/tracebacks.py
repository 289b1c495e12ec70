"""Tracebacks that lead to the line of the program's that is wrong, past the code here that found it.

Owns ``without``, ``between``, ``frame_at`` and ``is_own``. Not here: what is wrong (``_kernel/source.py``,
``_jit/recording.py``).
"""

import ast
import os
from types import TracebackType

_OWN = (os.path.dirname(os.path.dirname(__file__)) + os.sep, ast.__file__)

# What a frame at a place of a source knows the error as.
_ERROR = "__error__"


def without(traceback: TracebackType | None, folder: str) -> TracebackType | None:
    """The part of a traceback behind the frames at its start whose code lies in a folder, or is a file."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(folder):
        traceback = traceback.tb_next
    return traceback


def between(traceback: TracebackType | None, folder: str) -> TracebackType | None:
    """The part of a traceback between the frames at its two ends whose code lies in a folder."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    is_theirs = [not one.tb_frame.f_code.co_filename.startswith(folder) for one in frames]
    if True not in is_theirs:
        return None
    kept = frames[is_theirs.index(True) : len(frames) - is_theirs[::-1].index(True)]
    rest = None
    for one in reversed(kept):
        rest = TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rest


def is_own(error: BaseException) -> bool:
    """Whether code here, or of ``ast``, raised an error; the handler of a signal is the program's."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_OWN)


def frame_at(file: str, function: str, start: tuple[int, int], end: tuple[int, int]) -> TracebackType | None:
    """A traceback of one frame, between two places of a source: lines, and columns as ``ast`` counts them.

    Python underlines these columns.
    """
    place = dict(zip(("lineno", "col_offset", "end_lineno", "end_col_offset"), (*start, *end), strict=True))
    statement = ast.Raise(ast.Name(_ERROR, ast.Load(), **place), None, **place)
    code = compile(ast.Module([statement], []), file, "exec")
    names = {_ERROR: _Reached()}
    try:
        exec(code.replace(co_name=function, co_qualname=function), names)
    except _Reached as reached:
        # Behind the frame of this function.
        found = reached.__traceback__ and reached.__traceback__.tb_next
        return found
    finally:
        names.clear()
    raise AssertionError("the frame raises an error")


class _Reached(Exception):
    """That the frame at a place is there."""
