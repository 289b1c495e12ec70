//! The thresholds of this crate: from where one of two ways is taken, each with the measurement behind it.
//!
//! Owns [`Thresholds`] and its one value, [`T`]. `cargo xtask tune` times both ways around those that it knows on the
//! machine at hand. Invariant: results have the same bits for any thresholds.
//!
//! Not here: sizes of memory and of programs that are no choice, which stand where they are used.

gpupy_core::thresholds! {
    // memory
    /// The most points of an eager operation. Then one operation takes less than half the
    /// time of recording and evaluating it, and five take as long (driver cpu, float64, one thread).
    most_points: usize = 32 << 10,
    /// A write that may promote its base to host memory is of at most one in so many of its elements.
    little_part: usize = 8,

    // eager
    /// The fewest bytes of an array that a write which replaces all of another one shares with it: they leave the
    /// nearest cache. `y[:] = 2 * x` of 64 KiB takes 3.0 us by sharing and 3.8 by a copy, 5.4 and 8.4 of 128 KiB,
    /// 10 and 16 of 256 KiB; `y[:] = x` and then a write to `y`, which makes the copy then, 2.5 and 1.8, 4.0 and 4.0,
    /// 7.7 and 8.0 (driver cpu, float64, from Python).
    shared_bytes: usize = 64 << 10,
    /// The most products of an eager matrix product. Nothing fuses with one, so this is only
    /// about Python's lock, which is held for some 100 µs.
    most_products: usize = 2 << 20,
    /// The most elements among which places of extremes are looked for eagerly: the steps that find them later read
    /// them twice, and take some 20 µs (driver cpu) before they begin.
    most_searched: usize = 1 << 20,
    /// The most elements of an array into which a mask writes elements that are there at once: a scatter of them would
    /// be recorded, and planned anew for each number of them. `y[m] = v` of 40,000 elements takes 250 us at once and
    /// 530 recorded, of 120,000 670 and 1,080 (driver cpu, float64, from Python, with the making of `m` and `v`).
    most_masked: usize = 128 << 10,
    /// The most numbers of index arrays that name elements eagerly along axes, broadcast, of all arrays together:
    /// `x[rows, columns]` with both broadcast takes 9.6 us at once and 12 recorded of 4096 elements, 17 and 13 of 8100,
    /// 33 and 16 of 16384, with one of them 13 and 16, 25 and 21, 48 and 32; `x[rows, columns] = v` 16 and 20 of 4096,
    /// 30 and 28 of 8192 (driver cpu, float32 read and float64 written, from Python).
    most_picked: usize = 16 << 10,
    /// The most elements of an eager sort: they take some 20 µs.
    most_sorted: usize = 2 << 10,
    /// The most elements of keys whose order is found without a driver, by comparing their ranks: argsort of 10
    /// elements takes 0.4 us so and 1.2 by a sort, of 64 1.6 and 1.7, of 256 6.6 and 3.3 (driver cpu, float32, from
    /// Python).
    most_ordered: usize = 64,
    /// The points that a chain of operations has computed eagerly, all operations together, from which on the next is
    /// recorded, for the rest of the chain to be one kernel: to compute them takes as long as to plan that. So whether
    /// a chain ends soon or goes on, it takes at most twice the time of the better way.
    chain_points: usize = 160 << 10,
    /// The fewest bytes of results that are written where they go, rather than made and then put there.
    written_there: usize = 4 << 10,
    /// The fewest elements of an operation that goes on with a chain. Fewer stay in the L1 cache from operation to
    /// operation, so that one kernel saves nothing: `x = x * 0.5 + y` takes 0.5 us an operation eagerly and 0.9 us
    /// recorded of 1000 elements, 1.0 and 1.2 of 4000, 1.5 and 1.4 of 8000 (driver cpu, float64, from Python).
    chained_elements: usize = 6 << 10,
    /// Elements of a part, on average, up to which many parts are moved together: a launch for each of them
    /// takes as long as to move so many (driver cpu, float64).
    joined_part: usize = 4 << 10,
    /// The most elements of a constant that take memory at once.
    filled: usize = 1 << 10,

    // context
    /// A base is promoted to host memory when this times the little reads or writes that it saw is more than its
    /// elements: moving all of them once costs as much then as those writes cost as launches.
    promoted_share: usize = 4 << 10,
    /// Likewise of a base that a device computed, when little of it is written: a launch takes longer there than a part
    /// of a transfer. On lavapipe a write takes 40 µs, on llvmpipe 60 to 230 µs, and 10⁶ float32 come in 1 to 5 ms.
    promoted_from_device: usize = 64 << 10,
    /// The fewest little writes, one after another, for which elements come from a device: a step of a simulation
    /// writes as many edges and corners, and would wait for the device each time.
    promoted_writes: u32 = 16,
    /// Writes into elements that came from a device after which their positions are put together.
    noted_writes: usize = 256,
    /// The most elements of a promoted base whose elements are all one number, which has to be stored once in any case.
    promoted_constant: usize = 1 << 20,
    /// The most elements that a read copies rather than to share them.
    read_copied: usize = 1 << 10,
    /// The most pending values that are charged for a read of part of one.
    charged_values: usize = 64,
    /// The most bytes of a part of a pending base that is exported by itself: they are compared with what they were at
    /// each look at the base, which takes 1 ms.
    exported_part: usize = 16 << 20,
    /// The most bytes of the pages in which its elements lie.
    exported_pages: usize = 64 << 20,
    /// Bytes from which a value's host memory is asked for before anything is computed.
    read_large: u64 = 64 << 20,

    // execute
    /// Single reads before the whole tile is fetched: about where one transfer of a tile costs less than
    /// another round trip for each element.
    single_reads: u32 = 4,

    /// The most ranges of a value that the host has written and a device is sent one by one; between more, the
    /// narrowest gaps are sent, too. Each is a call of the driver, a few microseconds of Mesa's.
    sent_ranges: usize = 32,

    // indexing
    /// Operations that take as long as to pick an element and to put one back.
    dense_picked: usize = 30,
    /// Operations that take as long as to read and to write an element beside others.
    dense_beside: usize = 4,
    /// The most values that are recorded again.
    dense_values: usize = 64,
    /// The positions of fewer elements are found sooner than recorded.
    positions_later: usize = 1 << 12,

    // memory
    /// Buffers below this size are cheap to get from the allocator.
    pooled_from: usize = 1 << 10,
    /// Pieces of pooled host memory that are asked for until a size that was not among them makes room for others. Not
    /// tuned: a step that a program does every few hundred operations keeps its memory.
    pool_asked: u64 = 1024,
    /// Buffers from this size on begin at places of pages that differ from one to the next; the allocator gives smaller
    /// ones different places anyway. `b[1:-1] = a[:-2]` of 96 KB takes 50 us where both begin at one place, and 3.5
    /// otherwise (AMD EPYC).
    placed_from: usize = 64 << 10,
    /// Buffers from this size on are mapped by themselves, in huge pages where the system has them.
    mapped_from: usize = 4 << 20,

    // blocks
    /// The most bytes that a device's pool keeps.
    pool_bytes: u64 = 256 << 20,
    /// The most blocks that a device's pool keeps.
    pool_blocks: usize = 256,
    /// The most flushes for which a block is kept unused.
    pool_flushes: u64 = 16,
    /// Bytes from which memory is imported, and begins at a page. On a device that is the host's processor it pays from
    /// some pages on; others have to pin each page first.
    imported_from: usize = 1 << 20,
    /// Uses for each block after which the order is no longer worth keeping: making it anew costs less than
    /// they did.
    victims_idle: usize = 8,
    /// Evicted blocks that are remembered for each one on the device.
    reuses_remembered: usize = 64,
    /// After so many soon returns in a row the long interval before them counts no more.
    reuse_forgets: u8 = 4,

    /// Launches go over so many times the bytes that left a device for lack of room before it is tried again whether
    /// there is: it costs a tenth of their time at most where a byte that leaves takes as long as one in a launch. Not
    /// measured on hardware; a stereo matching with 8 MiB of room (driver cpu) tries it once a round of 300 launches.
    shortages_repaid: u64 = 8,

    /// The most elements of a tile of an external value, and of values computed from it: little enough for many of them
    /// to be in memory, and to be in a cache when they are computed with; a launch takes little time beside it.
    streamed_tile: usize = 1 << 21,
    /// Elements that lie outside and may be read although few of them are wanted.
    streamed_least: usize = 1 << 16,
    /// The most elements of a tile of a reduction's step that reads rows of these: a few hundred megabytes are read
    /// before an evaluation may pause.
    streamed_reduction: usize = 1 << 18,
    /// The most of another, which would read all rows again for each tile.
    streamed_across: usize = 1 << 24,
    /// The bytes that were read from outside and stay in memory, unless a limit is given.
    read_ahead: u64 = 256 << 20,

    // graph
    /// How many pending values are looked at while recording, where time is short.
    bounds_while_recording: u32 = 64,
    /// How many reductions are remembered: a program asks for as many statistics of an array one after another,
    /// each of a few steps, and they are looked at whenever one is wanted.
    reductions_remembered: usize = 64,
    /// Looking at an entry takes some ten nanoseconds, a launch some ten microseconds.
    living_looked_at: usize = 4096,
    /// Points that take as long as to plan and to launch the operations that compute them: a long chain costs
    /// about as much for few points as for so many (driver cpu, 500 operations on float64).
    launch_points: usize = 1 << 10,
    /// Reading one in so many elements of a value, or fewer, is no reason to compute all of them: later reads of others
    /// compute at most as many again.
    narrow_part: usize = 2,
    /// The most walks over scattered positions that a value remembers.
    scattered_walks: usize = 16,

    // record
    /// The most little writes into a pending value, one after another, that become joins. Writes of edges are as many;
    /// a program that writes more goes through a value piece by piece, and each of its writes would be another layer to
    /// walk through: 500 rows and columns took memory without end (NPBench's `correlation`).
    joined_writes: u32 = 8,
    /// The most results of a product of two matrices that is recorded as a reduction for a device, besides those of
    /// vectors. A tile of a library's has a thousand, so few invocations would have all the work: 8 by 8 sums of 1000
    /// products take 1.5 ms so, and 20 ms by tiles (Vulkan, Mesa's lavapipe on two cores).
    few_results: usize = 256,
    /// The most points of a reduction that are combined each by itself: a kernel has a load for each of them, and with
    /// twice as many it is compiled for 10 s by Mesa's lavapipe.
    combined_points: usize = gpupy_core::ir::REDUCE_CHUNK / 2,
    /// The longest rows all of whose elements are compared with the extreme. Of longer ones only those of the
    /// first chunk that has it are.
    short_row: usize = 2 * gpupy_core::ir::REDUCE_CHUNK,

    /// The pending operations behind a written value from which on it is evaluated while the program goes on: a heat
    /// equation of 258 by 258 float32, 1200 steps that write to slices, takes 100, 100, 130, 200 and 340 ms with 512,
    /// 1024, 2048, 4096 and any number of them (driver cpu, two cores with work beside them; NumPy 380): long flushes
    /// are seldom known from earlier ones, and what is planned early is no longer in a cache when it is done.
    flush_operations: usize = 1 << 10,

    /// The longest that an evaluation goes on after it planned anew, in slices: a signal may wait for its answer. Not
    /// measured.
    slices_after_planning: u32 = 64,

    /// The most values that are recorded again for a part: what lies below them is computed whole where it does not fit
    /// one kernel.
    narrowed_nodes: usize = 1 << 12,
    /// The most elements of a pending value that may be stored where an operation reads a little of it: more than an
    /// int32 counts are gigabytes, for which there is mostly no room, and parts of maps and writes can be recorded by
    /// themselves.
    stored_for_parts: usize = i32::MAX as usize,

    // schedule
    /// The most parts of a join that are told apart at each point: of more, a walk is cut, which costs a launch
    /// for each.
    chained_parts: usize = 8,
    /// Of so many elements that others want as they are, one at most may be left around a write, for all to be
    /// copied in the launch that writes: edges are little of an image.
    left_part: usize = 8,
    /// The most components of a point that one launch computes side by side.
    most_components: usize = 4,
    /// The fewest operations that all components of a point share for them to be computed side by side: of float64 it
    /// takes as long with four, of float32 with two to three (driver cpu, 10^6 points of two to four components).
    shared_by_components: u32 = 6,
    /// The most joins one in another; a longer chain is stored on the way.
    longest_chain: usize = 8,
    /// How often the points of a reduction may read a joined value as it is: what is read more often is stored. Sums of
    /// windows of 5 elements over a wrapped margin take 1.3 ms if it is stored, and 122 if not (1000² float32, cpu).
    read_over: usize = 2,
    /// The most numbers that are computed for a coordinate that goes through joins: five rotations. Rows that are
    /// stacked anew eight times were 16 million.
    most_numbers: usize = 256,
    /// The commands after which a window of a flush ends, and is run before more is compiled.
    window_commands: usize = 1 << 12,
    /// The most pending values beside those of a flush that it may compute, and on the way to them.
    most_others: usize = 256,
    /// So many of them a flush of few values may have: 400 results of a loop that are read one by one take 12 ms with
    /// 16, and 45 with 256.
    fewest_others: usize = 16,
    /// The fewest windows into which a flush is cut that repeats itself: the first two are unlike the others, and a cut
    /// may cost a launch. With 16, a loop's last 120 values were planned 1,500 times each (a double buffer by `out=`).
    fewest_windows: usize = 4,
    /// The most lengths that are tried as a turn's, as what a turn does several times comes again sooner than the turn.
    periods_tried: usize = 4,
    /// The part of all values, one in so many, that has to come again after such a length.
    period_part: usize = 16,
    /// The open nodes of a walk are counted again when one in so many of them was added: so each is counted some times.
    open_part: usize = 4,
    /// The least values of a window, rounded up to whole turns. With 64, the first run of the wave equation by slices
    /// takes twice as long as with 16, and has 1.4 times as many launches; with 8, shorter turns have more.
    window_nodes: usize = 16,
    /// The most values that an automatic flush computes because something else holds them: 80 steps of a Newton
    /// fractal are 2,900 operations with them, 67,785 without.
    held_values: usize = 8,
    /// The least values between two that such a flush computes; what is nearer is computed again by the next one.
    far_nodes: usize = 32,
    /// The most values of a turn of a loop that is found in a flush.
    most_of_turn: usize = 1024,
    /// How often an evaluation is compiled anew because something else holds what a command was to write, before it
    /// writes nothing in place.
    takes_tried: usize = 2,
    /// The most steps that are found ahead of the one that becomes commands.
    ordered_steps: usize = 64,
    /// The most nodes of their walks, and of those that wait.
    ordered_nodes: usize = 1 << 12,
    /// The most values that a flush is asked for besides the first: the graph that it examines grows with them.
    flushed_together: usize = 32,
    /// Operations between two looks that a loop's body may have.
    loop_body: usize = 64,
    /// Nodes of a walk in which it is looked for an operand to take. In a larger one, looking costs more than
    /// it saves.
    in_place_nodes: usize = 1024,
    /// The most functions that a device remembers how to do: a program that makes ever new ones does not keep them all.
    kept_functions: usize = 1024,
    /// The most words of all that is kept of one kind.
    kept_words: usize = 1 << 18,
    /// The least operations of a value that is stored because something holds it, a reduction computes it on the way,
    /// and it moves elements: `while abs(new - old).max() > e` goes on with `new`, which each step reads in several
    /// places.
    kept_weight: u32 = 4,
    /// The least operations behind a held value of which little is read that is stored for that.
    much_pending: u32 = 64,
    /// The points of an operation that take as long to compute as the operation to plan, about a microsecond.
    planned_points: usize = 1000,
    /// Operations that may be computed again for another access to the same value, rather than storing it: about the
    /// cost of a load and a launch.
    recompute: u32 = 16,
    /// Operations that take much longer than to store an element and to load it.
    costly: u32 = 48,
    /// Operations that a kernel may have more, so that accesses to a value that lie apart are computed by it.
    most_apart: u32 = 256,
    /// Such accesses that are computed by a kernel whatever the size of the value, as those of the components
    /// of vectors: they spare it the launch that would store the value.
    few_apart: usize = crate::graph::tree_lanes::FEW,
    /// The elements of the smallest value for which a kernel has more operations for many accesses: a smaller
    /// one lies in a cache.
    apart_from: usize = 1 << 16,
    /// Operations that are recomputed rather than to store results of external values: 10 ns, for which a disk writes
    /// as much.
    streamed: u32 = 512,
    /// The cost of storing an element in new memory, and of reading it from there: 0.65 ns a float32 and 1.5 ns a
    /// float64 on two cores of an AMD EPYC, where an operation takes 0.02 ns.
    store: u64 = 64,
    /// The cost of loading an element that is read several times, and so mostly from a cache: less than 0.1 ns there,
    /// by one measurement.
    load: u64 = 4,
    /// The cost of a launch with all that leads to it, in nanoseconds: that of OpenGL and Vulkan on Mesa, which is
    /// assumed of every device.
    launch: f64 = 20_000.0,
    /// The cost of one operation on one element on the host driver, in nanoseconds: the distance map of 50 points, 350
    /// operations, takes 6.4 ns an element by AVX-512 code on two cores.
    on_host: f64 = 0.02,
    /// As above, on other devices, which are taken for GPUs of 10^12 operations a second, which small ones reach. A
    /// rasteriser in software is taken for one, too, so that its kernels are those that a GPU gets.
    on_device: f64 = 0.001,
    /// As above, on a rasteriser in software, where it is asked which device computes a value: 8.8 ns an element for
    /// that map by Mesa's llvmpipe.
    on_rasteriser: f64 = 0.025,
    /// The cost of reading few pending elements as a value of their own, to the element in the reader's hand, in
    /// nanoseconds: 6 to 18 us on the host driver.
    read_on_host: f64 = 10_000.0,
    /// As above, on other devices: not measured on hardware, 100 to 150 us by OpenGL and Vulkan on Mesa.
    read_on_device: f64 = 40_000.0,
    /// The cost of moving a byte from a device, in nanoseconds.
    moved_byte: f64 = 0.1,
    /// The cost of planning a node of a walk, in nanoseconds: chains of 200 and 800 operations take 0.7 us each.
    planned_node: f64 = 700.0,
    /// The cost of compiling a kernel, in nanoseconds, and of each of its operations: machine code of 2 to 800 takes 60
    /// to 500 us, Mesa's GLSL 80 to 4000 ms, and its SPIR-V 20 to 550 ms.
    compiled_on_host: f64 = 60_000.0,
    /// As above, on devices.
    compiled_on_device: f64 = 20_000_000.0,
    /// As above, an operation.
    compiled_node_on_host: f64 = 200.0,
    /// As above, an operation on devices.
    compiled_node_on_device: f64 = 500_000.0,
    /// Elements of a piece of a map that is stored for a reduction to read. In host memory it is still in a
    /// cache when it is read: sums of an outer product of 8000 by 8000 take 26 to 34 ms of two cores' time with
    /// pieces of 2^16 to 2^20 float32, and 55 with 2^22 or with all of it (an AMD EPYC with 32 MiB); the most
    /// of these has the fewest launches.
    piece_in_cache: usize = 1 << 20,
    /// Elsewhere so many that a launch takes little time beside it. Mesa's rasterisers take as long with any;
    /// not measured on hardware.
    piece_on_device: usize = 1 << 22,
    /// The bytes that the kernels of a strip go over. Rows of 4096² float32 that are normalised take 0.86,
    /// 0.71, 0.76 and 0.73 of the time without strips, with strips of 4, 8, 16 and 32 MiB, on two cores of an
    /// AMD EPYC with a cache of 32 MiB and with work beside them; with 1 MiB 1.5 times as long, as each launch
    /// is shared among threads. Where they have all of that machine's memory bandwidth, 0.8 to 1.0 (variances,
    /// which read twice, 1.0 to 1.1: these have no strips).
    strip: usize = 1 << 23,
    /// The bytes that must be read again for strips to pay: below, most of them are still in that cache. Rows
    /// of 2048² take as long with strips as without.
    read_again: usize = 1 << 26,
    /// The fewest strips, and the fewest rows of one: with fewer strips, rows are too long to be in a cache.
    fewest_strips: usize = 2,
    /// The most kernels that share strips, chosen: more wait for less and less of the same rows. A stereo matching of
    /// 1400 by 1400 has 17.
    most_striped: usize = 32,
    /// The least points of the first kernel of strips: 16 of these that read a float64 would read enough.
    striped_points: usize = 1 << 17,
    /// The most pending values of a flush that is known again. Motion estimation of 512 by 512 float32 has 1,400, and
    /// takes 26 ms, and 36 where it is planned each time (cpu; 160 and 210 on gl, 90 and 127 on vulkan, by Mesa).
    replayed_values: usize = 4096,
    /// The most values that are looked at below a reduction; one with more is alone. A loop of 1000 turns, each a sum
    /// of the results of all turns before it, looks at them for nothing: 16 of them take a tenth of its time, 64 a
    /// third.
    together_below: usize = 16,
    /// The most attempts in sequence to compute a tile that find nothing new that it needs: blocks may be evicted or
    /// lost between their computation and their use, but not always.
    attempts_in_vain: usize = 8,
    /// How often an evaluation is compiled anew, one time after another, without anything being computed: a refused
    /// program is cut in halves until it is a single operation.
    idle_attempts: usize = 100,
    /// The most boxes of one tile of anything but a join: with more, joins are computed first.
    most_boxes: usize = 256,
    /// A source with less than this part of a tile's elements is computed by itself rather than to copy the
    /// tile.
    assigned_part: usize = 4,
    /// The least elements of a tile of which parts are copied: a launch for each costs as much as to copy so
    /// many.
    assigned_least: usize = 1 << 15,
    /// The most values that there is room for before they are seen.
    likely_nodes: usize = 1 << 10,
    /// The most nodes of a walk that is fused with siblings that were not asked for.
    siblings_nodes: usize = 2048,
    /// The most bytes of needs of one step that are computed together, before the first is read, and of what these
    /// need: they are still in a cache then.
    fellow_bytes: u64 = 8 << 20,
    /// The most of these values, which are more than a launch has destinations.
    most_fellows: usize = 32,
    /// The most needs of a step that are looked at for each of them: a value that is read in many places is as many.
    fellows_looked_at: usize = 1 << 9,
    /// The fewest further kernels of a step for which a value that each of them would compute at many places is stored.
    /// With one, motion estimation of 512 by 512 takes 11 more launches on cpu and Vulkan, in the same time.
    fellow_kernels: usize = 2,
    /// The most values below a need of a step among which one is looked for that another of these needs reads too.
    fellow_looked_at: usize = 64,
    /// The most operations of a kernel that computes several needs of a step: more take longer to compile than the
    /// launches that they spare.
    fellow_operations: usize = 320,

    // drivers
    /// The work of a launch, operations times points, from which on a group of devices shares it before anything was
    /// measured: a millisecond of a software device.
    group_work: usize = 1 << 20,
    /// What it costs to share a launch, in nanoseconds: a thread that starts, and the wait for the slowest (two virtual
    /// cores of an AMD EPYC).
    group_launch: f64 = 60_000.0,
    /// Nanoseconds of a byte that is moved to a member of a group, before that was measured: 4 GB/s.
    group_byte: f64 = 0.25,
    /// Bytes of a transfer from which on it is measured: less takes mostly the call.
    group_measured: usize = 64 << 10,
    /// Bytes that are moved at once from one member to another.
    group_moved: usize = 4 << 20,
    /// Bytes of a block from which on each member of a group has room for it at once, as it will be shared.
    group_block: usize = 256 << 10,
    /// How far a share may be off what was measured before it changes: a change has elements copied.
    group_tolerance: f64 = 0.08,
    /// The most programs whose pace is remembered.
    group_programs: usize = 1 << 10,
    /// The most programs whose rewriting without bfloat16 is remembered.
    lowered_programs: usize = 1 << 10,
}
