"""Functions of order and of counts: searches in sorted arrays, partial orders and quantiles, histograms.

``searching.py`` finds places in sorted rows, ``ranking.py`` partial orders, ``counting.py`` how often values
are there.

Not here: whole sorts (``_compute/sorting.py``).
"""
