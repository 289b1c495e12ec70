"""Functions that are traced once, and repeated without Python.

``jit.py`` has the decorator and its statistics; ``recording.py`` runs a function while its operations on
arrays are recorded; ``watch.py`` finds its other reads, which become guards, and its side effects;
``reads.py`` finds both in code; ``forms.py`` describes arguments and results; ``selection.py`` has masked
selections. Each imports only those behind it.

Not here: recording arrays' operations, and repeating them (``gpupy._gpupy.jit``,
``crates/gpupy-py/src/jit``).
"""
