"""The duty of each file of tests, and the share of the tests that runs on a GPU driver.

A test of the *front end* (views, writes, dtypes, layout, errors, libraries) says hardly anything of one
driver that conformance, counts and random programs do not. It runs on the drivers that need no GPU, and a
tenth of the tests of such files runs on each other driver: those that a hash of the test's name and the
commit chooses, so that a commit has one share, and the next commits have others. All other tests run on every
driver.

A test that goes through many cases by itself takes the fixture ``some``, which gives a part of them on GPU
drivers, chosen likewise.

Owns the two lists, the option ``--share`` and the line at the end that says which share ran; ``conftest.py``
imports the hooks. Invariants: a test that is named, by its name, its file, ``-k``, ``-m`` or ``--lf``, is
never left out; a file with tests on a GPU driver that is in neither list fails. Not here: tests that
want a newer NumPy (``since.py``).
"""

import hashlib
import pathlib
import random
import subprocess

import pytest

import gpupy

# Files whose tests are of a driver or of the plans for it: kernels, launches, bytes, memory, random programs.
EVERY_DRIVER = frozenset(
    """
    test_accelerator_counts test_again test_bench test_boundaries test_components test_counts
    test_deterministic test_differential test_doors test_drivers test_equals test_exit test_explain
    test_extents test_flush
    test_general_reductions test_generators test_host_draws test_host_memory test_interrupt test_jit
    test_kernel_names test_kernel_points
    test_kernels test_known_flushes test_launches test_lend test_long test_loops test_memory test_parted
    test_parts test_processes test_programs test_random_jit test_random_kernels test_random_programs
    test_refusals test_rehearsals test_rewrites test_rows test_saved_files test_small_axes test_thesis
    test_threads test_windows test_written_elements
    """.split()
)
# Files whose tests are of the front end, or of values that the conformance suite has by dtype on each driver;
# and such functions of the files above.
FRONT_END = frozenset(
    """
    test_accelerator test_array_api test_bfloat16 test_bitcast_views test_calls_as_numpys
    test_composed_ufuncs test_compositions test_counting test_creation
    test_dask_workers test_dtypes test_examples test_exports test_exports_written test_fallback test_fft
    test_functions_of_others test_identities test_index_arrays test_interop test_joining test_linear
    test_masked test_masked_functions test_masked_writes test_moves test_neighbours test_numpys_memory
    test_objects test_one_step test_operators test_outside test_pickles test_rebound test_record_exports
    test_ranking test_reduce test_resize test_scalar_types test_scalars test_scopes_memory test_searching
    test_small_matrices test_sorting
    test_subclasses test_typed_list test_vectors test_views test_views_of_functions test_warnings
    test_unbuffered test_writes_within test_writing
    test_accelerator_counts::test_motion_of_the_articles_size_takes_hardly_more_launches
    test_components::test_components_are_numpys
    test_parted::test_axes_of_one_element_are_axes
    test_parted::test_the_same_at_other_extents
    test_small_axes::test_components_of_whole_fours_of_points_are_numpys
    test_small_axes::test_cross_products_are_numpys
    test_small_axes::test_stacks_of_any_number_of_values_are_numpys
    test_small_axes::test_stacks_of_small_matrices_are_numpys
    """.split()
)
# A share is one test of so many.
PARTS = 10
# The drivers that need no GPU, and take little time.
WITHOUT_GPU = frozenset(["cpu", "soft"])

_GPU_DRIVERS = frozenset(row["name"] for row in gpupy.drivers()) - WITHOUT_GPU
_ROOT = pathlib.Path(__file__).resolve().parents[3]
_OPTION = "--share"
_ALL = "all"


class _Counts:
    """How many of the front end's tests a run has on GPU drivers, and how many it leaves out."""

    def __init__(self):
        self.chosen = self.left_out = 0


_COUNTS = pytest.StashKey[_Counts]()
_SHARE = pytest.StashKey[str]()
_NAMED = pytest.StashKey["_Named"]()


def is_in_share(name, commit):
    """True if the test of this name is in the share of this commit."""
    found = hashlib.blake2b(f"{commit} {name}".encode(), digest_size=8).digest()
    return int.from_bytes(found, "big") % PARTS == 0


