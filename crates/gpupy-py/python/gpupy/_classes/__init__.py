"""The class of arrays, its subclasses, and the class of ufuncs.

``kind.py`` has the metaclass, ``subclass.py`` the classes of results by NumPy's rules, ``flags.py`` and
``extents.py`` attributes, ``ufuncs.py`` the pairs of NumPy's ufuncs and ours.

Not here: methods (``_methods``), the classes themselves (in Rust).
"""
