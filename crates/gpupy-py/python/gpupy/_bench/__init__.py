"""``python -m gpupy bench``: NumPy beside each driver on this machine; and what times functions of a program.

Owns nothing; a module a duty: ``programs`` (what runs), ``catalogue`` (how large, and on which numbers),
``command`` (options and files), ``drivers`` (a process for each), ``worker`` (what such a process does),
``timing``, ``difference``, ``memory``, ``table``, ``plot``; ``small`` times what a call costs, and
``benchmark`` is ``gpupy.benchmark``. Invariant: nothing here is imported by ``import gpupy``, and nothing
needs more than NumPy.
"""
