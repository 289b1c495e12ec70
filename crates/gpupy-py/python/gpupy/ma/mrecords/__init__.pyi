# Written by stubs/write.py; do not edit.
from numpy.ma.mrecords import *
