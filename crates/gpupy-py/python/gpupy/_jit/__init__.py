"""Functions that are recorded once, and done again without Python.

``jit.py`` has the decorator and what it tells; ``recording.py`` runs a function while what it does with
arrays is recorded; ``watch.py`` watches what it reads besides, and what it does that would not happen again;
``reads.py`` finds that in code; ``forms.py`` describes arguments and results; ``selection.py`` has what masks
select. Each imports only those behind it.

Not here: recording itself, and doing it again (``gpupy._gpupy.jit``, ``crates/gpupy-py/src/jit``).
"""
