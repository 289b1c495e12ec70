"""A program that runs with gpupy, and what it asks of the whole.

``drivers.py`` has the choice of a driver and the counters; ``imports.py`` replaces NumPy in a program's
imports, ``script.py`` in its source, where ``rewritten.py`` has
what is put there besides; ``running.py`` runs modules, and ``module_loops.py`` has the loops of those
whose source stays as it is compiled. ``texts.py`` keeps their texts, of which
``loop_report.py`` tells the loops. ``versions.py`` has what a report needs, and ``disk_cache.py`` the
command for what drivers keep on disk.

Not here: blocks of a program (``_scopes``).
"""
