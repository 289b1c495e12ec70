# Written by stubs/write.py; do not edit.
from numpy.ma.extras import *
