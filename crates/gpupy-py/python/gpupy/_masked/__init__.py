"""Masked arrays: NumPy's code, run anew over our arrays.

``rerun.py`` runs modules, ``masked.py`` has our own parts of their classes.

Not here: other code that sees a mask (``_libraries/masked.py``).
"""
