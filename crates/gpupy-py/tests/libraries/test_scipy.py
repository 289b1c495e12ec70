"""SciPy: its solvers, transforms, statistics, images and signals take arrays, and callbacks of arrays."""

import pytest
from steps import Steps, dispatched

step = Steps("scipy")


@step
def a_minimum(np, scipy):
    from scipy.optimize import minimize

    return minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(2)).x.round(4)


@step
def a_fitted_curve(np, scipy):
    from scipy.optimize import curve_fit

    x = np.linspace(0, 1, 20)
    return curve_fit(lambda x, a, b: a * x + b, x, 2 * x + 1)[0].round(6)


@step
def a_root(np, scipy):
    from scipy.optimize import brentq

    return round(brentq(lambda x: np.cos(x) - x, 0, 1), 9)


@step
def least_squares(np, scipy):
    from scipy.optimize import least_squares

    return least_squares(lambda p: p - np.array([1.0, 2.0]), np.zeros(2)).x.round(6)


@step
def an_integral(np, scipy):
    from scipy.integrate import quad

    return round(quad(lambda x: np.exp(-x), 0, 1)[0], 9)


@step
def an_integral_of_samples(np, scipy):
    from scipy.integrate import simpson

    return simpson(np.arange(5.0) ** 2, x=np.arange(5.0))


@step
def an_initial_value_problem(np, scipy):
    from scipy.integrate import solve_ivp

    return solve_ivp(lambda t, y: -y, (0, 1), np.array([1.0, 2.0]), t_eval=np.array([0.0, 1.0])).y


@step
def a_system_of_equations(np, scipy):
    from scipy import linalg

    return linalg.solve(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))


@step
def eigenvalues(np, scipy):
    from scipy import linalg

    return linalg.eigh(np.array([[2.0, 1.0], [1.0, 3.0]]))[0]


@step
def a_factorisation_that_overwrites(np, scipy):
    from scipy import linalg

    return linalg.lu_factor(np.array([[2.0, 1.0], [1.0, 3.0]]), overwrite_a=True)[0]


@step
def an_exponential_of_a_matrix(np, scipy):
    from scipy import linalg

    return linalg.expm(np.eye(2) * 0.5)


@step
def an_interpolation(np, scipy):
    from scipy.interpolate import CubicSpline

    return CubicSpline(np.arange(5.0), np.arange(5.0) ** 2)(np.array([1.5]))


@step
def an_interpolation_on_a_grid(np, scipy):
    from scipy.interpolate import RegularGridInterpolator

    grid = (np.arange(3.0), np.arange(4.0))
    return RegularGridInterpolator(grid, np.arange(12.0).reshape(3, 4))(np.array([[0.5, 1.5]]))


@step
def a_transform(np, scipy):
    from scipy import fft

    return fft.fft(np.arange(8.0)), fft.dct(np.arange(8.0))


@step
def a_filtered_image(np, scipy):
    from scipy import ndimage

    return ndimage.gaussian_filter(np.eye(5), 1.0)


@step
def labelled_regions(np, scipy):
    from scipy import ndimage

    found, count = ndimage.label(np.array([[1, 0, 1], [1, 0, 0]]))
    return found, count


@step
def an_output_of_a_filter(np, scipy):
    from scipy import ndimage

    out = np.zeros((5, 5))
    ndimage.uniform_filter(np.eye(5), 3, output=out)
    return out


@step
def distances_of_an_image(np, scipy):
    from scipy import ndimage

    return ndimage.distance_transform_edt(np.eye(4) == 0)


@step
def a_filtered_signal(np, scipy):
    from scipy import signal

    b, a = signal.butter(2, 0.2)
    return signal.lfilter(b, a, np.arange(10.0)), signal.filtfilt(b, a, np.arange(20.0))


@step
def peaks(np, scipy):
    from scipy import signal

    return signal.find_peaks(np.array([0.0, 2.0, 0.0, 3.0, 1.0]))[0]


@step
def a_convolution(np, scipy):
    from scipy import signal

    return signal.convolve(np.arange(5.0), np.ones(3), mode="same")


@step
def a_test_of_means(np, scipy):
    from scipy import stats

    found = stats.ttest_ind(np.arange(8.0), np.arange(8.0) * 1.5)
    return float(found.statistic), float(found.pvalue)


@step
def a_correlation(np, scipy):
    from scipy import stats

    return float(stats.pearsonr(np.arange(8.0), np.arange(8.0) ** 2).statistic)


@step
def a_density(np, scipy):
    from scipy import stats

    return stats.norm.pdf(np.linspace(-1, 1, 5)), stats.gaussian_kde(np.arange(5.0))(np.array([1.0]))


@step
def a_description(np, scipy):
    from scipy import stats

    found = stats.describe(np.arange(6.0))
    return int(found.nobs), float(found.mean), float(found.variance)


