"""Transforms of NumPy's submodules, as library operations of drivers: Fourier's (``fourier.py``)."""
