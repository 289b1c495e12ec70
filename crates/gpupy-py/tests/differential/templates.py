"""The statements that programs are made of, with gaps in angle brackets (``operands.GAPS``).

Owns ``EXPRESSIONS``, ``STATEMENTS``, and for what depends on an order of summation or on a library of
functions, ``SUMS`` and ``FUNCTIONS``; and ``EXPORTS``, what foreign code sees of an array, with what it does
there, ``FOREIGN``. A theme is drawn first, then one of its lines.
"""

EXPRESSIONS = {
    "arithmetic": """
        np.<exact2>(<a>, <x>)
        np.<exact2>(<a>, <like><keywords>)
        np.<exact1>(<real>)
        np.<exact1>(<real><keywords>)
        np.<simple>(<complex>)
        <a> <operator> <x>
        <scalar> <operator> <a>
        -<a>
        ~<integral>
        abs(<real>)
        np.where(<mask>, <a>, <x>)
        np.where(<a> > 0, <like>, <scalar>)
        np.clip(<real>, <scalar>, <scalar>)
        np.clip(<real>, <x>, None)
        <real>.clip(<n>, <k>)
        np.round(<real>, <n>)
        <real>.round(<n>)
        divmod(<real>, <x>)
        np.divmod(<real>, <x>)
        np.modf(<float>)
        np.frexp(<float>)
        <integral> ** <k>
        <a>.astype(<dtype>)
        <a>.astype(<dtype>, casting=<casting>)
        <a>.astype(<dtype>, order=<order>, copy=False)
        np.select([<a> > 1, <like> < 0], [<like>, <scalar>], <scalar>)
        np.select([<a> > 1, <same> < 0], [<same>, <same>], <scalar>)
        np.<exact2>(<a>, <same>, dtype=<dtype>)
        np.choose(<integral>, [<a>, <x>], mode="clip")
        np.isclose(<number>, <x>)
        np.nan_to_num(<float>)
        np.logical_not(<a>, where=<mask>, out=<apart>)
    """,
    "creation": """
        np.array([<scalar>, <scalar>, <scalar>])
        np.array(([<scalar>, <n>], [<k>, <scalar>]), ndmin=<k>)
        np.array([<n>, <scalar>], <dtype>)
        np.array((True, <n>, <scalar>), dtype=<dtype>, copy=None)
        np.array([<few>[0], <k>, <same>[0]])
        np.array(<a>, copy=None, ndmin=<k>)
        np.array(<a>, dtype=<dtype>, copy=None, subok=<keep>)
        np.array(<scalar>, <dtype>, ndmin=<k>)
        np.asarray(<a>, <dtype>)
        np.asanyarray(<a>, dtype=<dtype>)
        np.asanyarray([<scalar>, <n>])
        np.arange(<n>, <k>, 0.25)
        np.arange(<k>, <n>, -0.7)
        np.arange(<n>, <k>, dtype=<dtype>)
        np.full((<k>, 2), <scalar>)
        np.full([2, <k>], <scalar>, dtype=<dtype>)
        np.eye(<k>, 3, <n>, dtype=<dtype>)
        np.ones(<k>, <dtype>)
    """,
    "views": """
        <a>[<key>]
        <a>[<key>]
        <a>[<key>]
        <a>.T
        <a>.transpose(<permutation>)
        <a>.reshape(<shape>)
        <a>.reshape(<shape>, order=<order>)
        np.reshape(<a>, <shape>)
        np.broadcast_to(<a>, <wide>)
        <a>.swapaxes(<axis>, <axis>)
        np.moveaxis(<a>, <axis>, <axis>)
        np.rollaxis(<a>, <axis>)
        np.expand_dims(<a>, <axis>)
        np.expand_dims(<a>, (<axis>, <axis>))
        <a>.squeeze()
        np.squeeze(<a>, axis=<axis>)
        <a>.ravel()
        <a>.ravel(<order>)
        <a>.flatten()
        <a>.flatten(<order>)
        np.flip(<a>, <axes>)
        np.flipud(<a>)
        np.rot90(<a>, <n>)
        <a>.diagonal(<n>)
        np.diag(<little>, <n>)
        np.atleast_2d(<a>)
        np.split(<a>, <k>, axis=<axis>)
        np.array_split(<a>, <k>)
        [x.copy() for x in np.broadcast_arrays(<a>, <like>)]
        <a>.copy()
        <a>.copy(<order>)
        np.ascontiguousarray(<a>)
        np.asfortranarray(<a>)
        np.asarray(<a>)
        <a>.view()
        <a>.real + 0
        <a>.imag + 0
        np.require(<a>, requirements=["C"])
        np.lib.stride_tricks.sliding_window_view(<a>, <k>, axis=<axis>)
    """,
    "strides": """
        <a>[::-1]
        <a>[..., ::-1]
        <a>[::-2]
        <a>[::3]
        <a>[..., ::-3]
        <a>[:1] <operator> <same>
        <a> <operator> <turned>
        <a>[1:] <operator> <same>[:-1]
        <a>[::-1][1:] <operator> <same>[:-1]
        <a>[..., 1:] <operator> <same>[..., :-1]
        np.<exact2>(<a>, <turned>)
        np.<exact2>(<a>[::-1], <turned>)
        np.<exact1>(<real>[::-2])
        np.where(<mask>, <same>, <turned>)
        np.concatenate([<a>, <turned>], axis=<axis>)
        np.stack([<a>, <turned>], axis=<axis>)
        <a>[<key>][::-1]
        <a>[<key>][<n>:]
        <a>.T[<n>:]
        <a>[::-1].astype(<dtype>)
        <a>[::-1].copy(<order>)
        np.<monotone>.reduce(<integral>[::-1], axis=<axes>)
        np.<monotone>.accumulate(<integral>[..., ::-2], axis=<axis>)
        np.sort(<ordered>[::-1], axis=<axes>)
        <real>[..., ::-2].<extreme>(axis=<axes>)
        np.take(<a>[::-1], <indices>, mode="wrap")
        <bits>.view(<twin>)
        <bits>[::-1].view(<alike>)
        <complex>.real
        <complex>.imag
        <complex>[::-1].real
    """,
    "reading": """
        <a>[<any>]
        <a>[<fancy>]
        <a>[<mask>]
        np.take(<a>, <indices>, axis=<axes>, mode=<mode>)
        <a>.take(<indices>, mode=<mode>)
        np.compress([True, False, True], <a>, axis=<axis>)
        np.extract(<mask>, <a>)
        np.nonzero(<a>)
        <a>.nonzero()
        np.argwhere(<a>)
        np.flatnonzero(<a>)
        np.count_nonzero(<a>, axis=<axes>)
        np.where(<a>)
        np.take_along_axis(<a>, np.argsort(<a>, axis=<axis>, kind="stable"), axis=-1)
        <a>.flat[<n>]
        <a>.flat[<key>]
        <a>.item(<n>)
        <brief>.tolist()
        list(<brief>)
        np.ix_(<briefint>, [0, 1])
        <a>.tobytes()
        len(<a>)
        <a>.byteswap()
        bool(<a>)
        int(<a>)
        float(<a>)
        <a>.shape
        <a>.size
        np.argmax(<a>, axis=<axes>)
        np.diag_indices_from(<a>)
        np.unravel_index(<int>, (20, 10))
        np.choose(<integral>, <a>)
        np.shares_memory(<a>, <b>)
    """,
    "reductions": """
        <real>.<extreme>(axis=<axes>)
        np.<extreme>(<real>, axis=<axes>, keepdims=<keep>)
        np.<extreme>(<a>, axis=<axes>)
        np.max(<real>, axis=<axes>, initial=<scalar>)
        np.<extreme>(<scalar>, keepdims=<keep>)
        np.any(<scalar>, axis=<n>)
        np.min(<real>, axis=<axes>, initial=<n>, where=<mask>)
        np.any(<a>, axis=<axes>, where=<mask>)
        np.<monotone>.reduce(<integral>, axis=<axes>)
        np.<monotone>.reduce(<integral>, axis=<axes>, dtype=<integer>)
        np.<monotone>.reduce(<integral>, axis=<axes>, initial=<n>, keepdims=<keep>)
        np.<monotone>.reduce(<integral>, axis=<axes>, where=<mask>, initial=1)
        np.<monotone>.accumulate(<integral>, axis=<axis>)
        np.<monotone>.reduceat(<integral>, [0, 1, 0], axis=<axis>)
        np.<monotone>.outer(<few>, <few>)
        np.<exact2>.outer(<positive>, <positive>)
        <integral>.sum(axis=<axes>, keepdims=<keep>)
        np.sum(<integral>, axis=<axes>, initial=<n>, where=<mask>)
        np.sum(<integral>, axis=<axes>, dtype=<integer>)
        np.prod(<integral>, axis=<axes>)
        np.cumsum(<integral>, axis=<axes>)
        np.cumprod(<integral>, axis=<axes>, dtype=<integer>)
        np.maximum.accumulate(<real>, axis=<axis>)
        np.diff(<a>, n=<k>, axis=<axis>)
        np.ediff1d(<number>)
        np.<nanextreme>(<real>, axis=<axes>)
        np.median(<real>, axis=<axes>)
        np.nanmedian(<number>, axis=<axes>)
        np.percentile(<number>, <k>0, axis=<axes>, method=<method>)
        np.quantile(<float>, [0.25, 0.5], axis=<axes>)
        np.array_equal(<a>, <b>)
        np.allclose(<number>, <like>)
        np.cumulative_sum(<integral>, axis=<axes>, include_initial=<keep>)
    """,
    "joining": """
        np.concatenate([<a>, <like>], axis=<axis>)
        np.concatenate((<a>, <a>, <b>), axis=<axes>)
        np.concatenate([<a>, <like>], dtype=<dtype>, casting=<casting>)
        np.stack([<a>, <out>], axis=<axis>)
        np.vstack([<a>, <like>])
        np.hstack([<a>, <like>])
        np.dstack([<a>, <like>])
        np.column_stack([<a>, <like>])
        np.append(<a>, <b>)
        np.append(<a>, <scalar>)
        np.hstack((<scalar>, <a>))
        np.vstack([<a>, <value>])
        np.column_stack((<a>, <value>))
        np.dstack([<a>, <scalar>])
        np.stack([<a>, <same>, <scalar>], axis=<axis>)
        np.concatenate([[<scalar>], <a>])
        np.concatenate((<a>, [<n>, <k>], [<scalar>]), axis=<axes>)
        np.append(<a>, <like>, axis=<axis>)
        np.tile(<a>, <k>)
        np.tile(<a>, (2, <k>))
        np.repeat(<a>, <k>, axis=<axes>)
        np.repeat(<a>, [1, 2, 0], axis=<axes>)
        <a>.repeat(<k>)
        np.roll(<a>, <n>)
        np.roll(<a>, <n>, axis=<axes>)
        np.pad(<a>, <k>)
        np.pad(<a>, (<k>, <k>), mode=<padding>)
        np.pad(<a>, <k>, constant_values=<scalar>)
        np.insert(<a>, <k>, <scalar>)
        np.delete(<a>, <k>, axis=<axes>)
        np.block([<a>, <like>])
        np.tril(<little>, <n>)
        np.triu(<little>, <n>)
        np.kron(<few>, <few>)
        np.resize(<a>, (2, <k>))
        np.meshgrid(<few>, <little>)
        np.array([<a>, <out>])
        np.full_like(<a>, <scalar>)
        np.zeros_like(<a>, dtype=<dtype>)
        np.ones_like(<a>, shape=(2, 3))
        np.trim_zeros(<a>)
        np.fromiter((x for x in range(<k>)), dtype=<dtype>)
    """,
    "sorting": """
        np.sort(<ordered>, axis=<axes>)
        np.sort(<ordered>, kind=<kind>)
        np.argsort(<a>, axis=<axes>, kind="stable")
        np.argsort(<real>, stable=True)
        np.searchsorted(np.sort(<ordered>, axis=None), <real>, side=<side>)
        np.unique(<ordered>)
        np.unique(<ordered>, return_index=True, return_counts=<keep>)
        np.unique(<ordered>, return_inverse=<keep>, axis=<axes>)
        np.sort(np.partition(<ordered>, <k>, axis=-1))
        np.lexsort((<a>, <out>))
        np.isin(<ordered>, <ordered>)
        np.union1d(<ordered>, <ordered>)
        np.intersect1d(<ordered>, <ordered>)
        np.setdiff1d(<ordered>, <ordered>)
        np.bincount(<integral> % 7)
        np.digitize(<real>, [0, 1, 5])
        np.sort(np.unique_values(<ordered>))
        np.unique_counts(<ordered>)
    """,
    "products": """
        <briefint> @ <briefint>
        np.outer(<few>, <few>)
        np.outer(<modest>, <modest>)
        np.einsum("ij->ji", <a>)
        np.einsum("i,j->ij", <few>, <few>)
        np.einsum("ij,jk->ik", <briefint>, <briefint>)
        np.einsum("...i->...", <integral>)
        np.trace(<integral>, <n>)
        np.cross(<few>, <few>)
        np.matmul(<few>, <few>, out=<b>)
        <product>
        <product>
    """,
}

