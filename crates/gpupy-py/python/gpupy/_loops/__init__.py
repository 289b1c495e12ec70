"""Loops of programs that may be compiled where they stand, by their text.

``constructs.py`` is the table of what a loop may hold and why one is refused, ``callables.py`` has the
functions that it may call; ``nests.py`` is what is found, plain data; ``bindings.py`` says what names mean
in a text, ``loop_facts.py`` collects what a loop does, ``loop_finder.py`` goes through the statements. Each
imports only those before it.

``sites.py`` and ``second_copy.py`` are for what runs loops: a site in front of each, and a copy of it that
goes on where that leaves. ``lowering.py`` makes plain data of a nest for the compiler, ``iterations.py`` of
what its loops go over; ``entries.py`` is what a site asks, ``running.py`` puts both into a module,
``readers.py`` takes them out for those that read code.

Not here: the report to the program (``_program/loop_report.py``), functions that are compiled whole
(``_kernel``), the compiler (the crate ``gpupy-loops``).
"""
