# Written by stubs/write.py; do not edit.
from numpy.lib.array_utils import *
