"""NumPy's own modules and code, over our arrays.

``submodules.py`` has NumPy's submodules under our name, ``rebound.py`` functions that NumPy writes in
Python, whose names are bound to ours; ``sooner.py`` says which calls NumPy does sooner than drivers.

Not here: what a name becomes (``_namespace``), whole modules that are run anew (``_masked``).
"""
