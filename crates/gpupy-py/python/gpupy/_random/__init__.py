"""``gpupy.random``: NumPy's generators, with seeds and numbers of ours.

``generators.py`` has the classes, ``draws.py`` the methods whose numbers drivers compute, and whether NumPy's
release has the same ones, ``by_index.py`` the words of bit generators by their index, ``products.py`` the
arithmetic for it. ``host_draws.py`` has the methods whose numbers the host draws in bulk, ``layers.py`` the
layers of their ziggurats, ``arguments.py`` sizes and numbers in calls.

Not here: the numbers that the host draws (the crate `gpupy-random`); NumPy's own generators
(``_libraries/shuffles.py``).
"""
