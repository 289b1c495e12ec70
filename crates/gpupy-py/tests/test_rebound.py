"""Functions that NumPy writes in Python, and masks and first numbers of reductions: ours do as NumPy's."""

import re
import warnings

import numpy
import numpy as np
import pytest

import gpupy
from gpupy._numpys import rebound


def arrays(xp):
    """Operands of the calls: vectors, matrices, integers, masks, and arrays with NaN or no elements."""
    rng = np.random.default_rng(3)
    v, w, m, k = rng.normal(size=7), rng.normal(size=7), rng.normal(size=(4, 5)), rng.normal(size=(3, 4, 5))
    nv, nm = v.copy(), m.copy()
    nv[[1, 4]] = nm[1] = nm[0, 2] = np.nan
    iv, im = rng.integers(-3, 4, 9), rng.integers(-3, 4, (4, 5))
    given = {
        **{"v": v, "w": w, "m": m, "k": k, "iv": iv, "im": im, "nv": nv, "nm": nm, "f4": v.astype("f4")},
        **{"z": v + 1j * w, "bo": v > 0, "bm": m > 0, "s": np.arange(7.0), "c3": rng.normal(size=(4, 3))},
        **{"e0": np.zeros(0), "e2": np.zeros((0, 3)), "u8": np.array([200, 3, 250], "u1")},
        "inf": np.array([1, -np.inf, np.inf, np.nan, 0, -0.0]),
    }
    made = {name: xp.asarray(array) for name, array in given.items()}
    return made | {"np": xp, "halved": lambda row: row[::2] * 2, "tripled": lambda x: x * 3}


