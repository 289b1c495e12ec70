//! The reduce form: every combining operation by the canonical tree, to the bit.

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, skip};
use gpupy_core::DType;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form, FormKind};
use gpupy_core::op::Op;

pub const GROUP: &str = "reductions";

const LENGTHS: [usize; 16] = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 100, 255, 256, 257, 1000, 4099];

pub fn run(suite: &mut Suite<'_>) {
    for op in Op::reducing() {
        for dtype in DTYPES {
            if !op.reduces(dtype) {
                continue;
            }
            let name = op.info().name;
            suite.case(GROUP, &format!("{name} of {dtype}, every length"), |device| {
                LENGTHS.iter().try_for_each(|n| {
                    let shape = [*n];
                    reduce(device, op, dtype, &shape, contiguous(&shape))
                })
            });
            suite.case(GROUP, &format!("{name} of {dtype}, rows"), |device| {
                reduce(device, op, dtype, &[5, 300], contiguous(&[5, 300]))?;
                reduce(device, op, dtype, &[3, 2, 20], contiguous(&[3, 2, 20]))
            });
            suite.case(GROUP, &format!("{name} of {dtype}, columns"), |device| {
                reduce(device, op, dtype, &[7, 270], affine(0, &[1, 7]))?;
                reduce(device, op, dtype, &[6, 33], affine(6 * 33 - 1, &[-33, -1]))?;
                reduce(device, op, dtype, &[39, 1], affine(38, &[-1, 0]))?;
                reduce(device, op, dtype, &[39, 1], affine(0, &[1, 39]))?;
                reduce(device, op, dtype, &[2, 20, 3], affine(0, &[60, 1, 20]))
            });
        }
    }
    suite.case(GROUP, "of an index", of_index);
    suite.case(GROUP, "with prologue and epilogue", with_prologue_and_epilogue);
    suite.case(GROUP, "into part of a block", into_part);
    suite.case(GROUP, "loads after the reduction count output points", epilogue_loads);
}

fn need_reduce(device: &Device, dtype: DType) -> Outcome {
    if !device.caps.has(FormKind::Reduce) {
        return skip("no reduce form");
    }
    device.need_dtype(dtype)?;
    device.need_method(Op::Reduce, dtype).map(|_| ())
}

pub(super) fn reduce(
    device: &mut Device,
    op: Op,
    dtype: DType,
    shape: &[usize],
    access: Access,
) -> Outcome {
    need_reduce(device, dtype)?;
    let mut b = Builder::new(Form::Reduce { op }, shape.len() as u32);
    let kind = match access.strides == contiguous(shape).strides {
        true => AccessKind::Contiguous,
        false => AccessKind::Affine,
    };
    let (operand, slot) = (b.operand(dtype), b.access(kind));
    let value = b.load(operand, slot);
    let value = b.reduce(value);
    b.store(value);
    let mut rng = Rng::new(31);
    let points: usize = shape.iter().product();
    let mut run = Run::new(b.finish(), shape).access(access);
    let ordinary: Vec<_> = (0..points).map(|_| rng.ordinary(dtype)).collect();
    run.operands = vec![ordinary];
    device.check_one(&run, 0.0)?;
    // Extremes keep NaN and the signs of zeros; sums of such numbers are all NaN.
    if matches!(op, Op::Min | Op::Max) || dtype != DType::F32 {
        run.operands = vec![(0..points).map(|_| rng.scalar(dtype)).collect()];
        device.check_one(&run, 0.0)?;
    }
    Ok(())
}

fn of_index(device: &mut Device) -> Outcome {
    need_reduce(device, DType::I32)?;
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let slot = b.access(AccessKind::Affine);
    let value = b.index(slot);
    let value = b.reduce(value);
    b.store(value);
    let run = Run::new(b.finish(), &[4, 600]).access(affine(-3, &[1000, 7]));
    device.check_one(&run, 0.0)
}

fn with_prologue_and_epilogue(device: &mut Device) -> Outcome {
    need_reduce(device, DType::F32)?;
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (operand, slot) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, slot);
    let square = b.op(Op::Mul, &[x, x]);
    let sum = b.reduce(square);
    let scale = b.param(DType::F32);
    let scaled = b.op(Op::Mul, &[sum, scale]);
    let root = b.op(Op::Sqrt, &[scaled]);
    b.store(root);
    let mut rng = Rng::new(33);
    let run = Run::new(b.finish(), &[3, 700])
        .operand((0..2100).map(|_| rng.ordinary(DType::F32)).collect())
        .param(rng.ordinary(DType::F32))
        .access(contiguous(&[3, 700]));
    device.check(&run, 0.0)
}

fn into_part(device: &mut Device) -> Outcome {
    need_reduce(device, DType::F32)?;
    let mut b = Builder::new(Form::Reduce { op: Op::Max }, 2);
    let (operand, slot) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, slot);
    let most = b.reduce(x);
    b.store(most);
    let mut rng = Rng::new(34);
    let run = Run::new(b.finish(), &[5, 300])
        .operand((0..1500).map(|_| rng.scalar(DType::F32)).collect())
        .access(contiguous(&[5, 300]))
        .target(0, 40, affine(31, &[-7, 2]));
    device.check_one(&run, 0.0)
}

fn epilogue_loads(device: &mut Device) -> Outcome {
    need_reduce(device, DType::I32)?;
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (operand, slot) = (b.operand(DType::I32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, slot);
    let sum = b.reduce(x);
    let (other, slot) = (b.operand(DType::I32), b.access(AccessKind::Affine));
    let other = b.load(other, slot);
    let sum = b.op(Op::Add, &[sum, other]);
    b.store(sum);
    let mut rng = Rng::new(35);
    let run = Run::new(b.finish(), &[4, 520])
        .operand((0..4 * 520).map(|_| rng.ordinary(DType::I32)).collect())
        .operand((0..40).map(|_| rng.ordinary(DType::I32)).collect())
        .access(contiguous(&[4, 520]))
        .access(affine(2, &[9, 3]));
    device.check(&run, 0.0)
}