STATEMENTS = {
    "assignments": """
        <a>[<key>] = <value>
        <a>[<key>] = <value>
        <a>[<key>] = <into>
        <a>[<n>] = <scalar>
        <complex>[<key>] = <scalar>
        <a>[<any>] = <value>
        <a>[<fancy>] = <value>
        <a>[<mask>] = <value>
        <a>[...] = <into>
        <a>[<key>] <update> <value>
        <a>[<fancy>] <update> <value>
        <a>[<mask>] <update> <scalar>
        <a>[1:] = <a>[:-1]
        <a>[:-1] += <a>[1:]
        <a>[::-1] = <a>
        <a>[...] = <a>.T
        <a>.flat = <loose>
        <a>.flat[<n>] = <scalar>
        <a>.flat[<key>] = <loose>
        <a>.real = <scalar>
        <complex>.imag = <scalar>
    """,
    "updates": """
        <a> += <x>
        <a> -= <x>
        <a> <update> <x>
        <a> <update> <scalar>
        <a> *= <like>
        <float> **= 2
        <whole> **= <k>
        np.<exact2>(<a>, <like>, out=<out>)
        np.<exact2>(<a>, <x>, <out>)
        np.<exact1>(<real>, out=<out>)
        np.<exact2>(<a>, <like>, out=<out>, casting="unsafe")
        np.<exact2>(<a>, <x>, where=<mask>, out=<apart>)
        np.<monotone>.at(<writable>, <indices>, <scalar>)
        np.negative.at(<writable>, <indices>)
        np.clip(<real>, <n>, <k>, out=<out>)
        np.round(<float>, <n>, out=<out>)
        np.take(<a>, <indices>, out=<out>, mode=<mode>)
        np.sum(<integral>, axis=<axis>, out=<b>)
        np.max(<real>, axis=<axis>, out=<b>)
        np.cumsum(<rows>, axis=<axis>, out=<out>)
        np.concatenate([<a>, <like>], out=<b>)
        np.stack([<a>, <out>], out=<b>)
        np.<monotone>.accumulate(<integral>, axis=<axis>, out=<out>)
        np.matmul(<few>, <few>, out=<b>)
        np.compress([True, False, True], <a>, out=<b>)
    """,
    "overlaps": """
        <a>[1:] = <same>[:-1]
        <a>[:-1] = <same>[1:]
        <a>[1:] <update> <same>[:-1]
        <a>[:-1] <update> <same>[1:]
        <a>[..., 1:] <update> <same>[..., :-1]
        <a>[...] = <turned>
        <a>[::-1] = <turned>
        <a> <update> <turned>
        <a>[::-1] <update> <turned>
        <a>[::2] = <same>[1::2]
        <a>[::-2] <update> <scalar>
        <a>[..., ::-3] = <scalar>
        <a>.T[...] <update> <scalar>
        <a>[<key>][<n>:] <update> <scalar>
        np.<same2>(<a>, <turned>, out=<same>)
        np.<same2>(<a>, <x>, out=<turned>)
        np.<same2>(<a>, <turned>, out=<turned>)
        np.<same2>(<a>[1:], <same>[:-1], out=<same>[1:])
        np.<same2>(<a>[:-1], <same>[1:], out=<same>[:0:-1])
        np.<same1>(<real>[::-1], out=<same>)
        np.<same1>(<real>[1:], out=<same>[:-1])
        np.copyto(<writable>[1:], <same>[:-1])
        np.copyto(<writable>, <turned>, where=<mask>)
        np.clip(<real>[1:], <n>, <k>, out=<same>[:-1])
        np.<monotone>.accumulate(<integral>, axis=<axis>, out=<same>)
        np.<monotone>.accumulate(<integral>[::-1], axis=<axis>, out=<same>)
        np.<monotone>.at(<open>[::-1], <indices>, <scalar>)
        <bits>.view(<twin>)[...] = <k>
        <bits>.view(<twin>)[<n>:] <update> <k>
        <complex>.real[...] = <scalar>
        <complex>.imag[<n>:] <update> <k>
        <ordered>[::-1].sort()
        <ordered>.T.sort(axis=<axis>)
        <dense>.reshape(-1)[<n>] = <scalar>
        <dense>.ravel("K")[<n>] = <scalar>
    """,
    "functions": """
        np.copyto(<writable>, <into>)
        np.copyto(<writable>, <scalar>)
        np.copyto(<writable>, <value>, casting=<casting>)
        np.copyto(<writable>, <value>, where=<mask>)
        <a>.fill(<scalar>)
        np.put(<a>, <indices>, <value>, mode=<mode>)
        <a>.put(<indices>, <value>)
        np.place(<a>, <mask>, [1, 2])
        np.putmask(<a>, <mask>, <value>)
        np.put_along_axis(<a>, np.argsort(<a>, axis=<axis>, kind="stable"), <scalar>, axis=-1)
        np.fill_diagonal(<a>, <scalar>)
        <ordered>.sort()
        <ordered>.sort(axis=<axis>, kind=<kind>)
        <ordered>.partition(<k>); <same>.sort()
        <a>.size; <same> = <same>.copy(); <same>.resize((2, <k>), refcheck=False)
        <dense>.shape = <shape>
        <owner>.setflags(write=<keep>)
        np.nan_to_num(<float>, copy=False)
        <a>.setfield(<scalar>, <dtype>)
        np.random.default_rng(1).shuffle(<brief>)
    """,
}