CALLS = """
    allclose(v,v)
    allclose(v,w)
    allclose(nv,nv,equal_nan=True)
    allclose(v,1.0)
    allclose(m,m[0])
    allclose(inf,inf)
    allclose(iv,iv)
    allclose(e0,e0)
    array_equal(v,v)
    array_equal(v,w)
    array_equal(v,m)
    array_equal(nv,nv,equal_nan=True)
    array_equal(nv,nv)
    array_equal(v,[1,2])
    array_equiv(v,v)
    array_equiv(m,m[0])
    cross(c3,c3[::-1])
    cross(c3[0],c3)
    cross(c3.T,c3.T[::-1],axis=0)
    cumulative_sum(v)
    cumulative_sum(m,axis=1)
    cumulative_sum(v,include_initial=True)
    cumulative_sum(m)
    cumulative_prod(v)
    cumulative_prod(m,axis=0,include_initial=True)
    fix(v)
    fix(iv)
    isclose(v,w)
    isclose(v,v+1e-9)
    isclose(inf,inf)
    isclose(nv,nv,equal_nan=True)
    isclose(m,1)
    isclose(iv,iv)
    isclose(v[0],v)
    isneginf(inf)
    isneginf(iv)
    isposinf(inf)
    iscomplex(z)
    iscomplex(v)
    isreal(z)
    isreal(iv)
    nan_to_num(inf)
    nan_to_num(nv,nan=3.0)
    nan_to_num(inf,posinf=5,neginf=-5)
    nan_to_num(iv)
    nan_to_num(z)
    nan_to_num(inf,copy=False)
    nan_to_num(nm)
    real_if_close(z)
    real_if_close(z*0)
    real_if_close(v)
    resize(v,(3,4))
    resize(m,7)
    resize(v,0)
    sinc(v)
    sinc(iv)
    sinc(s)
    average(v)
    average(v,weights=s)
    average(m,axis=0)
    average(m,axis=1,weights=[1,2,3,4,5])
    average(m,weights=m*m,returned=True)
    average(v,weights=s,keepdims=True)
    average(iv)
    average(m,axis=0,weights=[0,0,0,0])
    corrcoef(m)
    corrcoef(v,w)
    cov(m)
    cov(v,w)
    cov(m,rowvar=False)
    cov(m,bias=True)
    cov(m,ddof=0)
    cov(v)
    cov(m,aweights=[1,2,3,4,5])
    cov(m,fweights=[1,2,3,4,5])
    diff(v)
    diff(m)
    diff(m,axis=0)
    diff(v,n=2)
    diff(v,n=0)
    diff(v,prepend=0)
    diff(m,append=m[:,:1])
    diff(bo)
    diff(iv)
    diff(u8)
    diff(v,n=-1)
    diff(v,n=9)
    diff(v[0])
    ediff1d(v)
    ediff1d(v,to_begin=1.0)
    ediff1d(m,to_end=[1.0,2.0])
    ediff1d(iv)
    gradient(v)
    gradient(m)
    gradient(m,axis=1)
    gradient(v,2.0)
    gradient(v,s)
    gradient(m,edge_order=2)
    gradient(iv)
    gradient(v[:1])
    gradient(m,2.0,s[:5])
    kron(v,w)
    kron(m,m)
    kron(v,m)
    kron(iv,v)
    kron(2.0,v)
    trapezoid(v)
    trapezoid(v,s)
    trapezoid(m,axis=0)
    trapezoid(m,dx=2.0)
    trapezoid(iv)
    unwrap(v*10)
    unwrap(m*9,axis=0)
    unwrap(iv*5,period=6)
    unwrap(v*10,discont=5)
    apply_along_axis(np.sum,0,m)
    apply_along_axis(np.sort,1,m)
    apply_along_axis(halved,1,m)
    apply_over_axes(np.sum,k,[0,2])
    argwhere(bo)
    argwhere(bm)
    argwhere(iv)
    argwhere(m>9)
    argwhere(v[0])
    asarray_chkfinite(v)
    asarray_chkfinite(inf)
    block([[m,m],[m,m]])
    block([v,w])
    block([[v],[w]])
    block(v)
    block([m,m[:,:1]])
    count_nonzero(v)
    count_nonzero(z)
    count_nonzero(z, axis=0)
    count_nonzero(nv, axis=0)
    sort(np.unique_values(v))
    count_nonzero(m,axis=1)
    count_nonzero(bm,keepdims=True)
    count_nonzero(iv)
    count_nonzero(bm)
    count_nonzero(m,axis=(0,1))
    delete(v,1)
    delete(v,[1,2])
    delete(m,1,axis=1)
    delete(m,slice(0,2),axis=0)
    delete(v,bo)
    delete(v,9)
    delete(m,3)
    delete(v,-1)
    delete(v,iv[:2])
    diag(v)
    diag(v,1)
    diag(m)
    diag(m,-1)
    diag(k)
    diagflat(v)
    diagflat(m,1)
    diag_indices_from(m[:4,:4])
    diag_indices_from(m)
    flatnonzero(v)
    flatnonzero(bm)
    flatnonzero(iv)
    nonzero(bo)
    nonzero(bm)
    nonzero(iv)
    nonzero(k>0)
    nonzero(z)
    nonzero(e0)
    nonzero(e2)
    nonzero(f4)
    insert(v,1,5.0)
    insert(v,[1,3],[5.0,6.0])
    insert(m,1,9.0,axis=1)
    insert(m,2,v[:5],axis=0)
    insert(v,bo,0)
    insert(iv,2,1.7)
    insert(v,-1,2)
    insert(v,99,2)
    insert(m,1,3)
    ix_(iv,bo)
    ix_([0,1],bo)
    ix_(m,m)
    select([v<0,v>1],[v,w])
    select([v<0,v>1],[v,w],9.0)
    select([v<0],[iv[:7]],0)
    select([bm],[m],m[0])
    select([],[])
    tril_indices_from(m)
    triu_indices_from(m,1)
    trim_zeros(np.array([0,0,1.,2,0]))
    trim_zeros(v)
    trim_zeros(e0)
    trim_zeros(np.array([0,1.,0]),'f')
    vander(v,3)
    vander(v)
    vander(iv,3,increasing=True)
    vander(v,0)
    piecewise(v,[v<0,v>=0],[-1,1])
    piecewise(v,[v<0],[np.abs,np.exp])
    piecewise(v,v<0,[tripled,2])
    piecewise(iv,[iv<0],[1.5,2])
    nanargmax(nv)
    nanargmax(m)
    nanargmin(nm,axis=1)
    nanargmin(m,axis=1)
    nancumprod(nv)
    nancumsum(nm,axis=0)
    nanmax(nv)
    nanmax(nm,axis=1)
    nanmax(nm,axis=0)
    nanmax(nm,initial=3.0)
    nanmax(nv,where=bo)
    nanmin(nv,keepdims=True)
    nanmin(iv)
    nanmean(nv)
    nanmean(nm,axis=1)
    nanmean(nm,axis=0)
    nanmean(iv)
    nanmean(nm,where=bm)
    nanprod(nv)
    nansum(nv)
    nansum(nm,axis=1,keepdims=True)
    nansum(iv)
    nansum(f4)
    nansum(z)
    nanstd(nv)
    nanstd(nm,axis=0)
    nanvar(nv,ddof=1)
    nanvar(nm,axis=1)
    intersect1d(v,w)
    intersect1d(iv,im)
    intersect1d(iv,im,return_indices=True)
    setdiff1d(iv,[1,2])
    setdiff1d(v,w)
    setxor1d(iv,im)
    union1d(iv,im)
    unique(v)
    unique(iv)
    unique(iv,return_index=True,return_inverse=True,return_counts=True)
    unique(im,axis=0)
    unique(nv)
    unique(z)
    unique(bo)
    unique(e0)
    unique(nv,equal_nan=False)
    unique(np.array([0.0,-0.0,1]))
    unique_all(iv)
    unique_counts(iv)
    unique_inverse(im)
    isin(iv,im)
    isin(v,w)
    isin(iv,[1,2])
    isin(im,iv[:2],invert=True)
    isin(v,np.concatenate([v,w,v,w,v,w,v]))
    isin(iv,[1],assume_unique=True)
    isin(iv,[])
    isin(bo,[True])
    isin(iv,im,kind='sort')
    i0(v)
    i0(m)
    i0(iv)
    poly(v[:3])
    poly(m[:4,:4])
    poly(z[:2])
    polyadd(v,w[:3])
    polysub(v[:3],w)
    polymul(v,w)
    polyder(v)
    polyder(v,2)
    polyint(v)
    polyint(v,2,[1,2])
    polyval(v,s)
    polyval(v,2.0)
    polyval(v,m)
    polyval([1,2,3],v)
    polydiv(v,w[:3])
    polyfit(s,v,2)
    polyfit(s,v,2,full=True)
    roots(v)
    roots(z)
    convolve(v,w)
    convolve(v,w[:3],'same')
    convolve(iv,iv,'valid')
    correlate(v,w)
    correlate(v,w[:3],'full')
    histogram2d(v,w)
    histogram2d(v,w,bins=[3,[-1.0,0.0,1.0]])
    histogram_bin_edges(v)
    histogram_bin_edges(iv,4)
    convolve(v,w[:3])
    convolve(v,w[:3],"same")
    correlate(iv,iv[:4])
    poly(v[:3])
    interp(v,s,w)
    interp(0.5,s,v)
    interp(v,s,z)
    interp(v,s,w,left=9,period=3.0)
    digitize(v,s)
    digitize(v,s[::-1],right=True)
    histogram(v)
    histogram(v,5,(0,1))
    histogram(v,s)
    histogram(v,weights=w,density=True)
    histogram(iv)
    histogram(bo)
    histogram_bin_edges(v)
    histogram_bin_edges(v,'auto')
    histogram2d(v,w)
    histogramdd(c3)
    sort_complex(v)
    sort_complex(z)
    sort_complex(iv)
    median(v)
    median(m,axis=0)
    percentile(v,30)
    percentile(v,30,method='lower')
    quantile(m,[0.1,0.5],axis=1)
    nanmedian(nv)
    nanquantile(nm,0.5,axis=0)
    bartlett(12)
    diag_indices(4)
    diag_indices(3, ndim=3)
    tril_indices(4)
    tril_indices(3, 1, 5)
    triu_indices(4, -1)
    geomspace(1.0, 100.0, 12)
    geomspace(1, 256, 9, dtype=int)
    geomspace(-100, -1, 5, endpoint=False)
    geomspace(1j, 1000j, num=4)
    geomspace([1, 2], [10, 20], 3)
    geomspace(v + 9, w + 9, 4, axis=-1)
    geomspace(0, 5, 3)
    logspace(0, 2, 5)
    logspace(0, 3, 4, base=2, dtype=int)
    logspace(v, w, 3)
    logspace(2, 3, num=4, base=[2, 3])
    blackman(12)
    hamming(12)
    hanning(1)
    hanning(0)
    kaiser(12, 14.0)
    sum(v,where=bo)
    sum(m,axis=1,where=bm)
    sum(v,initial=5.0)
    sum(iv,initial=5)
    sum(iv,where=iv>0,initial=2)
    sum(bo,where=bo)
    sum(m,where=bm[0])
    sum(m[0],where=bm)
    sum(v,where=True,initial=0)
    sum(u8,initial=1)
    sum(f4,initial=1.0)
    sum(f4,initial=1e300)
    sum(v,axis=0,where=[True]*6+[False])
    prod(v,where=bo)
    prod(iv,initial=3)
    max(v,initial=9.0)
    max(v,where=bo)
    max(iv,initial=2.5)
    max(u8,initial=300)
    max(e0,initial=3.0)
    min(m,axis=0,where=bm,initial=7.0)
    any(bm,axis=1,where=bm)
    all(m,where=bm)
    mean(v,where=bo)
    mean(m,axis=1,where=bm)
    mean(m,axis=0,where=bm,keepdims=True)
    std(v,where=bo)
    var(m,axis=0,where=bm)
    add.reduce(v,where=bo)
    add.reduce(m,0,initial=1.0)
    fmax.reduce(nv)
    fmax.reduce(iv)
    fmax.reduce(nm,axis=None,keepdims=True)
    fmin.reduce(nm,axis=1)
    maximum.reduce(m,axis=(0,1),initial=3.0,where=bm)
    multiply.accumulate(v)
    logical_or.reduce(bm,where=bm)
    bitwise_or.reduce(iv,where=iv>1)
    add(v,w,where=bo,out=v.copy())
    add(v,w,out=s.copy(),where=bm)
    add(v,m,where=bo)
    add(v,1,where=bo,out=np.zeros((2,7)))
    add(f4,f4,where=bo,out=np.zeros(7))
    add(v,w,where=[1,0,1,1,1,1,1],out=s.copy())
    sqrt(v,where=bo,out=s.copy())
    divide(v,w,where=bo,out=np.zeros(7))
    less(v,w,where=bo,out=bo.copy())
    multiply(v,v,where=np.False_,out=s.copy())
    negative(v,where=bo,out=(s.copy(),))
    digitize(v,s)
    digitize(v,s[::-1],right=True)
    digitize(v,w)
    histogram2d(v,w)
    histogram2d(v,w,bins=[3,[-1.0,0.0,1.0]])
    histogram_bin_edges(v)
    histogram_bin_edges(iv,4)
    convolve(v,w[:3])
    convolve(v,w[:3],"same")
    correlate(iv,iv[:4])
    poly(v[:3])
    interp(v,s,w)
    interp(s,s,w,left=-1.0)
    median(m,axis=0)
    median(nv)
    median(e0)
    nanmedian(nm,axis=1)
    nanmedian(nv)
    nanpercentile(nv,[20,50])
    nanquantile(nm,0.3,axis=1)
    percentile(m,[10.0,90.0],axis=1)
    percentile(iv,30)
    percentile(v,101)
    quantile(v,0.3,method="nearest")
    quantile(m,[0.5],axis=(0,1),keepdims=True)
"""
CALLS = [f"np.{line.strip()}" for line in CALLS.strip().splitlines()]


