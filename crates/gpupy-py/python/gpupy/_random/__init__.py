"""``gpupy.random``: NumPy's generators, with seeds and numbers of ours.

``generators.py`` has the classes, ``draws.py`` the methods whose numbers drivers compute, and whether NumPy's
release has the same ones, ``by_index.py`` the words of bit generators by their index, ``products.py`` the
arithmetic for it.

Not here: draws that reject words, which are NumPy's; NumPy's own generators (``_libraries/shuffles.py``).
"""
