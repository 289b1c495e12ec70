"""Linear algebra of many small matrices: recorded, each operation for an element of all of them.

``requests.py`` says which calls that is, and leaves doubtful matrices to NumPy; ``elimination.py`` solves and
inverts, ``cholesky.py`` finds roots, ``eigenvectors.py`` what the name says, over ``tridiagonal.py``.

Not here: sums and products of matrices (``_compute/linalg.py``), larger matrices, which are NumPy's.
"""
