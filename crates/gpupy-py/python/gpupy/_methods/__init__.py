"""The methods of arrays that are a few lines of Python.

``elements.py`` reads, converts and views elements, ``memory.py`` changes what an array is, ``exchange.py``
gives it to other libraries, ``pickling.py`` to other processes; ``methods.py`` completes the class by these
and by NumPy's own.

Not here: methods that are fast or basic enough for Rust.
"""
