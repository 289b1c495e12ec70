//! Strip-mining: consecutive kernels are launched for a few rows at a time, while these are in a cache.
//!
//! Rows that are scaled by their own mean and deviation are read by three kernels. A device that works in host memory
//! reads them from there three times if they exceed its cache. If all kernels are launched for some rows before the
//! first is launched for the next rows, they are read once (loop tiling across loops).
//!
//! Owns [`Strips`]: how many rows there are, and how many points of each kernel's first axis belong to one. Invariants:
//! the kernels are the same programs over fewer points, and each point is computed once, so bits are the same; a kernel
//! reads no more of an earlier kernel's result than that has computed for the rows so far.
//!
//! Not here: which results take the memory of a strip (`contraction.rs`), which kernels follow each other
//! (`ordering.rs`), their launches (`execute/strip_launches.rs`), the cost of
//! a strip (`cost.rs`).

use crate::blocks::cache::BlockPart;
use crate::graph::value::{Value, ValueId};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::cost;
use crate::schedule::program::kernel::KernelCode;
use crate::schedule::steps::contraction::{contracted, staying};
use crate::schedule::steps::row_kernel::{RowKernel, loads};
use crate::thresholds::T;
use gpupy_core::driver::{Access, Capabilities};
use gpupy_core::ir::{AccessKind, Form, Inst};
use gpupy_core::op::Op;
use gpupy_core::shape::size_of;
use smallvec::SmallVec;
use std::ops::Range;

/// How kernels are launched strip by strip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strips {
    rows: usize,
    count: usize,
    kernels: Vec<StripedKernel>,
}

/// How one kernel is launched strip by strip.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StripedKernel {
    /// The points of its first axis that are one row.
    points: usize,
    /// The accesses by which it reads contracted results.
    staying: SmallVec<[usize; 8]>,
    /// Whether its results are contracted.
    contracted: SmallVec<[bool; 2]>,
}

impl Strips {
    /// How the first of these kernels are launched strip by strip, if that pays: as many as read an operand or result
    /// of an earlier one. `is_last` tells whether only the first so many kernels read a value.
    pub fn of<'k>(
        caps: &Capabilities,
        mut kernels: impl Iterator<Item = RowKernel<'k>>,
        is_last: impl Fn(&Value, usize) -> bool,
    ) -> Option<Strips> {
        // On other devices the contents of caches are not known.
        let first = kernels
            .next()
            .filter(|first| caps.host_memory && cost::is_for_strips(&first.kernel.space))?;
        let kernels = std::iter::once(first).chain(kernels);
        let mut group: SmallVec<[RowKernel<'k>; 8]> = SmallVec::new();
        let mut rows = 0;
        for next in kernels.take(T.most_striped) {
            if !has_rows(&next) {
                break;
            }
            let shared = gcd(rows, next.kernel.space[0]);
            group.push(next);
            if shared < T.fewest_strips
                || !group.iter().all(|given| in_order(given, &group, shared))
            {
                group.pop();
                break;
            }
            rows = shared;
        }
        // Kernels behind the last that reads something again gain nothing.
        while let Some(last) = group.last()
            && group.len() > 1
            && !reads_again(last, &group[..group.len() - 1])
        {
            group.pop();
        }
        if group.len() < 2 {
            return None;
        }
        let rows = group.iter().fold(0, |rows, given| gcd(rows, given.kernel.space[0]));
        let contracted = contracted(&group, rows, |value| is_last(value, group.len()));
        let touched = TouchedBytes::of(&group, &contracted);
        let count = cost::strips(touched.bytes, touched.again, touched.in_passing, rows)?;
        let kernels = group.iter().map(|given| StripedKernel {
            points: given.kernel.space[0] / rows,
            staying: staying(given, &contracted),
            contracted: given
                .tiles
                .iter()
                .map(|(value, _)| contracted.contains(&value.id()))
                .collect(),
        });
        Some(Strips { rows, count, kernels: kernels.collect() })
    }

    /// How many kernels are launched so.
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }

    /// The elements that the block of a kernel's result has, where it is contracted: those of the longest strip.
    pub fn contracted(&self, number: usize, dest: usize, tile: &Tile) -> Option<Range<usize>> {
        let (start, row) = (tile.range.start, tile.range.len() / self.rows);
        let len = self.rows.div_ceil(self.count) * row;
        self.kernels[number].contracted[dest].then_some(start..start + len)
    }

    /// How many strips there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rows of each strip, one strip after another.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let (rows, count) = (self.rows as u128, self.count as u128);
        let start = move |strip: u128| (strip * rows / count) as usize;
        (0..count).map(move |strip| start(strip)..start(strip + 1))
    }

    /// A kernel's code for these rows.
    pub fn code(&self, number: usize, code: &KernelCode, rows: Range<usize>) -> KernelCode {
        let StripedKernel { points, staying, contracted } = &self.kernels[number];
        let first = (rows.start * points) as i64;
        let moved = |access: &Access, stays: bool| {
            let mut access = access.clone();
            access.offset += if stays { 0 } else { access.strides[0] * first };
            access
        };
        let mut space = code.space.clone();
        space[0] = rows.len() * points;
        let accesses = code.accesses.iter().enumerate();
        let accesses = accesses.map(|(k, access)| moved(access, staying.contains(&k)));
        let dests = code.dests.iter().zip(contracted).map(|(dest, stays)| moved(dest, *stays));
        code.over(space, accesses.collect(), dests.collect())
    }
}