# Expressions whose error is measured by the same expression of the operands' magnitudes.
SUMS = """
    <a>.sum(axis=<axes>)
    np.sum(<inexact>, axis=<axes>, keepdims=<keep>)
    np.sum(<inexact>, axis=<axes>, dtype=<wider>)
    np.sum(<inexact>, axis=<axes>, where=<mask>)
    np.sum(<inexact>, axis=<axes>, initial=<k>)
    np.mean(<a>, axis=<axes>)
    <a>.mean(axis=<axes>, keepdims=<keep>)
    np.mean(<a>, axis=<axes>, dtype=<wider>)
    np.nansum(<inexact>, axis=<axes>)
    np.nanmean(<real>, axis=<axes>)
    np.cumsum(<inexact>, axis=<axes>)
    np.add.accumulate(<inexact>, axis=<axis>)
    np.prod(<handful>, axis=<axes>)
    np.cumprod(<handful>, axis=<axes>)
    np.matmul(<briefint>, <briefint>)
    np.matmul(<briefinexact>, <brief>)
    <brief> @ <briefinexact>
    np.dot(<few>, <few>)
    np.dot(<lightfactor>, <factor>)
    np.vecdot(<integral>, <integral>)
    np.vdot(<integral>, <integral>)
    np.tensordot(<few>, <few>, axes=<k>)
    np.inner(<few>, <few>)
    np.inner(<factor>, <lightfactor>)
    np.vdot(<float>, <real>)
    np.tensordot(<lightfactor>, <factor>, axes=<k>)
    np.einsum("ij,jk->ik", <briefinexact>, <brief>)
    np.einsum("i,i", <inexact>, <a>)
    np.trace(<inexact>)
    np.average(<number>, axis=<axes>)
    np.convolve(<light>, <light>)
    np.multiply(<complex>, <x>)
    np.logaddexp(<float>, <like>)
    <complex> * <like>
    np.add.reduceat(<inexact>, [0, 1], axis=<axis>)
"""

