"""Memory that is refused: MemoryError in NumPy's words, every value kept, and the next operation works."""

import pickle
import sys

import apart
import numpy
import pytest

import gpupy
from gpupy._gpupy import _fail_allocation

# The start of each program.
GIVEN = {
    "few": numpy.linspace(-1, 1, 200, dtype=numpy.float32),
    "many": numpy.sin(numpy.arange(40_000, dtype=numpy.float32)),
    "matrix": numpy.cos(numpy.arange(2400, dtype=numpy.float32)).reshape(40, 60),
    "whole": numpy.arange(3000, dtype=numpy.int32) % 97,
    "index": numpy.arange(500, dtype=numpy.int32) * 7 % 200,
}


def written(np, g):
    x = g.many.copy()
    x[100:9000] *= 2
    x[::3] = 1.5
    x[g.index] = g.index.astype(np.float32)
    return x


PROGRAMS = {
    "few": lambda np, g: g.few + g.few * 2,
    "chain": lambda np, g: (g.many * 2 + g.many[::-1]) * g.many,
    "reduced": lambda np, g: [g.many.sum(), g.matrix.max(axis=0), g.matrix.T.mean(axis=1)],
    # Where NumPy scans and sorts, its results are in memory of its own.
    "scanned": lambda np, g: np.cumsum(g.many) * 2,
    "sorted": lambda np, g: [np.sort(g.many) + 1, np.argsort(g.whole, kind="stable") + 1],
    "product": lambda np, g: g.matrix @ g.matrix.T,
    "joined": lambda np, g: np.concatenate([g.few, g.many, g.few * 2]),
    "picked": lambda np, g: [g.few[g.index], g.many[g.index * 3], g.few[[1, 2, 3] * 50]],
    "masked": lambda np, g: [g.many[g.many > 0.5], np.where(g.few > 0, g.few, 0)],
    "written": written,
    "cast": lambda np, g: [g.many.astype(np.int32), g.whole.astype(np.float32)],
    "repeated": lambda np, g: [np.repeat(g.few, 7), np.tile(g.whole, 3)],
    "constant": lambda np, g: [np.full((300, 50), 2.5, np.float32), np.ones(60_000, np.float32).sum()],
    "copied": lambda np, g: [g.matrix.T.copy(), g.many[::-2].copy(), numpy.asarray(g.many * 1)],
    "taken in": lambda np, g: np.array(GIVEN["many"]) + 1,
    "printed": lambda np, g: [repr(g.many + 1), str(g.matrix)],
    "pickled": lambda np, g: pickle.loads(pickle.dumps(g.many * 3)),
    "listed": lambda np, g: [np.array([float(k) for k in range(900)]), np.array((g.few * 2).tolist())],
}


class Given:
    def __init__(self, np):
        self.__dict__.update({name: np.array(array) for name, array in GIVEN.items()})

    def elements(self):
        return [numpy.array(getattr(self, name)) for name in GIVEN]


def elements(result):
    if isinstance(result, list):
        return [elements(part) for part in result]
    return result if isinstance(result, str) else numpy.array(result)


