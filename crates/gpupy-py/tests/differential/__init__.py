"""Random programs on NumPy and on gpupy, side by side.

A program is a list of Python statements. ``draft.py`` draws one, running it on NumPy alone to know shapes
and dtypes; ``templates.py`` has the statements that it draws from, ``operands.py``, ``literals.py`` and
``keys.py`` what stands in their gaps. ``replay.py`` runs it on both and compares (``closeness.py``);
``script.py`` prints it. Not here: tests of one promise each (the folder above).
"""
