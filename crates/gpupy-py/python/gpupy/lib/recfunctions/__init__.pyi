# Written by stubs/write.py; do not edit.
from numpy.lib.recfunctions import *
