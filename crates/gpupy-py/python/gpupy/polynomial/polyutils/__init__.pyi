# Written by stubs/write.py; do not edit.
from numpy.polynomial.polyutils import *
