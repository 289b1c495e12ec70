# Written by stubs/write.py; do not edit.
from numpy.lib.scimath import *
