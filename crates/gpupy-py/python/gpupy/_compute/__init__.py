"""Functions that compute: reductions, running results, sorts, products of matrices, ufuncs' methods.

``recorded.py`` has what reductions share; ``reductions.py``, ``averages.py`` and ``running.py`` are NumPy's
functions; ``sorting.py``, ``linear.py`` (products), ``linalg.py`` and ``complex_parts.py`` those of their
names; ``ufunc_methods.py`` the methods of ufuncs.

Not here: ufuncs themselves, and operators (in Rust).
"""
