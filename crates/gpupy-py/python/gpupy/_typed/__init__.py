"""Containers of one dtype: lists of items of any lengths, vectors and matrices of a few components.

``typed_list.py`` has ``TypedList``, with ``items.py`` (how items come in), ``exchange.py`` (other libraries)
and ``item_sums.py``; ``vector.py`` has vectors and matrices.

Not here: functions of vectors (``gpupy.vectors``).
"""
