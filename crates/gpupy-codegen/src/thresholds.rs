//! The thresholds of this crate: from where one of two spellings of a kernel is taken.
//!
//! Owns [`Thresholds`] and its one value, [`T`]. Invariant: results have the same bits for any thresholds.
//!
//! Not here: limits of devices, which drivers ask for, and limits of the cache on disk (`kernels/disk_cache.rs`).

gpupy_core::thresholds! {
    // kernels
    /// The most bytes of all compiled kernels of an open driver, as drivers estimate them: some hundred kernels of
    /// Mesa's rasterisers, which take 0.3 to 2.2 MB each. Kernels on disk are found again.
    kernel_bytes: usize = 256 << 20,
    /// A program with fewer scalars than this is not specialised.
    literal_params: usize = 8,
    /// Launches with the same scalars before specialisation is considered.
    literal_launches: u32 = 3,

    // fragment
    /// Parameters from which on their vectors are read before any fetch. Mesa's llvmpipe takes 7 s to
    /// compile a thousand instructions with the uniforms read after a texture, and 1 s with them before; a few are
    /// not worth the registers.
    held_params: usize = 48,
    /// The largest distance in texels from a base that is a literal in the shader: that of stencils. Larger ones are no
    /// literals, so that slices that move through an array share a shader.
    literal_texels: i64 = 1,
    /// The largest distance in rows, likewise.
    literal_rows: i64 = 2,

    // compute
    /// The fewest gathers of a kernel whose invocations have one point each. With four points Mesa's llvmpipe takes
    /// 12 s rather than 6.7 s to compile motion estimation, whose kernels have up to 33 gathers, and 1.3 times as long
    /// to run it, as well as a rotation in colour with 12; kernels of one to four gathers take 0.6 times as long with
    /// four.
    gathers_by_points: usize = 8,
    /// The shortest last axis that vectors of four follow although the last of them is incomplete.
    long_axis: i64 = 16,
    /// The most elements of a row that an invocation loads at once for several accesses. Their distances are literals
    /// in the kernel, as those of a stencil are: further ones are no literals, for slices that move to share a kernel.
    window: i64 = 24,
}
