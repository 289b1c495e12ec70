"""A first program: nothing is computed until the last line asks for values.

Change the import to ``from numpy import *`` and the dtype to ``float32``, and it is a NumPy program.
"""

from gpupy import *

a = arange(8, dtype=gpufloat32)  # 0 to 7
b = arange(8, 16, dtype=gpufloat32)  # 8 to 15

c = 3.5
e1 = cos(a)
e2 = b + c
e3 = e1 * e2

print(e3)
