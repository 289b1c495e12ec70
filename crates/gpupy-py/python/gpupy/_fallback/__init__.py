"""Calls that are NumPy's: arguments are flushed, calls counted, results wrapped.

``policy.py`` has the mode, the errors and the counts; ``hosts.py`` gives NumPy's arrays for ours,
``results.py`` ours for NumPy's, which may be *views* of arguments (``places.py``); ``calls.py`` has the slow
path of a call, ``through_numpy.py`` functions that are called so, ``others.py`` those of other classes'
arrays. ``objects.py`` stores Python's objects as they are, ``records.py`` changes fields; a ``proxy.py``
stands for an object of NumPy's whose methods give arrays, ``containers.py`` looks into tuples and
dictionaries, ``text.py`` writes corners.

Not here: the fast path, for plain arguments (``call`` in Rust), which calls are NumPy's (those who call it).
"""
