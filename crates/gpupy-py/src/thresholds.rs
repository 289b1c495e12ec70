//! The thresholds of this crate: from where one of two ways between Python and the engine is taken.
//!
//! Owns [`Thresholds`] and its one value, [`T`]. Invariant: results and warnings are the same for any thresholds.
//!
//! Not here: which work is eager, and what an evaluation costs (`gpupy_engine`'s thresholds).

gpupy_core::thresholds! {
    // array
    /// Pending operations on scalars after which the value is computed: arithmetic in a Python loop
    /// would otherwise become ever larger kernels of one element.
    pending_on_scalars: u32 = 64,
    /// Bytes of a piece of a pinned array's copy that is compared whole.
    compared_piece: usize = 4096,
    /// The most elements of a field of records that are copied for each operation, which takes less than to compare the
    /// records' memory with its copy: not timed apart from whole operations, of which `r["a"] + r["b"]` of 5 records is
    /// one.
    copied_field: usize = 256,
    /// The most stretches that are written one by one: each is a separate write to the array that an operation reads.
    written_stretches: usize = 16,

    // convert
    /// The fewest bytes that are read where they lie; fewer are copied sooner than the memory's owner is kept.
    read_in_place: usize = 1 << 14,
    /// The bytes of a copy for which room is made where host memory is limited.
    large_copy: usize = 1 << 20,
    /// How many times as long as an array's elements the memory may be that they lie in, for their gaps to be kept:
    /// that of the real parts of complex numbers is twice as long.
    kept_gaps: usize = 2,
    /// The length in bytes up to which it may be any number of times as long.
    kept_bytes: usize = 1 << 16,
    /// The most elements of a cast that are checked for a warning: as many as are computed eagerly. A check takes
    /// a tenth of such a cast.
    checked_casts: usize = 1 << 10,

    // fallback
    /// Places whose calls are counted without asking for their line, at most; then all are forgotten, and with them
    /// the code that they keep.
    call_sites: usize = 1024,

    // index
    /// The fewest elements of a mask whose positions are remembered: smaller ones are faster read again.
    remembered_mask: usize = 1 << 12,
    /// The most elements of NumPy's index arrays that are copied: for these a copy is the fastest way.
    little_index: usize = 256,

    // methods
    /// Elements of a pending array that are read one by one before a read evaluates eagerly: a program that walks an
    /// array would otherwise compute each element in a kernel of its own.
    single_reads: u32 = 8,
    /// Bases of at most this many elements are evaluated for an iterator and copied for any part of them.
    pinned_elements: usize = 1 << 16,
    /// Larger bases, up to so many times the elements read: NumPy's iterator gives an element in 25 ns, an index takes
    /// 110, and a copy of an element 0.5 to 1.
    pinned_times: usize = 64,

    // create
    /// The most numbers of a list that are converted one by one.
    listed_numbers: usize = 1 << 10,

    // jit
    /// The most variants that a function keeps; the least recently used are evicted.
    jit_variants: usize = 16,
    /// The most ways through a function that a variant has.
    jit_ways: usize = 256,
    /// The most reasons that are counted apart.
    jit_reasons: usize = 256,
}
