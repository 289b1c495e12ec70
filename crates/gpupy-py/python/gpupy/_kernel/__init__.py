"""Python functions of numbers, compiled for any driver.

``kernel.py`` has the decorator and the calls, ``reduction.py`` functions that are combined along axes;
``source.py`` finds a function's source and what its names are; ``flow.py`` makes blocks (``blocks.py``) of
its statements; ``expressions.py`` computes with ``functions.py`` on ``kinds.py``'s values; ``segments.py``
makes functions of scalars of the blocks, which the engine inlines into its kernels. Each imports only those
behind it.

Not here: Python's own numbers and errors instead of NumPy's (``_vectorize``), arrays (``gpupy._gpupy``), the
loop that goes through a function's segments (``gpupy_engine::ScalarFunction``).
"""
