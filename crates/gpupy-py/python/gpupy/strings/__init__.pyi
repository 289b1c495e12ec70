# Written by stubs/write.py; do not edit.
from numpy.strings import *