# Expressions that are within some units in the last place.
FUNCTIONS = """
    np.<function>(<real>)
    np.<function>(<float>)
    np.<function>(<a><keywords>)
    np.power(<float>, <like>)
    <float> ** <scalar>
    <float> ** <like>
    np.hypot(<real>, <like>)
    np.arctan2(<real>, <like>)
    np.absolute(<complex>)
    <complex> / <x>
    np.angle(<complex>)
"""

# Arrays of NumPy's own in memory of an array, which stay while both go on to write. Each is a view, of which
# nothing else changes the shape.
EXPORTS = """
    numpy.asarray(<a>)[...]
    numpy.asarray(memoryview(<a>))
    numpy.from_dlpack(<native>)[...]
    numpy.asarray(type("Kept", (), {"__array_interface__": <a>.__array_interface__, "array": <same>})())
    numpy.frombuffer(<dense>, dtype=<same>.dtype)
    numpy.ctypeslib.as_array(<spread>.ctypes.data_as(numpy.ctypeslib.ctypes.POINTER(<ctype>)), <same>.shape)
"""

# Writes by foreign code, and the ends of its views.
FOREIGN = """
    <export>[...] = <k>
    <export>[...] = <export>
    <export>[::-1] += <k>
    <export>[..., ::2] = <k>
    <export>[1:] = <export>
    <export>.T[...] *= <k>
    <export>.fill(<k>)
    <export>.sort()
    <export> = None
"""