/// Whether a kernel has rows, and gives them one after another.
fn has_rows(given: &RowKernel<'_>) -> bool {
    let (kernel, form) = (given.kernel, given.kernel.program.form);
    let least = match form {
        Form::Map => 1,
        // Its last axis is combined.
        Form::Reduce { .. } => 2,
        Form::Scan { .. } | Form::Sort | Form::MatMul | Form::Routine { .. } => return false,
    };
    let out = form.out_shape(&kernel.space);
    let is_whole =
        |dest: &Access| dest.offset == 0 && access::kind(dest, &out) == AccessKind::Contiguous;
    kernel.space.len() >= least
        && kernel.space[0] >= T.fewest_strips
        && kernel.dests.iter().all(is_whole)
        && given.tiles.iter().all(|(_, tile)| size_of(&out) == tile.range.len())
}

/// Whether a kernel reads only results of its group for the same rows or earlier ones.
fn in_order(reader: &RowKernel<'_>, group: &[RowKernel<'_>], rows: usize) -> bool {
    let space = &reader.kernel.space;
    let points = space[0] / rows;
    reader.kernel.operands.iter().enumerate().all(|(number, (value, part))| {
        let Some(written) = group.iter().find_map(|given| given.tile_of(value.id())) else {
            return true;
        };
        let row = written.range.len() / rows;
        let reads_rows = |access: &Access| {
            // The end of the elements read for `rows` rows grows with them, as that of the results does.
            let (first, others) = (access.strides[0], &access.strides[1..]);
            let far = others.iter().zip(&space[1..]).map(|(s, n)| (*s).max(0) * (*n as i64 - 1));
            let far = access.offset + far.sum::<i64>();
            let behind = |rows: usize| far + first * ((rows * points) as i64 - 1) + 1;
            first >= 0 && [1, rows].iter().all(|rows| behind(*rows) <= (rows * row) as i64)
        };
        *part == BlockPart::Tile(written.number)
            && loads(reader.kernel, number).all(|inst| {
                inst.op == Op::Load && reads_rows(&reader.kernel.accesses[inst.args[1] as usize])
            })
    })
}

/// Whether a kernel reads rows that one of these reads or gives.
fn reads_again(given: &RowKernel<'_>, before: &[RowKernel<'_>]) -> bool {
    rows_of(given).any(|(value, _)| {
        before.iter().any(|other| {
            other.tile_of(value).is_some() || rows_of(other).any(|(known, _)| known == value)
        })
    })
}

