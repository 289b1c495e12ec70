"""``np.vectorize``, compiled where the results are NumPy's.

``vectorize.py`` has the class; ``python.py`` computes with Python's own numbers and errors instead of
NumPy's, by ``python_operators.py`` and ``python_kinds.py``. Each imports only those behind it.

Not here: the compiler, which is that of kernels (``_kernel``).
"""
