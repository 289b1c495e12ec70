"""Python functions of numbers, compiled for any driver.

``kernel.py`` has the decorator and the calls, ``reduction.py`` functions that are combined along axes;
``source.py`` finds a function's source and what its names are; ``flow.py`` makes blocks of its statements;
``expressions.py`` computes with ``functions.py`` on ``kinds.py``'s values; ``segments.py`` makes functions of
scalars of the blocks, which the engine inlines into its kernels. Each imports only those behind it.
``python.py`` has Python's own numbers and errors instead of NumPy's, with ``python_operators.py`` and
``python_kinds.py``; so ``vectorize.py`` compiles what ``np.vectorize`` calls for each element.

Not here: arrays (``gpupy._gpupy``), the loop that goes through a function's segments
(``gpupy_engine::ScalarFunction``).
"""