def outcome(call, xp):
    """The result, or the exception's class and words; and the warnings, but for those of numbers."""
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            result = eval(call, arrays(xp))
        except Exception as error:
            return None, (type(error), str(error).replace("gpupy.ndarray", "numpy.ndarray")), []
    return result, None, sorted({(w.category, str(w.message)) for w in told})


def assert_alike(got, want):
    if isinstance(want, (tuple, list)):
        assert type(got).__name__ == type(want).__name__ and len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            assert_alike(a, b)
        return
    if isinstance(want, np.ndarray):
        assert type(got) is gpupy.ndarray
    elif isinstance(want, np.generic):
        assert isinstance(got, (np.generic, gpupy.scalar))
    else:
        assert type(got) is type(want)
    a, b = np.asarray(got), np.asarray(want)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_gives_what_numpys_gives(call, driver):
    got, refused, told = outcome(call, gpupy)
    want, refusal, said = outcome(call, numpy)
    assert refused == refusal and told == said
    if refusal is None:
        assert_alike(got, want)


def test_each_function_is_called_in_some_way():
    called = {re.match(r"np\.(\w+)", call)[1] for call in CALLS}
    unlike = {"unique_values", "mask_indices", "fill_diagonal", "require", "row_stack"}
    assert not rebound.NAMES - called - unlike