/// The values that a kernel reads row by row, each with its bytes.
fn rows_of<'k>(given: &RowKernel<'k>) -> impl Iterator<Item = (ValueId, usize)> + use<'k> {
    let kernel = given.kernel;
    kernel.operands.iter().enumerate().filter_map(move |(number, (value, _))| {
        let bytes = |inst: &Inst| {
            let access = (inst.op == Op::Load).then(|| &kernel.accesses[inst.args[1] as usize])?;
            let reach = access::reach(access, &kernel.space).len();
            (access.strides[0] != 0).then(|| reach * value.dtype().size())
        };
        Some((value.id(), loads(kernel, number).filter_map(bytes).max()?))
    })
}

/// The bytes that a group of kernels goes over.
struct TouchedBytes {
    /// Each once.
    bytes: usize,
    /// Those that are read again, of values that three kernels read or give; and those of contracted results twice,
    /// which are neither written to memory nor read there.
    again: usize,
    /// Those of other results that the group gives and reads.
    in_passing: usize,
}

impl TouchedBytes {
    fn of(group: &[RowKernel<'_>], contracted: &[ValueId]) -> TouchedBytes {
        // Each value with its bytes, and how many kernels go over it.
        let mut values: SmallVec<[(ValueId, usize, usize); 16]> = SmallVec::new();
        let mut touch = |value, bytes| match values.iter_mut().find(|known| known.0 == value) {
            Some((_, _, times)) => *times += 1,
            None => values.push((value, bytes, 1)),
        };
        let mut in_passing = 0;
        for given in group {
            rows_of(given).for_each(|(value, bytes)| touch(value, bytes));
            for (given, tile) in &given.tiles {
                let bytes = tile.range.len() * given.dtype().size();
                touch(given.id(), bytes);
                let is_read = |other: &RowKernel<'_>| {
                    other.kernel.operands.iter().any(|(value, _)| value.id() == given.id())
                };
                let passes = !contracted.contains(&given.id()) && group.iter().any(is_read);
                in_passing += if passes { bytes } else { 0 };
            }
        }
        let again = values.iter().map(|(value, bytes, times)| match times {
            _ if contracted.contains(value) => 2 * bytes,
            0..=2 => 0,
            _ => bytes * (times - 1),
        });
        TouchedBytes {
            bytes: values.iter().map(|(_, bytes, _)| bytes).sum(),
            again: again.sum(),
            in_passing,
        }
    }
}

