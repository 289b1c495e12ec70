"""A program of the names that gpupy has beside NumPy's."""

import warnings
from typing import assert_type

import gpupy
from gpupy import DriverError, Explanation, FallbackError, FallbackWarning


def told(explanation: Explanation) -> int:
    return len(explanation.text) + len(explanation.svg)


def main() -> None:
    for driver in gpupy.drivers():
        assert_type(driver["devices"], list[str])
        assert_type(driver["round_trip"], float | None)
        assert_type(driver["findings"], dict[str, str])
        if driver["starts"] and driver["upload"] is not None and driver["download"] is not None:
            print(driver["name"], driver["upload"] + driver["download"], driver["limits"])
    try:
        gpupy.use(gpupy.current_driver())
    except DriverError as error:
        print(error)
    x = gpupy.arange(10, dtype=gpupy.gpufloat32)
    with gpupy.driver("soft"), gpupy.fallback("allow"):
        gpupy.evaluate(x + 1, x * 2, x.sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        gpupy.fallback("warn")
        gpupy.fallback("allow")
    try:
        with gpupy.fallback("error"):
            gpupy.partition(x, 1)
    except FallbackError as error:
        print(error)
    print(told(gpupy.explain(x + 1)), told(gpupy.explain(x, x * 2)))
    stats = gpupy.stats()
    assert_type(stats.launches, int)
    assert_type(stats.fallback_sites, list[tuple[str, str, int, int]])
    print(stats.fallbacks, stats["bytes_uploaded"], stats.drivers[gpupy.current_driver()]["launches"])
    gpupy.reset_stats()
    gpupy.trim()
    timings = gpupy.benchmark({"sine": gpupy.sin, "cosine": gpupy.cos}, x, rounds=3)
    assert_type(timings[0].median, float)
    assert_type([timing.name for timing in timings], list[str])
    gpupy.show_versions()
    assert_type(gpupy.info(), str)
    assert isinstance(x, gpupy.ndarray) and issubclass(gpupy.scalar, object)
    assert isinstance(gpupy.sin, gpupy.ufunc)


if __name__ == "__main__":
    main()
