# Written by stubs/write.py; do not edit.
from . import char as char
from . import ctypeslib as ctypeslib
from . import dtypes as dtypes
from . import emath as emath
from . import exceptions as exceptions
from . import fft as fft
from . import lib as lib
from . import linalg as linalg
from . import ma as ma
from . import polynomial as polynomial
from . import random as random
from . import rec as rec
from . import strings as strings
from . import testing as testing
from . import typing as typing
from ._program.drivers import info as info
