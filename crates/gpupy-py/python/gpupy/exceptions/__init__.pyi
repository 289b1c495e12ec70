# Written by stubs/write.py; do not edit.
from numpy.exceptions import *
from numpy.exceptions import RankWarning as RankWarning
