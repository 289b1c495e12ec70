//! NaN, zeros of both signs, infinities and subnormals through every operation; and moves, which
//! keep every bit of them.
//!
//! Not here: ordinary numbers (`elementwise.rs`), conversions (`dtypes.rs`).

use super::Suite;
use super::elementwise::{operands_of, operation};
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::reporting::outcome::Outcome;
use gpupy_core::driver::BlockId;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "specials";

/// Bits of quiet and signalling NaNs of both signs, with several payloads.
const NANS: [u32; 6] =
    [0x7fc0_0000, 0xffc0_0000, 0x7fc0_1234, 0xffff_ffff, 0x7f80_0001, 0xffa5_5a5a];

/// Numbers that special ones meet.
const ORDINARY: [f32; 10] = [0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-20, -1e20, f32::MAX, f32::MIN];

/// The kinds of special numbers, and their bits.
pub fn kinds() -> [(&'static str, Vec<u32>); 4] {
    let bits = |floats: &[f32]| floats.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let (least, normal) = (f32::from_bits(1), f32::MIN_POSITIVE);
    let most = f32::from_bits(0x007f_ffff);
    [
        ("NaN", NANS.to_vec()),
        ("zeros", bits(&[0.0, -0.0])),
        ("infinities", bits(&[f32::INFINITY, f32::NEG_INFINITY])),
        (
            "subnormals",
            bits(&[least, -least, 1e-40, -1e-40, most, -most, normal, -normal, 1.5 * normal]),
        ),
    ]
}

type Move = fn(&mut Device) -> Outcome;

const MOVES: [(&str, Move); 6] = [
    ("a copy keeps every bit", copied),
    ("a copy backwards keeps every bit", copied_backwards),
    ("gather keeps every bit", gathered),
    ("select keeps every bit", selected),
    ("select between the operands of its own comparison", selected_by_itself),
    ("bits as an integer, and back", as_integers),
];

pub fn run(suite: &mut Suite<'_>) {
    for row in OPS {
        if matches!(row.rule, Rule::Special | Rule::Cast | Rule::Bitcast) || row.is_of_complex() {
            continue;
        }
        let operands = operands_of(row, DType::F32);
        if row.op.result_dtype(&operands, DType::F32).is_none() {
            continue;
        }
        for (kind, specials) in kinds() {
            suite.case(GROUP, &format!("{} of {kind}", row.name), |device| {
                operation(device, row, &operands, columns(&operands, &specials))
            });
        }
    }
    for (name, case) in MOVES {
        suite.case(GROUP, name, case);
    }
    for dtype in [DType::F16, DType::BF16, DType::F64] {
        suite.case(GROUP, &format!("moves of {dtype} keep every bit"), |device| {
            moved_as(device, dtype)
        });
    }
}

/// All pairs of special and other numbers in which at least one is special.
pub fn columns(operands: &[DType], specials: &[u32]) -> Vec<Vec<Scalar>> {
    let ordinary = ORDINARY.iter().map(|x| x.to_bits());
    let all: Vec<u32> = specials.iter().copied().chain(ordinary).collect();
    let mut columns = vec![Vec::new(); operands.len()];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            if i.min(j) >= specials.len() {
                continue;
            }
            let mut pair = [*a, *b].into_iter();
            for (dtype, column) in operands.iter().zip(&mut columns) {
                column.push(match dtype {
                    DType::Bool => Scalar::bool((i + j) % 2 == 0),
                    _ => Scalar::new(*dtype, u64::from(pair.next().unwrap_or(*a))),
                });
            }
        }
    }
    columns
}

/// Every special number that there is.
fn everything() -> Vec<Scalar> {
    let specials = kinds().into_iter().flat_map(|(_, bits)| bits);
    specials.map(|bits| Scalar::f32(f32::from_bits(bits))).collect()
}

/// Evaluates a launch on blocks with these data, and compares every bit of the one destination.
fn moved(device: &mut Device, run: &Run, wanted: &[Scalar]) -> Outcome {
    let mut operands = Vec::new();
    for (dtype, data) in run.program.operands.iter().zip(&run.operands) {
        operands.push(device.upload(*dtype, data)?);
    }
    let dest: BlockId = device.alloc(run.program.dests[0], wanted.len())?;
    device.eval(run, &operands, &[dest])?;
    let got = device.read(dest, run.program.dests[0], 0, wanted.len())?;
    operands.into_iter().chain([dest]).for_each(|block| device.driver.block_free(block));
    same(&got, wanted, "what was moved")
}

fn copied(device: &mut Device) -> Outcome {
    let (data, mut b) = (everything(), Builder::new(Form::Map, 1));
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let value = b.load(operand, access);
    b.store(value);
    let shape = [data.len()];
    let run = Run::new(b.finish(), &shape).operand(data.clone()).access(contiguous(&shape));
    moved(device, &run, &data)
}

fn copied_backwards(device: &mut Device) -> Outcome {
    let (mut data, mut b) = (everything(), Builder::new(Form::Map, 1));
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let value = b.load(operand, access);
    b.store(value);
    let last = data.len() as i64 - 1;
    let run = Run::new(b.finish(), &[data.len()]);
    let run = run.operand(data.clone()).access(affine(last, &[-1]));
    data.reverse();
    moved(device, &run, &data)
}

fn gathered(device: &mut Device) -> Outcome {
    device.need_method(Op::Gather, DType::F32)?;
    let (mut data, mut b) = (everything(), Builder::new(Form::Map, 1));
    let (table, access) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let index = b.index(access);
    let value = b.gather(table, index);
    b.store(value);
    let last = data.len() as i64 - 1;
    let run = Run::new(b.finish(), &[data.len()]);
    let run = run.operand(data.clone()).access(affine(last, &[-1]));
    data.reverse();
    moved(device, &run, &data)
}