def test_functions_that_write_do_it_in_the_array(driver):
    written = []
    for xp in (numpy, gpupy):
        a = xp.arange(12.0).reshape(3, 4)
        xp.fill_diagonal(a, -1.0)
        xp.put_along_axis(a, xp.argmax(a, 1, keepdims=True), 0.0, 1)
        xp.put_along_axis(a, xp.array([3]), 0.5, None)
        xp.put_along_axis(a.T, xp.array([[2, 0, 1]]), xp.arange(3.0).reshape(1, 3), 0)
        xp.copyto(a, 5.0, where=a > 6)
        xp.putmask(a, a == 5, a * 2)
        xp.place(a, a == 10, [3.0])
        xp.nan_to_num(a, copy=False, nan=1.0)
        written.append(a.tolist())
    assert written[0] == written[1]


def test_they_leave_what_they_were_called_with_as_it_was():
    a = gpupy.array([3.0, np.nan, 1.0])
    for call in (gpupy.nansum, gpupy.nanmax, gpupy.nan_to_num, gpupy.diff, gpupy.nancumsum):
        call(a)
        assert np.array_equal(np.asarray(a), [3.0, np.nan, 1.0], equal_nan=True)


def test_a_function_that_the_numpy_at_hand_writes_otherwise_stays_numpys():
    def of_a_closure():
        kept = 1
        return lambda x: x + kept

    exec("def of_unknown(x):\n    return not_there(x)", space := {})
    for function in (len, np.sin, of_a_closure(), space["of_unknown"]):
        assert rebound.over_ours("function", function, function) is None


