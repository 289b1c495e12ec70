"""Arrays from nothing or from other data, with NumPy's signatures.

``conversion.py`` takes what there is, ``constants.py``, ``ranges.py`` and ``coordinates.py`` (elements that
follow from their coordinates) make expressions, which take no memory; ``tensors.py`` has DLPack's,
``pointers.py`` those of ctypes. ``orders.py`` has shapes and memory orders as arguments, ``asked.py`` the
argument ``like``.

Not here: arrays over files (``_outside``), joins and other shapes (``_views``).
"""
