//! Loads through every kind of access, index values, and gathers.

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::Outcome;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "views";

/// A view: the operand, the shape, the offset and the strides.
type View = (&'static str, &'static [usize], i64, &'static [i64]);

const VIEWS: [View; 20] = [
    ("all of it", &[1000], 0, &[1]),
    ("one element", &[1], 0, &[1]),
    ("three elements", &[3], 0, &[1]),
    ("a slice at an even offset", &[500], 4, &[1]),
    ("a slice at an odd offset", &[501], 7, &[1]),
    ("one row", &[1, 77], 0, &[77, 1]),
    ("a matrix whose rows are no multiple of four", &[31, 17], 0, &[17, 1]),
    ("a slice of a matrix", &[10, 13], 35, &[17, 1]),
    ("every second element", &[400], 1, &[2]),
    ("backwards", &[600], 599, &[-1]),
    ("backwards in steps of three", &[200], 598, &[-3]),
    ("transposed", &[20, 30], 0, &[1, 20]),
    ("rows backwards", &[20, 30], 570, &[-30, 1]),
    ("a row over all rows", &[20, 30], 5, &[0, 1]),
    ("a column over all columns", &[20, 30], 3, &[1, 0]),
    ("one element over all", &[20, 30], 11, &[0, 0]),
    ("a diagonal", &[25], 0, &[26]),
    // So large that a driver may give rows of 63 elements the room of 64, where what is read is four places apart.
    ("every fourth element of rows", &[1200, 16], 0, &[63, 4]),
    ("three axes, permuted", &[4, 5, 6], 0, &[6, 24, 1]),
    ("five axes, mixed", &[3, 2, 4, 1, 5], 119, &[-40, 0, -10, 7, -1]),
];

pub fn run(suite: &mut Suite<'_>) {
    for view in VIEWS {
        for dtype in DTYPES {
            suite.case(GROUP, &format!("{dtype}, {}", view.0), |device| copy(device, view, dtype));
        }
        suite.case(GROUP, &format!("index, {}", view.0), |device| index(device, view));
    }
    for (k, pair) in VIEWS.windows(2).enumerate() {
        // The same shape is needed, so the second view reads by the first's, reversed.
        let name = format!("two operands, {}", pair[0].0);
        suite.case(GROUP, &name, |device| two(device, pair[0], k % 2 == 0));
    }
    for dtype in DTYPES {
        suite.case(GROUP, &format!("gather of {dtype}"), |device| gather(device, dtype));
    }
    suite.case(GROUP, "gather at the number of the point", gather_by_index);
}

/// The most precise kind that describes the access.
fn kind(shape: &[usize], access: &Access) -> AccessKind {
    if access.strides == contiguous(shape).strides {
        AccessKind::Contiguous
    } else if access.strides.iter().all(|stride| *stride == 0) {
        AccessKind::Uniform
    } else {
        AccessKind::Affine
    }
}

/// A block that is a bit larger than the view.
fn block(dtype: DType, (_, shape, offset, strides): View, seed: u64) -> Vec<Scalar> {
    let reach = shape.iter().zip(strides).map(|(n, stride)| (*n as i64 - 1) * stride.max(&0));
    let len = (offset + reach.sum::<i64>() + 3) as usize;
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.scalar(dtype)).collect()
}

fn copy(device: &mut Device, view: View, dtype: DType) -> Outcome {
    let (_, shape, offset, strides) = view;
    let access = affine(offset, strides);
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let operand = b.operand(dtype);
    let slot = b.access(kind(shape, &access));
    let value = b.load(operand, slot);
    b.store(value);
    let run = Run::new(b.finish(), shape).operand(block(dtype, view, 5)).access(access);
    device.check_one(&run, 0.0)
}

fn index(device: &mut Device, (_, shape, offset, strides): View) -> Outcome {
    let access = affine(offset - 500, strides);
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let slot = b.access(kind(shape, &access));
    let value = b.index(slot);
    b.store(value);
    device.check_one(&Run::new(b.finish(), shape).access(access), 0.0)
}

fn two(device: &mut Device, view: View, whole: bool) -> Outcome {
    let (_, shape, offset, strides) = view;
    let first = affine(offset, strides);
    let points: usize = shape.iter().product();
    let second = if whole {
        contiguous(shape)
    } else {
        let reversed: Vec<i64> = contiguous(shape).strides.iter().map(|s| -s).collect();
        affine(points as i64 - 1, &reversed)
    };
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let (ax, ay) = (b.access(kind(shape, &first)), b.access(kind(shape, &second)));
    let (x, y) = (b.load(x, ax), b.load(y, ay));
    let sum = b.op(Op::Add, &[x, y]);
    b.store(sum);
    let mut rng = Rng::new(9);
    let run = Run::new(b.finish(), shape)
        .operand(block(DType::F32, view, 5))
        .operand((0..points).map(|_| rng.ordinary(DType::F32)).collect())
        .access(first)
        .access(second);
    device.check_one(&run, 0.0)
}

fn gather(device: &mut Device, dtype: DType) -> Outcome {
    device.need_method(Op::Gather, dtype)?;
    let mut rng = Rng::new(13);
    let data: Vec<_> = (0..300).map(|_| rng.scalar(dtype)).collect();
    let mut at: Vec<_> = (0..1000).map(|_| Scalar::i32(rng.below(300) as i32)).collect();
    // Indices outside the block read its ends.
    at.extend([-1, -300, 300, 301, i32::MIN, i32::MAX].map(Scalar::i32));
    let shape = [at.len()];
    let mut b = Builder::new(Form::Map, 1);
    let (table, indices) = (b.operand(dtype), b.operand(DType::I32));
    let access = b.access(AccessKind::Contiguous);
    let index = b.load(indices, access);
    let value = b.gather(table, index);
    b.store(value);
    let run = Run::new(b.finish(), &shape).operand(data).operand(at).access(contiguous(&shape));
    device.check_one(&run, 0.0)
}

fn gather_by_index(device: &mut Device) -> Outcome {
    device.need_method(Op::Gather, DType::F32)?;
    let mut rng = Rng::new(17);
    let shape = [9, 11];
    let mut b = Builder::new(Form::Map, 2);
    let table = b.operand(DType::F32);
    let access = b.access(AccessKind::Affine);
    let index = b.index(access);
    let value = b.gather(table, index);
    b.store(value);
    let run = Run::new(b.finish(), &shape)
        .operand((0..200).map(|_| rng.scalar(DType::F32)).collect())
        .access(affine(150, &[-16, 2]));
    device.check_one(&run, 0.0)
}