@step
def a_sparse_matrix(np, scipy):
    from scipy import sparse

    return sparse.csr_array(np.eye(3)) @ np.arange(3.0)


@step
def a_sparse_matrix_of_coordinates(np, scipy):
    from scipy import sparse

    places = (np.array([0, 1]), np.array([1, 2]))
    return sparse.coo_array((np.array([3.0, 4.0]), places), shape=(3, 3)).toarray()


@step
def a_sparse_solution(np, scipy):
    from scipy.sparse import csc_array, linalg

    return linalg.spsolve(csc_array(np.eye(3) * 2), np.ones(3))


@step
def an_iterative_solution(np, scipy):
    from scipy.sparse import linalg

    return linalg.cg(linalg.aslinearoperator(np.eye(3) * 2), np.ones(3))[0]


@step
def nearest_neighbours(np, scipy):
    from scipy.spatial import cKDTree

    return cKDTree(np.arange(8.0).reshape(4, 2)).query(np.array([1.0, 1.5]))


@step
def distances(np, scipy):
    from scipy.spatial import distance

    return distance.cdist(np.arange(4.0).reshape(2, 2), np.ones((1, 2)))


@step
def a_rotation(np, scipy):
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(np.array([0.0, 0.0, np.pi / 2])).apply(np.array([1.0, 0.0, 0.0]))


@step
def a_triangulation(np, scipy):
    from scipy.spatial import Delaunay

    return len(Delaunay(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])).simplices)


@step
def special_functions(np, scipy):
    from scipy import special

    return special.erf(np.linspace(-1, 1, 5)), special.logsumexp(np.arange(3.0))


@step
def clusters(np, scipy):
    from scipy.cluster.hierarchy import linkage

    return linkage(np.array([[0.0], [1.0], [5.0]]))


@step
def a_matlab_file(np, scipy):
    import io

    from scipy.io import loadmat, savemat

    kept = io.BytesIO()
    savemat(kept, {"a": np.arange(3.0)})
    return loadmat(kept)["a"]


@step
def a_sound_file(np, scipy):
    import io

    from scipy.io import wavfile

    kept = io.BytesIO()
    wavfile.write(kept, 8000, np.arange(8, dtype=np.int16))
    return wavfile.read(kept)[1]


@step
def a_constant_times_an_array(np, scipy):
    from scipy import constants

    return constants.c * np.arange(3.0)


test_scipy = step.tests()

# With its own switch, SciPy asks arrays for their namespace and computes by that: in a process of its own, as
# it looks at the switch once.
DISPATCHED = """
import gpupy, numpy
from scipy import cluster, fft, linalg, ndimage, signal, special, stats

CALLS = {
    "ttest_ind": lambda np, v: stats.ttest_ind(v, v * 2).pvalue,
    "pearsonr": lambda np, v: stats.pearsonr(v, v**2).statistic,
    "tmean": lambda np, v: stats.tmean(v),
    "zscore": lambda np, v: stats.zscore(v),
    "entropy": lambda np, v: stats.entropy(v),
    "skew": lambda np, v: stats.skew(v),
    "gmean": lambda np, v: stats.gmean(v),
    "describe": lambda np, v: stats.describe(v).variance,
    "sem": lambda np, v: stats.sem(v),
    "lfilter": lambda np, v: signal.lfilter([1.0], [1.0, -0.5], v),
    "detrend": lambda np, v: signal.detrend(v),
    "hilbert": lambda np, v: signal.hilbert(v),
    "convolve": lambda np, v: signal.convolve(v, v),
    "fft": lambda np, v: fft.fft(v),
    "erf": lambda np, v: special.erf(v),
    "logsumexp": lambda np, v: special.logsumexp(v),
    "gaussian_filter": lambda np, v: ndimage.gaussian_filter(np.eye(5), 1.0),
    "whiten": lambda np, v: cluster.vq.whiten(v.reshape(4, 2)),
    "solve": lambda np, v: linalg.solve(np.eye(2) * 2, np.ones(2)),
    # The distribution gives it NumPy's arrays beside ours.
    "kstest": lambda np, v: stats.kstest(v / 10, "norm").pvalue,
}
for name, call in CALLS.items():
    wanted = call(numpy, numpy.arange(8.0) + 1)
    try:
        found = numpy.asarray(call(gpupy, gpupy.arange(8.0) + 1))
    except Exception as error:
        print(name, type(error).__name__, str(error).splitlines()[0])
        continue
    print(name, "as NumPy" if numpy.allclose(found, wanted, rtol=1e-10) else "not as NumPy")
"""
NAMES = """
ttest_ind pearsonr tmean zscore entropy skew gmean describe sem lfilter detrend hilbert convolve fft erf
logsumexp gaussian_filter whiten solve kstest
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_scipy_that_asks_for_namespaces_does_as_with_numpys_arrays(name):
    pytest.importorskip("scipy")
    assert dispatched(DISPATCHED)[name] == "as NumPy"
