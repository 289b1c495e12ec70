"""Blocks of a program whose NumPy is gpupy: ``with gpupy.accelerator():``.

``scope.py`` has the scope, ``shared_memory.py`` the arrays of gpupy that stand for views of one memory.

Not here: whole programs (``_program``).
"""
