# Written by stubs/write.py; do not edit.
from numpy.polynomial.legendre import *
