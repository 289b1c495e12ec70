//! The thresholds of this crate: from where one of two algorithms is taken, and the costs by which work is shared.
//!
//! Owns [`Thresholds`] and its one value, [`T`]. Invariant: results have the same bits for any thresholds.
//!
//! Not here: sizes of tables and arrays that the code of a kernel has in its types, which stand beside that code.

gpupy_core::thresholds! {
    // compile
    /// Points at which a program is evaluated before machine code is written for it: compiling takes about as long.
    compiled_points: usize = 2000,
    /// Points that a launch counts as, at least: interpreting the steps of few points takes as long as of so many. A
    /// hyperbolic tangent of one float64 takes 4,300 instructions then, and 600 by machine code.
    launch_points: usize = 64,
    /// The aimed number of operations of a loop's body that is unrolled, so that carried values are seldom read and
    /// written.
    unrolled_operations: usize = 96,
    /// The most iterations of a loop that are unrolled.
    unrolled_times: usize = 8,
    /// Bytes of rows that fit in the nearest cache beside other data.
    scratch_bytes: usize = 32 << 10,
    /// The most elements of a scratch row: more gains nothing.
    scratch_row: usize = 2048,

    // index_split
    /// The most boxes into which numbers in pieces split a launch: each is a launch of its own.
    most_boxes: usize = 64,
    /// The fewest points of a box that is cut: in smaller ones the gathers are faster than launches.
    box_points: usize = 128,
    /// The bytes of each value that the map of a reduction stores at a time, for each thread: they stay in cache.
    strip_bytes: usize = 256 << 10,
    /// The bytes that it may store where rows that lie side by side are reduced, of which it takes a chunk, so that
    /// rows stay whole: means of columns of a rotation took three times as long in narrow strips (1000², a count with
    /// them).
    long_strip_bytes: usize = 4 << 20,

    // library_ops
    /// The fewest keys that are sorted by digits.
    radix_keys: usize = 160,
    /// The fewest keys that are sorted by vectors.
    vector_keys: usize = 100,
    /// The fewest keys that are partitioned first.
    partitioned_keys: usize = 1 << 14,
    /// The fewest keys that are partitioned for several threads, rather than sorted by one thread with vectors.
    partitioned_by_threads: usize = 1 << 17,
    /// The most digits for which a sort by digits is faster than by vectors.
    digits_beside_vectors: u32 = 2,
    /// The most digits for which a sort by digits is faster than by comparison.
    digits_beside_comparison: u32 = 4,
    /// Nanoseconds for a key that is sorted by digits, roughly.
    radix_cost: u64 = 6,
    /// Picoseconds for an element that is sorted by comparison, roughly.
    sort_cost: u64 = 8000,
    /// The fewest short rows that are sorted at once by a network: fewer leave its vectors empty.
    sorted_rows: usize = 8,
    /// Picoseconds for an element of a short row that is sorted with others, roughly.
    short_sort_cost: u64 = 1000,
    /// The fewest short rows that are scanned at once.
    scanned_rows: usize = 16,
    /// Picoseconds for an element of a scan, roughly.
    scan_cost: u64 = 700,
    /// The most elements of a small matrix, whose products have no need to be packed.
    small_matrix: usize = 225,
    /// The most vectors of a skinny product.
    skinny_vectors: usize = 4,
    /// Elements of a strip of columns: some microseconds of work.
    column_strip: usize = 1 << 16,
    /// Elements of a strip of rows, whose sums are final: less than a microsecond of work.
    row_strip: usize = 1 << 14,
    /// Bytes of a vector's part, or of sums, that stay in the nearest cache.
    skinny_part: usize = 16 << 10,
    /// The fewest terms of a strip where terms are cut, so that adding the strips' sums costs little.
    strip_terms: usize = 128,
    /// Multiplications of a matrix product in a nanosecond, estimated for elements of 4 bytes.
    gemm_speed: usize = 32,
    /// Bytes that a matrix product reads from memory in a nanosecond, estimated.
    gemm_bandwidth: usize = 32,
    /// Tiles of a matrix product for each thread: with more than one, threads finish together even if one begins late.
    gemm_tiles: usize = 4,
    /// The least extent of a tile for which a thread's own packing of the operands pays.
    gemm_least_tile: usize = 64,

    /// The extents of tiles of symmetric products are multiples of this: of the rows and columns that every kernel of
    /// the crate `gemm` computes at once.
    mirrored_tile: usize = 48,
    /// Bands of tiles of a symmetric product, at most: of 8, 36 tiles of 64 are computed.
    mirrored_bands: usize = 8,

    // rows
    /// Bytes of a vector that stay in the nearest cache until a matrix's next rows use them again.
    gemv_part: usize = 16 << 10,
    /// The prefetch distance for rows longer than that, in bytes.
    gemv_prefetch: isize = 1 << 10,

    // run
    /// The fewest active elements of a loop that are compacted: fewer are one or two vectors.
    compacted_elements: usize = 16,
    /// Results that a thread computes at a time, where rows of results go along the reduced axis.
    batched_results: usize = 64,
    /// Bytes of the rows that a column reduction combines.
    across_bytes: usize = 64 << 10,
    /// Picoseconds for a byte of memory that a launch reads or writes, roughly.
    byte_cost: u64 = 25,
    /// The most elements of a row for machine code, which uses no scratch rows.
    compiled_row: usize = 8192,
    /// The most elements of a row with large strides: the neighbours of its elements are still in the cache when
    /// the next rows read them.
    strided_row: usize = 512,
    /// The fewest elements of a row that machine code computes for a reduction, which then reads them in the
    /// nearest cache. Rows of up to twice as many are reduced one after another; longer ones are worth a call for each.
    computed_row: usize = 1024,
    /// The fewest short rows that are reduced as a tile, element by element, rather than one by one. Each operation on
    /// a tile is a call, so there are also at least half as many rows as a row has elements.
    tile_rows: usize = 4,
    /// The most rows of a launch that takes the short way: for more, the choice of the axis matters.
    few_rows: usize = 64,

    // threads
    /// A chunk of work is at most this fraction (one in so many) of the rest of its range.
    chunk_part: usize = 8,
    /// How often a waiting thread polls before it yields the core, which takes longer than a poll.
    polls_before_yield: usize = 64,
    /// The least work that is shared, in nanoseconds.
    shared_work: u64 = 30_000,
    /// The least work that a thread takes at a time, in nanoseconds, so that taking it costs little in comparison.
    least_work: u64 = 2_000,

    // traversal
    /// Nanoseconds for a row, in addition to its steps.
    row_cost: f64 = 20.0,
    /// Nanoseconds for a row of machine code beside another one, in addition to its operands.
    compiled_row_cost: f64 = 6.0,
    /// Nanoseconds for an operation on a row, in addition to its elements, where no machine code does it.
    step_cost: f64 = 4.0,
    /// Nanoseconds for an operand or destination of a row of machine code, which moves on to it.
    access_cost: f64 = 1.0,
    /// The same where the row is shorter than a vector, so that operands and destinations go by way of copies.
    copied_cost: f64 = 3.5,
    /// Nanoseconds for an operation of machine code on an element.
    lane_cost: f64 = 0.02,
    /// Nanoseconds for an element that is not contiguous with the one before.
    apart_cost: f64 = 0.8,
    /// The same where few elements lie between, so that vectors copy them.
    near_cost: f64 = 0.2,
    /// The most elements of a typical row.
    typical_row: usize = 1024,
    /// Nanoseconds for a row that is reduced together with contiguous rows.
    following_cost: f64 = 2.0,
    /// The longest rows that are coalesced.
    coalesced_row: usize = 128,
    /// The fewest points for which coalescing pays.
    coalesced_points: usize = 2000,
    /// Nanoseconds to copy a short row of an expanded input or a scattered destination.
    piece_cost: f64 = 1.0,
    /// Nanoseconds for each of its elements in addition, where these lie side by side or are one element repeated.
    piece_element_cost: f64 = 0.02,
}