/// The greatest common divisor; of 0 and a number, the number.
fn gcd(a: usize, b: usize) -> usize {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::schedule::program::kernel::Kernel;
    use gpupy_core::ir::Builder;
    use gpupy_core::shape::{Shape, contiguous_strides};
    use gpupy_core::{DType, Scalar};
    use proptest::prelude::*;
    use smallvec::smallvec;
    use std::sync::Arc;

    /// A kernel over a space that reads values, each by an access, and gives another one whole.
    struct StripValue {
        kernel: Kernel,
        value: Value,
        tile: Tile,
    }

    fn value(len: usize) -> Value {
        Value::constant(&[len], Scalar::f32(0.0))
    }

    fn made(form: Form, space: &[usize], reads: &[(&Value, Access)]) -> StripValue {
        let mut builder = Builder::new(form, space.len() as u32);
        let (mut given, mut accesses) = (None, Vec::<Access>::new());
        for (_, at) in reads {
            let operand = builder.operand(DType::F32);
            // Equal accesses are one.
            let known = accesses.iter().position(|known| known == at);
            let slot = known.map_or_else(|| builder.access(access::kind(at, space)), |k| k as u32);
            if known.is_none() {
                accesses.push(at.clone());
            }
            let loaded = builder.load(operand, slot);
            given = Some(given.map_or(loaded, |other| builder.op(Op::Add, &[other, loaded])));
        }
        let mut given = given.unwrap();
        if let Form::Reduce { op } = form {
            given = builder.reduce_by(op, given);
        }
        builder.store(given);
        let out = form.out_shape(space);
        let dests = vec![access::access(0, &contiguous_strides(&out))];
        let code = KernelCode::new(builder.finish(), Shape::from(space), accesses, dests);
        let operands =
            reads.iter().map(|(value, _)| ((*value).clone(), BlockPart::Tile(0))).collect();
        let len = size_of(&out);
        let tile = crate::memory::tiling::Tiling::new(&[len], len).tile(0);
        StripValue {
            kernel: Kernel { code: Arc::new(code), operands, params: Vec::new() },
            value: value(len),
            tile,
        }
    }

    fn given(made: &StripValue) -> RowKernel<'_> {
        RowKernel { kernel: &made.kernel, tiles: smallvec![(&made.value, &made.tile)] }
    }

    fn strips(made: &[&StripValue]) -> Option<Strips> {
        strips_and_last(made, |_, _| false)
    }

    fn strips_and_last(
        made: &[&StripValue],
        is_last: impl Fn(&Value, usize) -> bool,
    ) -> Option<Strips> {
        let caps = Capabilities { host_memory: true, ..Capabilities::default() };
        Strips::of(&caps, made.iter().map(|made| given(made)), is_last)
    }

    fn points(strips: &Strips) -> Vec<usize> {
        strips.kernels.iter().map(|kernel| kernel.points).collect()
    }

    const SUM: Form = Form::Reduce { op: Op::Add };

    /// Sums of rows, sums of rows less these, and the rows less these.
    fn centred(rows: usize, columns: usize) -> [StripValue; 3] {
        let x = value(rows * columns);
        let at = access::access(0, &[columns as isize, 1]);
        let sums = made(SUM, &[rows, columns], &[(&x, at.clone())]);
        let given = sums.tile.range.len() / rows;
        let of_row = access::access(0, &[given as isize, 0]);
        let both = [(&x, at), (&sums.value, of_row)];
        let squares = made(SUM, &[rows, columns], &both);
        let less = made(Form::Map, &[rows, columns], &both);
        [sums, squares, less]
    }

    #[test]
    fn rows_that_three_kernels_read_are_read_in_strips() {
        let [sums, squares, less] = centred(20_000, 1000);
        let found = strips(&[&sums, &squares, &less]).unwrap();
        assert_eq!((found.rows, &points(&found)[..]), (20_000, &[1, 1, 1][..]));
        // Strips follow each other, and are all rows.
        let ranges: Vec<Range<usize>> = found.ranges().collect();
        assert!(ranges.iter().all(|rows| rows.len() >= T.fewest_strips));
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, 20_000));
        // A following kernel that reads none of them is launched alone.
        let other = value(20_000);
        let apart = made(Form::Map, &[20_000], &[(&other, access::access(0, &[1]))]);
        assert_eq!(strips(&[&sums, &squares, &less, &apart]).unwrap().kernels(), 3);
    }

    #[test]
    fn what_is_small_or_read_twice_or_needs_later_rows_is_not() {
        let [sums, squares, less] = centred(2000, 1000);
        assert_eq!(strips(&[&sums, &squares, &less]), None);
        let [sums, squares, less] = centred(20_000, 1000);
        assert_eq!(strips(&[&sums]), None);
        assert_eq!(strips(&[&sums, &less]), None);
        // Each row less the sum of the last one.
        let x = sums.kernel.operands[0].0.clone();
        let at = access::access(0, &[1000, 1]);
        let last = access::access(sums.tile.range.len() as isize - 1, &[0, 0]);
        let all = made(Form::Map, &[20_000, 1000], &[(&x, at), (&sums.value, last)]);
        assert_eq!(strips(&[&sums, &all, &squares, &less]), None);
        // Sums of all.
        let row = || made(SUM, &[20_000_000], &[(&x, access::access(0, &[1]))]);
        assert_eq!(strips(&[&row(), &row(), &row()]), None);
    }

    #[test]
    fn what_is_given_in_passing_is_little() {
        // A copy of everything would be there until the last strip.
        let x = value(20_000_000);
        let at = access::access(0, &[1]);
        let copy = made(Form::Map, &[20_000_000], &[(&x, at.clone())]);
        let again =
            || made(Form::Map, &[20_000_000], &[(&copy.value, at.clone()), (&x, at.clone())]);
        assert_eq!(strips(&[&copy, &again(), &again()]), None);
    }

    #[test]
    fn what_only_a_strip_reads_takes_the_memory_of_one() {
        let x = value(20_000_000);
        let (at, beside) = (access::access(0, &[1000, 1]), access::access(1, &[1000, 1]));
        let first = made(Form::Map, &[20_000, 1000], &[(&x, at.clone())]);
        let reads = |others: &[(&Value, Access)]| {
            let own = [(&first.value, at.clone()), (&first.value, beside.clone())];
            made(Form::Map, &[20_000, 999], &[&own[..], others].concat())
        };
        let sums = reads(&[]);
        let is_first = |value: &Value, kernels| kernels == 2 && value.id() == first.value.id();
        let found = strips_and_last(&[&first, &sums], is_first).unwrap();
        let longest = found.ranges().map(|rows| rows.len()).max().unwrap();
        assert_eq!(found.contracted(0, 0, &first.tile), Some(0..longest * 1000));
        assert_eq!(found.contracted(1, 0, &sums.tile), None);
        // Each strip writes and reads the same elements of the block, and goes on elsewhere.
        for rows in found.ranges() {
            let moved = rows.start as i64;
            let code = found.code(0, &first.kernel.code, rows.clone());
            assert_eq!((code.accesses[0].offset, code.dests[0].offset), (1000 * moved, 0));
            let code = found.code(1, &sums.kernel.code, rows);
            let offsets: Vec<i64> = code.accesses.iter().map(|access| access.offset).collect();
            assert_eq!((&offsets[..], code.dests[0].offset), (&[0, 1][..], 999 * moved));
        }
        // Something else reads it; a strip reads the row before; one access serves it and what moves on.
        assert_eq!(strips(&[&first, &sums]), None);
        let before = [(&first.value, access::access(0, &[1000, 1]))];
        let of_two = made(Form::Map, &[19_999, 1000], &before);
        assert_eq!(strips_and_last(&[&first, &of_two], is_first), None);
        let beside_x = reads(&[(&x, at.clone())]);
        assert_eq!(strips_and_last(&[&first, &beside_x], is_first), None);
    }

    #[test]
    fn kernels_whose_axes_are_merged_have_rows_of_many_points() {
        let [sums, squares, _] = centred(18_000, 1000);
        let x = sums.kernel.operands[0].0.clone();
        let flat = made(Form::Map, &[18_000_000], &[(&x, access::access(0, &[1]))]);
        let found = strips(&[&sums, &squares, &flat]).unwrap();
        assert_eq!((found.rows, &points(&found)[..]), (18_000, &[1, 1, 1000][..]));
        let code = found.code(2, &flat.kernel.code, 100..250);
        assert_eq!((&code.space[..], code.accesses[0].offset), (&[150_000][..], 100_000));
        assert_eq!(code.dests[0].offset, 100_000);
    }

    proptest! {
        /// A kernel that may be launched strip by strip reads, of each strip, nothing that is not there.
        #[test]
        fn strips_read_what_is_there(
            rows in 2usize..7,
            inner in 1usize..4,
            width in 1usize..4,
            offset in 0usize..6,
            strides in (-3isize..5, -2isize..3),
        ) {
            let (len, x) = (rows * width, value(64));
            let writer = made(Form::Map, &[len], &[(&x, access::access(0, &[1]))]);
            let space = [rows, inner];
            let at = access::access(offset as isize, &[strides.0, strides.1]);
            let position = |i: usize, j: usize| offset as isize + strides.0 * i as isize + strides.1 * j as isize;
            let all = || (0..rows).flat_map(|i| (0..inner).map(move |j| (i, j)));
            prop_assume!(all().all(|(i, j)| (0..len as isize).contains(&position(i, j))));
            let reader = made(Form::Map, &space, &[(&writer.value, at)]);
            let found = in_order(&given(&reader), &[given(&writer)], rows);
            let is_there = all().all(|(i, j)| position(i, j) < ((i + 1) * width) as isize);
            prop_assert!(!found || is_there, "{space:?} {offset} {strides:?}");
            // Rows that are read as they are given are found to be.
            let is_row = strides.0 == width as isize && all().all(|(i, j)| position(i, j) / width as isize == i as isize);
            prop_assert!(found || !is_row || strides.0 < 0);
        }
    }
}
