"""A renderer for tests: an OpenGL context without a window, by EGL alone, and the few calls that they need.

Not here: what is tested with it (``test_lend.py``).
"""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_void_p

import numpy as np

_SURFACELESS, _OPENGL_API, _NONE = 0x31DD, 0x30A2, 0x3038
_TEXTURE, _FRAMEBUFFER, _COLOR, _BUFFER = 0x0DE1, 0x8D40, 0x8CE0, 0x8892
# By dtype: what stands in a texture's texels, format and type of transfers.
FORMATS = {
    "float32": (0x8814, 0x1908, 0x1406),
    "int32": (0x8D82, 0x8D99, 0x1404),
    "uint32": (0x8D70, 0x8D99, 0x1405),
    "int16": (0x8D88, 0x8D99, 0x1402),
    "uint16": (0x8D76, 0x8D99, 0x1403),
    "float16": (0x8D76, 0x8D99, 0x1403),
    "int8": (0x8D8E, 0x8D99, 0x1400),
    "uint8": (0x8D7C, 0x8D99, 0x1401),
    "bool": (0x8D7C, 0x8D99, 0x1401),
}


class Renderer:
    """A current context.

    Raises
    ------
    OSError
        There is none to be had here.
    """

    def __init__(self):
        egl = self._egl = ctypes.CDLL("libEGL.so.1")
        for name in ("eglGetPlatformDisplay", "eglCreateContext", "eglGetProcAddress"):
            getattr(egl, name).restype = c_void_p
        self._display = c_void_p(egl.eglGetPlatformDisplay(_SURFACELESS, None, None))
        if not egl.eglInitialize(self._display, None, None) or not egl.eglBindAPI(_OPENGL_API):
            raise OSError("EGL has no display without a window")
        # The version 3.3 of the core profile.
        wanted = (c_int * 7)(0x3098, 3, 0x30FB, 3, 0x30FD, 1, _NONE)
        self._context = c_void_p(egl.eglCreateContext(self._display, None, None, wanted))
        if not self._context:
            raise OSError("EGL has no context without a configuration")
        self.make_current()
        self._framebuffer = c_uint()
        self.gl("glGenFramebuffers", c_int(1), byref(self._framebuffer))
        self.gl("glBindFramebuffer", c_uint(_FRAMEBUFFER), self._framebuffer)
        self.gl("glPixelStorei", c_uint(0x0D05), c_int(1))
        self.gl("glPixelStorei", c_uint(0x0CF5), c_int(1))

    def make_current(self, is_current=True):
        """Makes the context current in this thread, or none."""
        context = self._context if is_current else None
        assert self._egl.eglMakeCurrent(self._display, None, None, context)

    def close(self):
        """Destroys the context."""
        self.make_current(False)
        assert self._egl.eglDestroyContext(self._display, self._context)

    def gl(self, name, *args):
        """Calls a function of OpenGL."""
        address = self._egl.eglGetProcAddress(c_char_p(name.encode()))
        kinds = [type(arg) if hasattr(type(arg), "from_param") else c_void_p for arg in args]
        ctypes.CFUNCTYPE(None, *kinds)(address)(*args)

    def _attach(self, texture):
        args = c_uint(_FRAMEBUFFER), c_uint(_COLOR), c_uint(_TEXTURE), c_uint(texture), c_int(0)
        self.gl("glFramebufferTexture2D", *args)

    def read(self, lent):
        """The elements of a lent block."""
        size = lent.dtype.itemsize
        if lent.target == _BUFFER:
            out = ctypes.create_string_buffer(lent.size * size)
            self.gl("glBindBuffer", c_uint(_BUFFER), c_uint(lent.id))
            self.gl("glGetBufferSubData", c_uint(_BUFFER), c_size_t(0), c_size_t(len(out)), out)
            return np.frombuffer(out.raw, lent.dtype)
        inside, form, kind = FORMATS[str(lent.dtype)]
        assert lent.target == _TEXTURE and lent.format == inside
        out = ctypes.create_string_buffer(lent.width * lent.height * 4 * size)
        self._attach(lent.id)
        area = c_int(0), c_int(0), c_int(lent.width), c_int(lent.height)
        self.gl("glReadPixels", *area, c_uint(form), c_uint(kind), out)
        rows = np.frombuffer(out.raw, lent.dtype).reshape(lent.height, lent.width * 4)
        return rows[:, : lent.row].reshape(-1)[: lent.size]

    def fill(self, lent, number):
        """Queues that all elements of a float32 texture become a number, and waits for nothing."""
        self._attach(lent.id)
        self.gl("glClearBufferfv", c_uint(0x1800), c_int(0), (c_float * 4)(*[number] * 4))

    def write(self, lent, values):
        """Writes the elements of a buffer."""
        data = values.tobytes()
        self.gl("glBindBuffer", c_uint(_BUFFER), c_uint(lent.id))
        self.gl("glBufferSubData", c_uint(_BUFFER), c_size_t(0), c_size_t(len(data)), c_char_p(data))
