"""Arrays that lie outside of memory: in files, or where a reader gives them.

``arrays.py`` makes arrays whose tiles are read when they are computed, ``storing.py`` writes results tile
by tile, ``boxes.py`` cuts shapes, ``progress.py`` shows how far it is. Not here: what is read when (the
engine).
"""
