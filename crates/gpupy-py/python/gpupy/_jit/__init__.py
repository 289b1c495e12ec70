"""Functions that are traced once, and repeated without Python.

``jit.py`` has the decorator and its statistics; ``compiled_loops.py`` compiles loops that are not traced;
``recording.py`` runs a function while its operations on
arrays are recorded; ``watch.py`` sees its calls; ``reach.py`` looks at each object that it comes upon, whose
reads become guards; ``reads.py`` finds reads and stores in code; ``pure.py`` lists what may be called and
read; ``forms.py`` describes arguments and results; ``selection.py`` has masked selections. Each imports only
those behind it.

Not here: recording arrays' operations, and repeating them (``gpupy._gpupy.jit``,
``crates/gpupy-py/src/jit``).
"""
