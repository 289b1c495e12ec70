"""Functions that look at elements otherwise, or put them side by side.

``shape.py`` has views of other shapes, ``strides.py`` of other strides, ``flat.py`` the elements in one
row; ``iteration.py`` goes over them, ``joining.py`` joins, repeats, shifts and pads, ``grids.py`` spans
coordinates.

Not here: indexing (``_indexing``).
"""