def same(got, wanted):
    if isinstance(wanted, list):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    if isinstance(wanted, str):
        return got == wanted
    return got.dtype == wanted.dtype and numpy.array_equal(got, wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_whichever_allocation_is_refused_nothing_is_lost(driver, name):
    program = PROGRAMS[name]
    given = Given(gpupy)
    before, wanted = given.elements(), elements(program(gpupy, given))
    n, left = 0, 0
    while not left:
        n += 1
        given = Given(gpupy)
        gpupy._gpupy.trim()
        _fail_allocation(n)
        try:
            got = elements(program(gpupy, given))
        except MemoryError as error:
            got = None
            left = _fail_allocation(0)
            assert not left, f"allocation {n} was granted, but: {error}"
            assert str(error).startswith("Unable to allocate "), str(error)
        left = _fail_allocation(0) if got is not None else 0
        assert got is None or same(got, wanted), f"allocation {n}"
        assert same(given.elements(), before), f"allocation {n}: what was there"
        assert same(elements(program(gpupy, given)), wanted), f"allocation {n}: the next time"
    assert n > 1, "the program asks for no memory"


HUGE = {
    "a sum of constants": "np.ones((10**5, 10**5)) + 1",
    "a constant": "np.full((10**6, 10**6), 2.5)",
    "repeated": "np.repeat(np.ones(10), 10**13)",
    "outer": "np.add.outer(np.arange(10**6), np.arange(10**6) * 0.5)",
    "a table": "np.zeros((10**7, 10**6), np.int8) + np.int8(3)",
}


@apart.on_each_driver
def test_what_no_machine_has_room_for_is_refused_in_numpys_words(name):
    program = f"""
        np, x = gpupy, gpupy.arange(1000.0) * 2
        for formula in {list(HUGE.values())!r}:
            try:
                words = "printed: " + repr(numpy.array(eval(formula)))[:20]
            except MemoryError as error:
                words = str(error)
            assert words.startswith("Unable to allocate ") and " for an array with shape (" in words, words
            assert float(x.sum()) == 999000.0, formula
            assert float((x + 1)[5]) == 11.0, formula
        try:
            repr(np.ones((10**5, 10**5)) + 1)
        except MemoryError as error:
            shape = "for an array with shape (100000, 100000) and data type float64"
            assert str(error) == "Unable to allocate 74.5 GiB " + shape, error
        """
    apart.run(program, name)


LIMITED = """
    import mmap, os, pickle, resource, sys, tempfile

    def space():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * mmap.PAGESIZE

    np = sys.modules[NAME]
    N = 1 << 21
    x = np.arange(float(N))
    flags, index = x % 3 == 0, np.arange(N) // 2
    file = tempfile.NamedTemporaryFile()
    file.write(bytes([1]) * (8 * N))
    file.flush()
    held = numpy.memmap(file, "i1", "r")
    numpy.asarray(x), numpy.asarray(flags), numpy.asarray(index)
    # Threads and kernels of each kind are there already.
    float((np.sort(x) + np.cumsum(x) * 2)[7]), numpy.asarray(x[flags]), numpy.asarray(x[index])
    if hasattr(np, "stats"):
        np._gpupy.trim()
    hold = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (space() + MORE, hold[1]))
    try:
        result = PROGRAM
        print("done")
        del result
    except MemoryError as error:
        known = str(error) == "" or "nable to allocate" in str(error)
        print("refused" if known else repr(error))
    resource.setrlimit(resource.RLIMIT_AS, hold)
    assert float(x[-1]) == N - 1 and float(x.sum()) == N * (N - 1) / 2
    assert int(flags.sum()) == (N + 2) // 3 and int(index[-1]) == (N - 1) // 2
    assert float((x + 1)[5]) == 6.0
"""

# Each takes a multiple of the 16 MiB of `x`.
WHOLE = {
    "creation": "numpy.asarray(np.arange(8.0 * N))",
    "a constant": "numpy.asarray(np.full(8 * N, 2.5))",
    "a chain": "numpy.asarray(np.sqrt(np.concatenate([x, x, x, x]) * 2 + 1) - 3)",
    "reductions": "numpy.asarray((x.reshape(-1, 1) + np.arange(8.0)).max(axis=1)), float(x.sum())",
    "an outer product": "numpy.asarray(np.multiply.outer(x[:4096], x[:4096]))",
    "printing": "repr(x.reshape(-1, 1) + np.arange(8.0))",
    "repeating": "numpy.asarray(np.repeat(x, 8))",
    "joining": "numpy.asarray(np.concatenate([x] * 8))",
    "sorting": "[numpy.asarray(np.sort(x[::-1] + k)) for k in range(8)]",
    "positions": "[numpy.asarray(np.argsort(-x + k)) for k in range(8)]",
    "products": "numpy.asarray(x[:8192].reshape(8192, 1) @ x[:8192].reshape(1, 8192))",
    "index arrays": "[numpy.asarray(x[index + k % 2]) for k in range(8)]",
    "masks": "[numpy.asarray(x[flags]) for k in range(24)]",
    "casts": "[numpy.asarray(x.astype(np.complex128)) for k in range(4)]",
    "memory of a file": "numpy.asarray(np.asarray(held) * np.int64(2))",
    "copies": "[numpy.asarray(x.copy() + k) for k in range(8)]",
    "pickling": "[pickle.dumps(x + k) for k in range(8)]",
    "scans": "[numpy.asarray(np.cumsum(x + k)) for k in range(8)]",
}


@pytest.mark.skipif("cpu" not in apart.STARTING, reason="the driver on host memory does not start")
@pytest.mark.parametrize("case", WHOLE)
def test_a_program_that_needs_more_than_it_may_have_is_refused_as_numpy_refuses_it(case):
    program = LIMITED.replace("PROGRAM", WHOLE[case])
    for more in (24 << 20, 70 << 20):
        outcomes = {}
        for library in ("numpy", "gpupy"):
            code = program.replace("NAME", repr(library)).replace("MORE", str(more))
            (outcomes[library],) = apart.run(code, "cpu", GPUPY_THREADS="1")
        assert outcomes["numpy"] == "refused", "the limit is too wide"
        # Lazy operations may need less.
        assert outcomes["gpupy"] in ("refused", "done")


@pytest.mark.skipif(sys.platform != "linux", reason="the program asks Linux for its size")
@pytest.mark.parametrize("placement", ["strict", "auto"])
@pytest.mark.parametrize("name", [name for name in apart.STARTING if name not in ("cpu", "soft")])
def test_what_a_device_has_no_room_for_is_refused_each_time_that_it_is_asked_for(name, placement):
    # Some drivers of GPUs hear of it later, when what was launched is waited for.
    program = """
    import resource
    np = gpupy
    (np.ones(10) + 1).tolist()
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (held + (300 << 20), most))
    kept = []
    for k in range(6):
        kept.append(np.arange(60_000_000, dtype="f4") * 2 + k)
        try:
            np.evaluate(kept[-1])
            np.evaluate(kept[-1][::2] + kept[-1][1::2])
        except MemoryError as error:
            # A device's words, or NumPy's.
            print("refused" if "gpupy.use()" in str(error) or "nable to alloc" in str(error) else error)
    libraries = {each: each in open("/proc/self/maps").read() for each in ("libEGL", "libvulkan")}
    print(*sorted(each for each in libraries if libraries[each]))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    kept.clear()
    print((np.ones(5) + 1).sum())
    """
    quiet = "import warnings; warnings.simplefilter('ignore')\n"
    # No other driver is opened, whose libraries need room, and end the process without it.
    *refused, libraries, after = apart.run(program, name, setup=quiet, GPUPY_PLACEMENT=placement)
    assert set(refused) == {"refused"} and after == "10.0"
    assert libraries == ("libEGL" if name == "gl" else "libvulkan")


# More elements than there is memory for, of which all of these need few at a time.
PIECES = {
    "an element": "float(z[5, 7]) == 2",
    "a row": "z[7].tolist() == [2] * N",
    "a sum": "float(z.sum()) == 2 * N * N",
    "sums of rows": "z.sum(1).tolist() == [2 * N] * N",
    "the place of the greatest": "int(z.argmax()) == 0",
    "a deviation": "float(z.std()) == 0",
    "the product with a vector": "(z @ v).tolist() == [2 * N] * N",
    "the product of a vector": "(v @ z).tolist() == [2 * N] * N",
    "dot": "np.dot(z, v)[3] == 2 * N",
    "a norm": "float(np.linalg.norm(z)) == 2 * N",
    "a constant by a vector": "(np.ones((N, N)) @ v)[5] == N",
    "numbers that are put": "(np.put(z, [3, N], 9), z[:2, :4].tolist())[1] == [[2, 2, 2, 9], [9, 2, 2, 2]]",
    "a written element": "(z.__setitem__((0, 3), 9), z[0, :5].tolist())[1] == [2, 2, 2, 9, 2]",
}
# All elements are needed at once: the message says how many bytes.
ALL_AT_ONCE = {
    "sorted": "np.sort(z, axis=1)[0, 0]",
    "exported": "numpy.asarray(z)",
    "a list": "z.tolist()",
    "bytes": "z.view('u1')[3, :16].tolist()",
}


@pytest.mark.skipif(sys.platform != "linux", reason="the program asks Linux for its size")
def test_what_is_larger_than_memory_is_read_in_pieces_or_refused_with_its_size():
    program = """
    import resource
    np, N = gpupy, 20_000
    v = np.ones(N)
    ((np.ones((300, 300)) + 1) @ np.ones(300))[0], np.linalg.norm(np.ones((300, 300)) + 1)
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (held + (2 << 30), most))
    for name, what in PIECES.items():
        z = np.ones((N, N)) + 1
        assert eval(what), name
    for name, what in ALL_AT_ONCE.items():
        z = np.ones((N, N)) + 1
        try:
            eval(what)
        except MemoryError as error:
            assert "2.98 GiB" in str(error), (name, error)
        else:
            raise AssertionError(name)
    print("done")
    """
    given = f"PIECES = {PIECES!r}\nALL_AT_ONCE = {ALL_AT_ONCE!r}\n"
    assert apart.run(program, "cpu", setup=given) == ["done"]