fn selected(device: &mut Device) -> Outcome {
    device.need_method(Op::Select, DType::F32)?;
    let data = everything();
    let other: Vec<_> = data.iter().rev().copied().collect();
    let which: Vec<_> = (0..data.len()).map(|k| Scalar::bool(k % 3 == 0)).collect();
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let operands = [b.operand(DType::Bool), b.operand(DType::F32), b.operand(DType::F32)];
    let values = operands.map(|operand| b.load(operand, access));
    let value = b.op(Op::Select, &values);
    b.store(value);
    let shape = [data.len()];
    let wanted: Vec<_> =
        (0..data.len()).map(|k| if k % 3 == 0 { data[k] } else { other[k] }).collect();
    let run = Run::new(b.finish(), &shape).access(contiguous(&shape));
    let run = run.operand(which).operand(data).operand(other);
    moved(device, &run, &wanted)
}

/// Compilers may take such selects for their minimum or maximum, which treats NaN and zeros otherwise.
fn selected_by_itself(device: &mut Device) -> Outcome {
    device.need_method(Op::Select, DType::F32)?;
    let special: Vec<u32> = kinds().into_iter().flat_map(|(_, bits)| bits).collect();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (x, y) in special.iter().flat_map(|x| ORDINARY.map(|y| (*x, y.to_bits()))) {
        for (x, y) in [(x, y), (y, x), (x, x)] {
            first.push(Scalar::new(DType::F32, x.into()));
            second.push(Scalar::new(DType::F32, y.into()));
        }
    }
    for op in [Op::Lt, Op::Le, Op::Gt, Op::Ge] {
        device.need_method(op, DType::F32)?;
        for (literal, swapped) in
            [None, Some(0), Some(1)].into_iter().flat_map(|at| [(at, false), (at, true)])
        {
            let mut b = Builder::new(Form::Map, 1);
            let access = b.access(AccessKind::Contiguous);
            let operands = [b.operand(DType::F32), b.operand(DType::F32)];
            let mut values = operands.map(|operand| b.load(operand, access));
            if let Some(place) = literal {
                values[place] = b.constant(Scalar::f32(2.0));
            }
            let [x, y] = values;
            let compared = b.op(op, &[x, y]);
            let chosen = if swapped { [compared, y, x] } else { [compared, x, y] };
            let value = b.op(Op::Select, &chosen);
            b.store(value);
            let shape = [first.len()];
            let run = Run::new(b.finish(), &shape).access(contiguous(&shape));
            device.check(&run.operand(first.clone()).operand(second.clone()), 0.0)?;
        }
    }
    Ok(())
}

/// Drivers that compute in a wider dtype may convert what is only moved, which makes signalling NaNs quiet.
fn moved_as(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    device.need_method(Op::Select, dtype)?;
    device.need_method(Op::IsNan, dtype)?;
    let bits: Vec<u64> = match dtype.size() {
        2 => (0..=0xffff).collect(),
        _ => everything().iter().flat_map(|x| [x.bits << 32, x.bits << 32 | 1]).collect(),
    };
    let infinity = match dtype {
        DType::F16 => 0x7c00,
        DType::BF16 => 0x7f80,
        _ => f64::INFINITY.to_bits(),
    };
    let sign = 1 << (8 * dtype.size() - 1);
    let data: Vec<_> = bits.iter().map(|bits| Scalar::new(dtype, *bits)).collect();
    let other: Vec<_> = data.iter().rev().copied().collect();
    let last = data.len() as i64 - 1;
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(dtype), b.access(AccessKind::Affine));
    let value = b.load(operand, access);
    b.store(value);
    let run = Run::new(b.finish(), &[data.len()]);
    moved(device, &run.operand(data.clone()).access(affine(last, &[-1])), &other)?;
    // What it is chosen by is computed from it.
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let operands = [b.operand(dtype), b.operand(dtype)];
    let [x, y] = operands.map(|operand| b.load(operand, access));
    let is_nan = b.op(Op::IsNan, &[x]);
    let value = b.op(Op::Select, &[is_nan, x, y]);
    b.store(value);
    let is_nan = |x: &Scalar| x.bits & !sign > infinity;
    let wanted: Vec<_> =
        data.iter().zip(&other).map(|(x, y)| if is_nan(x) { *x } else { *y }).collect();
    let shape = [data.len()];
    let run = Run::new(b.finish(), &shape).access(contiguous(&shape));
    moved(device, &run.operand(data).operand(other), &wanted)
}

fn as_integers(device: &mut Device) -> Outcome {
    device.need_dtype(DType::I32)?;
    device.need_method(Op::Bitcast, DType::F32)?;
    device.need_method(Op::Bitcast, DType::I32)?;
    let floats = everything();
    let integers: Vec<_> = floats.iter().map(|x| Scalar::new(DType::I32, x.bits)).collect();
    for (from, to, data, wanted) in
        [(DType::F32, DType::I32, &floats, &integers), (DType::I32, DType::F32, &integers, &floats)]
    {
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(from), b.access(AccessKind::Contiguous));
        let value = b.load(operand, access);
        let value = b.convert(Op::Bitcast, value, to);
        b.store(value);
        let shape = [data.len()];
        let run = Run::new(b.finish(), &shape).operand(data.clone()).access(contiguous(&shape));
        moved(device, &run, wanted)?;
    }
    Ok(())
}