def _is_on_gpu(parameters):
    """True if a parameter of a test is a GPU driver: its name, or its name or row in front of others."""
    for value in parameters:
        first = value[0] if isinstance(value, (tuple, list)) and value else value
        name = first.get("name") if isinstance(first, dict) else first
        if isinstance(name, str) and name in _GPU_DRIVERS:
            return True
    return False


def _commit():
    """The commit that is checked out; the same word always where there is none."""
    head = ["git", "-C", str(_ROOT), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(head, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def pytest_addoption(parser):
    parser.addoption(
        _OPTION,
        metavar="COMMIT",
        help=f"the commit whose share of the front end's tests runs on GPU drivers (HEAD), or `{_ALL}`",
    )


def pytest_configure(config):
    # Where pytest found this file late, there is no such option.
    share = config.getoption(_OPTION, None) or _commit()
    # Processes that pytest-xdist starts are given the options.
    config.option.share = config.stash[_SHARE] = share
    config.stash[_COUNTS] = _Counts()


def leave_out(config, items):
    """Removes the tests that this run leaves out; those of a file whose duty is not stated fail."""
    share, counts = config.stash[_SHARE], config.stash[_COUNTS]
    config.stash[_NAMED] = _Named(config)
    kept, out = [], []
    for item in items:
        if _runs_whole(item) or not _is_of_front_end(item):
            kept.append(item)
            continue
        chosen = is_in_share(item.nodeid, share)
        (kept if chosen else out).append(item)
        counts.chosen += chosen
    counts.left_out = len(out)
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = kept


def some(item, cases, parts=PARTS):
    """The cases that a test goes through: all, or where a share runs one of so many, by the commit."""
    cases = list(cases)
    if _runs_whole(item):
        return cases
    chance = random.Random(f"{item.config.stash[_SHARE]} {item.nodeid}")
    return [cases[place] for place in sorted(chance.sample(range(len(cases)), -(-len(cases) // parts)))]


def _runs_whole(item):
    """True if a test needs no GPU driver, or is named, or all tests run."""
    if not hasattr(item, "callspec") or not _is_on_gpu(item.callspec.params.values()):
        return True
    return item.config.stash[_SHARE] == _ALL or item in item.config.stash[_NAMED]


def _is_of_front_end(item):
    file = item.path.stem
    if file not in EVERY_DRIVER and file not in FRONT_END:
        here = pathlib.Path(__file__).resolve().relative_to(_ROOT)
        item.runtest = lambda: pytest.fail(
            f"`{item.path.name}` has tests on GPU drivers and states no duty: add `{file}` to `EVERY_DRIVER` "
            f"or to `FRONT_END` in `{here}`",
            pytrace=False,
        )
    return file in FRONT_END or f"{file}::{item.originalname}" in FRONT_END


class _Named:
    """The tests that a command line names."""

    def __init__(self, config):
        words = ("keyword", "markexpr", "lf", "failedfirst", "stepwise")
        self.all = any(getattr(config.option, word, False) for word in words)
        self.files, self.tests = set(), []
        for argument in config.args:
            file, separator, test = argument.partition("::")
            path = (config.invocation_params.dir / file).resolve()
            if separator:
                self.tests.append((path, test))
            else:
                self.files.add(path)

    def __contains__(self, item):
        if self.all or item.path in self.files:
            return True
        test = item.nodeid.partition("::")[2]
        return any(path == item.path and _is_of(test, name) for path, name in self.tests)


def _is_of(test, name):
    """True if a name is that of a test, of its function or of its class."""
    return test == name or test.startswith((f"{name}[", f"{name}::"))


def pytest_sessionfinish(session):
    # A process that pytest-xdist started tells the one that started it.
    if hasattr(session.config, "workeroutput"):
        counts = session.config.stash[_COUNTS]
        session.config.workeroutput["share"] = (counts.chosen, counts.left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    # All have collected the same tests.
    if told := getattr(node, "workeroutput", {}).get("share"):
        counts = node.config.stash[_COUNTS]
        counts.chosen, counts.left_out = told


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter, config):
    yield
    counts = config.stash[_COUNTS]
    if counts.left_out:
        of_all = f"{counts.chosen} of {counts.chosen + counts.left_out} tests of the front end"
        share = f"the share of commit {config.stash[_SHARE][:8]}"
        how = f"`{_OPTION}={_ALL}` or `cargo xtask test all` runs all"
        terminalreporter.write_line(f"{of_all} ran on GPU drivers, {share}; {how}")
