"""What a process has once, and what knows nothing of arrays.

``interpreter.py`` refuses other interpreters than the main one, before anything else is imported;
``locks.py`` has locks that forks wait for, ``errstate.py`` NumPy's handling of errors of arithmetic,
``variables.py`` the environment variables, ``files.py`` what is certainly a file; ``old_names.py`` finds
what earlier pickles name, and ``reasons.py`` why a function is NumPy's.

Not here: the choice of a driver, and counters (``_program``).
"""