def test_each_function_is_one_that_the_numpy_at_hand_writes_in_python():
    for name in rebound.NAMES - {"in1d", "row_stack"}:
        assert rebound.over_ours(name, getattr(np, name), len) is not None, name


@pytest.mark.parametrize(
    "call",
    [
        "fft.fftfreq(9, 0.5)",
        "fft.rfftfreq(8)",
        "fft.fftshift(m)",
        "fft.ifftshift(m, axes=0)",
        "linalg.matrix_power(m[:, :4], 3)",
        "linalg.multi_dot([m, m.T, m])",
        "linalg.cross(c3, c3[::-1])",
        "linalg.matrix_power(m[:, :4], 0)",
        "linalg.matrix_power(m, 2)",
    ],
)
def test_functions_of_submodules_do_too(call, driver):
    call = f"np.{call}"
    got, refused, _ = outcome(call, gpupy)
    want, refusal, _ = outcome(call, numpy)
    assert refused == refusal
    if refusal is None:
        assert_alike(got, want)


def test_what_they_warn_of_is_told_at_the_users_line(auto):
    with pytest.warns(RuntimeWarning, match="Mean of empty slice") as told:
        gpupy.nanmean(gpupy.array([np.nan, np.nan]))
    assert told[0].filename == __file__


def test_numpys_own_functions_give_lazy_arrays_of_ours(auto):
    a = gpupy.arange(100_000, dtype="f4") + 1
    gpupy.reset_stats()
    made = numpy.diff(numpy.nan_to_num(a))
    assert type(made) is gpupy.ndarray and gpupy.stats().launches == gpupy.stats().fallbacks == 0
    assert numpy.unique(gpupy.array([3, 1, 3])).tolist() == [1, 3]


def test_a_lazy_array_stays_lazy(driver):
    a = gpupy.arange(100_000, dtype="f4") + 1
    gpupy.reset_stats()
    made = gpupy.diff(gpupy.nan_to_num(gpupy.sinc(a)), n=2) + gpupy.gradient(a)[1:-1]
    assert gpupy.stats().launches == gpupy.stats().fallbacks == 0 and made.shape == (99_998,)


def test_arrays_of_numpys_own_dtypes_and_classes_are_numpys():
    dates = np.array(["2024-01-01", "2024-01-05"], "M8[D]")
    assert gpupy.diff(gpupy.array(dates)).tolist() == np.diff(dates).tolist()
    masked = np.ma.array([1.0, 2.0, 4.0], mask=[0, 1, 0])
    assert isinstance(gpupy.average(masked), (float, np.floating)) and gpupy.average(masked) == 2.5
    assert gpupy.diff([1, 4, 9]).tolist() == [3, 5] and type(gpupy.diff([1, 4, 9])) is gpupy.ndarray


@pytest.mark.parametrize("dtype", "? i1 u1 i4 u8 f2 f8 c8 c16".split())
@pytest.mark.parametrize("name", ["putmask", "place", "copyto"])
def test_what_is_written_by_a_mask_is_cast_or_refused_as_numpys(name, dtype):
    def outcome(xp, value, size):
        target = xp.arange(size).astype(dtype)
        mask = target > 1 if dtype != "?" else target
        value = value(xp) if callable(value) else value
        try:
            if name == "copyto":
                xp.copyto(target, value, where=mask)
            else:
                getattr(xp, name)(target, mask, value)
        except Exception as error:
            return type(error), str(error)
        return repr(target.tolist())

    values = [True, 2, -1, 300, 2.5, 1j, [1j], [2]]
    for given in "? i2 u4 i8 f4 f8 c16".split():
        values.append(np.dtype(given).type(3))
        for shape in ((), (1,), (2,)):
            values.append(lambda xp, given=given, shape=shape: xp.full(shape, 3).astype(given))
    for value in values:
        for size in (4, 40):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert outcome(gpupy, value, size) == outcome(np, value, size), (value, size)
