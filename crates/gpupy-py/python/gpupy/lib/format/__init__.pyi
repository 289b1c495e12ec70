# Written by stubs/write.py; do not edit.
from numpy.lib.format import *
from numpy.lib.format import ARRAY_ALIGN as ARRAY_ALIGN
from numpy.lib.format import BUFFER_SIZE as BUFFER_SIZE
from numpy.lib.format import EXPECTED_KEYS as EXPECTED_KEYS
from numpy.lib.format import GROWTH_AXIS_MAX_DIGITS as GROWTH_AXIS_MAX_DIGITS
from numpy.lib.format import MAGIC_LEN as MAGIC_LEN
from numpy.lib.format import MAGIC_PREFIX as MAGIC_PREFIX
from numpy.lib.format import descr_to_dtype as descr_to_dtype
from numpy.lib.format import drop_metadata as drop_metadata
from numpy.lib.format import dtype_to_descr as dtype_to_descr
from numpy.lib.format import header_data_from_array_1_0 as header_data_from_array_1_0
from numpy.lib.format import isfileobj as isfileobj
from numpy.lib.format import magic as magic
from numpy.lib.format import open_memmap as open_memmap
from numpy.lib.format import read_array as read_array
from numpy.lib.format import read_array_header_1_0 as read_array_header_1_0
from numpy.lib.format import read_array_header_2_0 as read_array_header_2_0
from numpy.lib.format import read_magic as read_magic
from numpy.lib.format import write_array as write_array
from numpy.lib.format import write_array_header_1_0 as write_array_header_1_0
from numpy.lib.format import write_array_header_2_0 as write_array_header_2_0
