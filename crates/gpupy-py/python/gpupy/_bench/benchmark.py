"""``gpupy.benchmark``: how long calls take, until their results are computed.

Owns ``benchmark``, ``Benchmark`` and ``Timing``. Invariants: a time ends with the results, and the arrays
that the call wrote, computed on their driver; no result lives into the next call, where equal expressions
would be answered from it; functions that are compared run in turns, each after an untimed call of its own.
Not here: the programs of ``python -m gpupy bench`` (``timing.py``).
"""

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import gpupy

from . import table

# A round of a short function is so long that the clock's own time does not count.
LEAST = 2e-3  # seconds
# Compilers, caches and clocks of processors settle within so many calls and so much time.
WARM_CALLS = 3
WARM = 0.1  # seconds
# Fewer rounds have no spread.
FEWEST = 3


@dataclasses.dataclass(frozen=True)
class Timing:
    """The times of one function, in seconds a call.

    ``first`` is the first call, which compiles. ``host`` and ``device`` have a number for each round: the
    time until the call came back, and the time from then until everything was computed. A function that reads
    a value waits for it, so that this counts as the host's. On the driver ``cpu`` the device is the
    processor.
    """

    name: str
    first: float
    host: tuple[float, ...]
    device: tuple[float, ...]
    repeats: int

    @property
    def seconds(self) -> tuple[float, ...]:
        """The whole time of a call in each round."""
        return tuple(host + device for host, device in zip(self.host, self.device, strict=True))

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The spread: a quarter of the rounds took less than the first, a quarter more than the second."""
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return low, high


class Benchmark(tuple[Timing, ...]):
    """The timings of some functions; as text a table, with ratios to the first."""

    __slots__ = ()

    def __repr__(self) -> str:
        heads = ("function", "first", "median", "quartiles", "host", "device", "rounds", "ratio")
        rows = [
            (
                timing.name,
                table.duration(timing.first),
                table.duration(timing.median),
                " to ".join(table.duration(quartile) for quartile in timing.quartiles),
                table.duration(statistics.median(timing.host)),
                table.duration(statistics.median(timing.device)),
                f"{len(timing.host)} × {timing.repeats}",
                table.three(timing.median / self[0].median),
            )
            for timing in self
        ]
        return "\n".join(table.aligned(heads, rows))


def benchmark(
    function: Callable[..., Any] | Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    *arguments: Any,
    rounds: int = 15,
    seconds: float = 2.0,
) -> Benchmark:
    """Times calls of a function, or of several in turns, each until its results are computed.

    The arguments are computed first. Each function is called until it is warm, and then in rounds; short ones
    several times a round. Results are computed on their driver, and not copied to host memory; arrays that
    are arguments, and which the function writes, are computed too.

    Parameters
    ----------
    function
        A function, an iterable of them, or a mapping from names to them. They may be NumPy's: nothing is left
        to compute after their calls.
    arguments
        The arguments of every call, of any shapes and dtypes.
    rounds
        At most so many rounds, at least 3.
    seconds
        After so much time for each function no round begins, but the first 3.

    Returns
    -------
    Benchmark
        A tuple with a ``Timing`` for each function: ``median``, ``quartiles``, ``first``, and in each round
        ``host``, the seconds until the call came back, and ``device``, those from then until all was
        computed.

    Raises
    ------
    TypeError
        There is no function, or one that cannot be called.
    ValueError
        ``rounds`` is less than 3.
    """
    if rounds < FEWEST:
        raise ValueError(f"rounds is {rounds}, and at least {FEWEST}")
    calls = [_Call(name, each, arguments) for name, each in _named(function)]
    gpupy.evaluate(*_arrays(arguments))
    for call in calls:
        call.warm_up()
    end = time.perf_counter() + seconds * len(calls)
    for number in range(rounds):
        for call in calls:
            call.round()
        if number + 1 >= FEWEST and time.perf_counter() > end:
            break
    return Benchmark(call.timing() for call in calls)


class _Call:
    """A function with its arguments and what its rounds took."""

    def __init__(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._name, self._function, self._arguments = name, function, arguments
        self._written = tuple(_arrays(arguments))
        self._first = 0.0
        self._repeats = 1
        self._rounds: list[tuple[float, float]] = []

    def warm_up(self) -> None:
        start = time.perf_counter()
        self._first = sum(self._once())
        took = [self._first]
        while len(took) < WARM_CALLS or time.perf_counter() - start < WARM:
            took.append(sum(self._once()))
        self._repeats = max(1, round(LEAST / min(took)))

    def round(self) -> None:
        self._once()
        times = [self._once() for _ in range(self._repeats)]
        host, device = (sum(part) / self._repeats for part in zip(*times, strict=True))
        self._rounds.append((host, device))

    def timing(self) -> Timing:
        host, device = zip(*self._rounds, strict=True)
        return Timing(self._name, self._first, host, device, self._repeats)

    def _once(self) -> tuple[float, float]:
        """The seconds until a call came back, and from then until all was computed."""
        start = time.perf_counter()
        result = self._function(*self._arguments)
        back = time.perf_counter()
        pending = (*_arrays(result), *self._written)
        begun = time.perf_counter()
        gpupy.evaluate(*pending)
        return back - start, time.perf_counter() - begun


def _named(function: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions with their names."""
    if isinstance(function, Mapping):
        pairs = [(str(name), each) for name, each in function.items()]
    else:
        functions = [function] if callable(function) else list(function)
        pairs = [(getattr(each, "__name__", type(each).__name__), each) for each in functions]
    if not pairs:
        raise TypeError("there is no function to time")
    for name, each in pairs:
        if not callable(each):
            raise TypeError(f"`{name}` is no function")
        yield name, each


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays and numbers of gpupy's in a value: itself, or items of containers."""
    if isinstance(value, gpupy.ndarray | gpupy.scalar):
        yield value
        if isinstance(value, gpupy.ma.MaskedArray):
            yield value.mask
    elif isinstance(value, gpupy.TypedList):
        yield value.data
    elif isinstance(value, _VECTORS):
        yield value.array
    elif isinstance(value, Mapping):
        yield from _arrays(tuple(value.values()))
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _arrays(item)


_VECTORS = (gpupy.vec2, gpupy.vec3, gpupy.vec4, gpupy.mat2, gpupy.mat3, gpupy.mat4)
