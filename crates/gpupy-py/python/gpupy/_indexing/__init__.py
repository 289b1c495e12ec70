"""Elements that are chosen: by index arrays, by masks, by conditions.

``positions.py`` finds where elements are not zero, ``select.py`` chooses between arrays, ``choices.py`` by
numbers, ``index_arrays.py`` has keys that are left to NumPy and functions of index arrays, ``large.py`` those
of arrays with more elements than an int32 counts, ``masks.py`` masks as arguments, ``unbuffered.py`` sums of
what is named several times.

Not here: integers, slices and keys with index arrays (in Rust).
"""
