"""The programs as shaders by hand: `gpupy-shaders accelerator API`, a process that is asked for runs.

A run is timed there, from its begin until element 0 of the result has been read; the operands lie on the
device.
"""

import pathlib
import subprocess

import numpy

# What has shaders by hand, and where the result is in what they write.
_RESULTS = {
    "life": lambda written, size: written.reshape(size, size),
    "demosaic": lambda written, size: numpy.moveaxis(written.reshape(3, size, size), 0, -1),
    "convolve": lambda written, size: written.reshape(size, size),
    "corners": lambda written, size: written.reshape(size, size),
    "rotate": lambda written, size: written.reshape(size, size, 4)[..., :3],
    "stereo": lambda written, size: written.reshape(2, size, size)[0],
}


class Shaders:
    """The process of one API."""

    def __init__(self, command, api):
        pipe = subprocess.PIPE
        # It ends with its input, which ends with this process.
        self._process = subprocess.Popen([command, "accelerator", api], stdin=pipe, stdout=pipe, text=True)

    def version(self, name, given, folder):
        """The program, prepared, or nothing if it has no shaders by hand."""
        if name not in _RESULTS:
            return None
        folder = pathlib.Path(folder) / name
        folder.mkdir()
        for number, array in enumerate(given):
            # A pixel in colour is a texel of four numbers.
            texels = array if array.ndim == 2 else numpy.dstack([array, numpy.zeros_like(array[..., :1])])
            texels.tofile(folder / f"{number}.f32")
        size = given[0].shape[0]
        first = float(self._ask("prepare", name, size, folder))
        return Prepared(
            self._ask, first, folder / "result.f32", lambda written: _RESULTS[name](written, size)
        )

    def _ask(self, *words):
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise RuntimeError(f"shaders by hand: {' '.join(map(str, words))}: {answer or 'they ended'}")
        return answer


class Prepared:
    """A program that is compiled, and whose operands are on the device."""

    def __init__(self, ask, first, file, shaped):
        self._ask, self.first, self._file, self._shaped = ask, first, file, shaped

    def seconds(self, repeats):
        """The seconds of a run, by the clock and of processors."""
        return tuple(map(float, self._ask("run", repeats).split()))

    def value(self):
        """The result."""
        self._ask("result", self._file)
        return self._shaped(numpy.fromfile(self._file, dtype=numpy.float32))

    def launches(self):
        """Draws or dispatches of a run."""
        return int(self._ask("launches"))
