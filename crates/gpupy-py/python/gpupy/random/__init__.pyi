# Written by stubs/write.py; do not edit.
from numpy.random import *
