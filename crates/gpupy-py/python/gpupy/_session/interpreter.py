"""Refuses every interpreter but the main one, before anything else is imported.

Sub-interpreters share the process with arrays and with the threads that wait for them, but not the lock by
which such threads come back to Python: a computation in one would wait for ever. Not here: threads, which may
do anything.
"""


def _is_main() -> bool:
    try:
        # NumPy imports it, too.
        import ctypes
    except ImportError as error:
        # Interpreters with a lock of their own refuse what is not made for them.
        return "interpreter" not in str(error)
    try:
        current = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyInterpreterState_Get", ctypes.pythonapi))
        number = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(
            ("PyInterpreterState_GetID", ctypes.pythonapi)
        )
    except AttributeError:
        # A Python that is not CPython has no others.
        return True
    return number(current()) == 0


if not _is_main():
    raise ImportError("gpupy does not support sub-interpreters: import it in the main interpreter")
