"""NumPy's namespace: which object each name is, and what NumPy's protocols and Rust find in Python.

``namespace.py`` has the look-up, which it registers with ``_numpys``; ``dispatch.py`` takes calls of
NumPy's ufuncs and functions, ``records.py`` calls on fields of records, ``files.py`` has ``load``;
``rust_calls.py`` registers what Rust calls.

Not here: the functions (the folders before this one), gpupy's own names (``__init__.py`` of the package).
"""
