"""Functions that compute: reductions, running results, sorts, products of matrices, ufuncs' methods.

``recorded.py`` has what reductions share; ``reductions.py``, ``averages.py`` and ``running.py`` are NumPy's
functions; ``sorting.py``, ``linear.py`` (products), ``einsum.py``, ``linalg.py`` and ``complex_parts.py``
those of their names; ``packed_bits.py`` bits in bytes, ``windows.py`` sums over short windows;
``ufunc_methods.py`` the methods of ufuncs, ``composed_ufuncs.py`` ufuncs that are compositions.

Not here: other ufuncs, and operators (in Rust).
"""
