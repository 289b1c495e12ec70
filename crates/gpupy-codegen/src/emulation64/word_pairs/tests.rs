//! Word pairs are compared with `op_eval`, operation by operation and through regions.
#![allow(clippy::unwrap_used)]

use super::*;
use gpupy_core::ir::{AccessKind, Form};
use gpupy_core::op::OPS;
use gpupy_core::{Scalar, op_eval};

/// Interprets a program of parameters, scalar operations and loops. Returns the stored values.
fn run(program: &Program, params: &[Scalar]) -> Vec<Scalar> {
    let mut values = vec![Scalar::zero(DType::U32); program.insts.len()];
    let mut stored = Vec::new();
    let list = |values: &[Scalar], at: u32, len: u32| -> Vec<Scalar> {
        let listed = &program.extra[at as usize..(at + len) as usize];
        listed.iter().map(|value| values[*value as usize]).collect()
    };
    let (mut at, mut carried, mut begun, mut turn) = (0, Vec::new(), 0, 0);
    while let Some(inst) = program.insts.get(at) {
        let [a, b, c] = inst.args;
        match inst.op {
            Op::Param => values[at] = params[a as usize],
            Op::Const => values[at] = Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32),
            Op::Store => stored.push(values[b as usize]),
            Op::Loop => (carried, begun, turn) = (list(&values, b, c), at, 0),
            Op::Carry => values[at] = carried[b as usize],
            Op::Iter => values[at] = Scalar::new(DType::I32, turn),
            Op::End => {
                carried = list(&values, b, c);
                turn += 1;
                if turn < values[program.insts[begun].args[0] as usize].bits {
                    at = begun;
                }
            }
            Op::Result => values[at] = carried[b as usize],
            op => {
                let args: Vec<Scalar> = program.uses(inst).map(|v| values[v as usize]).collect();
                values[at] = op_eval::eval(op, inst.dtype, &args).unwrap();
            }
        }
        at += 1;
    }
    stored
}

/// The parameters of the split program.
fn words(planes: &SplitProgram, params: &[Scalar]) -> Vec<Scalar> {
    let word = |(which, plane): &(usize, Plane)| match plane {
        Plane::Whole => params[*which],
        Plane::Low => Scalar::new(DType::U32, params[*which].bits & 0xffff_ffff),
        Plane::High => Scalar::new(DType::U32, params[*which].bits >> 32),
    };
    planes.params.iter().map(word).collect()
}

/// The results of the split program, joined.
fn joined(planes: &SplitProgram, dests: &[DType], params: &[Scalar]) -> Vec<Scalar> {
    let mut stored = run(&planes.program, &words(planes, params)).into_iter();
    let mut next = || stored.next().unwrap().bits;
    dests
        .iter()
        .map(|dtype| match is_pair(*dtype) {
            true => Scalar::new(*dtype, next() | next() << 32),
            false => Scalar::new(*dtype, next()),
        })
        .collect()
}

/// Samples: integers of all lengths, and floats near the limits.
fn samples(dtype: DType) -> Vec<Scalar> {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    };
    let mut bits: Vec<u64> = (0..64).flat_map(|k| [1 << k, (1 << k) - 1, !0 << k]).collect();
    bits.extend((0..1500).map(|k| random() >> (k % 64)));
    if dtype == DType::F32 {
        let near = |k: i32| [1.0, 1.5, 1.0 + 1e-7, 1.0 - 1e-7].map(|x| x * 2f64.powi(k));
        let floats = (-30..70).flat_map(near).flat_map(|x| [x, -x]);
        let floats = floats.chain([0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        bits.extend(floats.map(|x| u64::from((x as f32).to_bits())));
    }
    if dtype == DType::Bool {
        bits.iter_mut().for_each(|bits| *bits &= 1);
    }
    bits.into_iter().map(|bits| Scalar::new(dtype, bits)).collect()
}

/// A program of one operation.
fn program(op: Op, from: &[DType], to: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let args: Vec<u32> = from.iter().map(|dtype| b.param(*dtype)).collect();
    let value = match op {
        Op::Cast | Op::Bitcast => b.convert(op, args[0], to),
        _ => b.op(op, &args),
    };
    b.store(value);
    b.finish()
}

fn check(op: Op, from: &[DType], to: DType) {
    let original = program(op, from, to);
    let planes = split(&original).unwrap();
    planes.program.verify().unwrap();
    assert!(planes.program.insts.iter().all(|inst| inst.dtype.size() <= 4), "{op:?} {from:?}");
    let count = planes
        .program
        .insts
        .iter()
        .filter(|inst| !matches!(inst.op, Op::Param | Op::Const | Op::Store));
    let most = most_instructions(op, original.dests[0]) as usize;
    assert!(count.clone().count() <= most, "{op:?} {from:?} {to}: {}", count.count());
    let columns: Vec<Vec<Scalar>> = from.iter().map(|dtype| samples(*dtype)).collect();
    let len = columns[0].len();
    for k in 0..len {
        let other = |(n, column): (usize, &Vec<Scalar>)| {
            column[(k * [1, 7, 5][n] + n * (k / 91)) % column.len()]
        };
        let args: Vec<Scalar> = columns.iter().enumerate().map(other).collect();
        let wanted = op_eval::eval(op, original.dests[0], &args).unwrap();
        let got = joined(&planes, &original.dests, &args)[0];
        assert_eq!(got, wanted, "{op:?} of {args:x?} as {to}");
    }
}

#[test]
fn operations_on_pairs_have_the_bits_of_the_table() {
    for dtype in [DType::I64, DType::U64] {
        let mut checked = 0;
        for row in OPS.iter().filter(|row| row.op.is_scalar_op()) {
            let from = match row.op {
                Op::Cast | Op::Bitcast => continue,
                Op::Select => vec![DType::Bool, dtype, dtype],
                _ => vec![dtype; row.arity.into()],
            };
            if row.op.result_dtype(&from, dtype).is_some() {
                check(row.op, &from, dtype);
                checked += 1;
            }
        }
        // Four unary operations, ten binary ones, six comparisons and a select.
        assert!(checked >= 20, "{checked}");
    }
}

#[test]
fn casts_of_pairs_have_the_bits_of_the_table() {
    for dtype in [DType::I64, DType::U64] {
        for other in DType::ALL.into_iter().filter(|d| !d.is_complex() && *d != DType::F64) {
            check(Op::Cast, &[dtype], other);
            check(Op::Cast, &[other], dtype);
        }
        for other in [DType::I64, DType::U64] {
            check(Op::Bitcast, &[dtype], other);
        }
    }
}

#[test]
fn regions_carry_pairs_beside_other_values() {
    let mut b = Builder::new(Form::Map, 1);
    let (x, count) = (b.param(DType::I64), b.param(DType::I32));
    let region = b.begin_loop(count, &[count, x, count]);
    let (value, last) = (b.carry(region, 1), b.carry(region, 2));
    let next = b.op(Op::Mul, &[value, x]);
    b.end(region, &[last, next, count]);
    let (value, last) = (b.result(region, 1, DType::I64), b.result(region, 2, DType::I32));
    b.store(value);
    b.store(last);
    let original = b.finish();
    let planes = split(&original).unwrap();
    planes.program.verify().unwrap();
    let params = [Scalar::new(DType::I64, 12_345_678_901), Scalar::new(DType::I32, 5)];
    assert_eq!(joined(&planes, &original.dests, &params), run(&original, &params));
}

#[test]
fn blocks_of_pairs_become_two_and_programs_without_stay() {
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let [narrow, wide] = [DType::I8, DType::U64].map(|dtype| b.operand(dtype));
    let index = b.load(narrow, access);
    let index = b.convert(Op::Cast, index, DType::I32);
    let found = b.gather(wide, index);
    b.store(index);
    b.store(found);
    let planes = split(&b.finish()).unwrap();
    planes.program.verify().unwrap();
    assert_eq!(planes.program.operands, [DType::I8, DType::U32, DType::U32]);
    assert_eq!(planes.dests, [(0, Plane::Whole), (1, Plane::Low), (1, Plane::High)]);
    let mut b = Builder::new(Form::Map, 1);
    let x = b.param(DType::I32);
    b.store(x);
    assert!(split(&b.finish()).is_none());
}

/// A program over 64-bit elements with several reductions of 32-bit values.
fn reductions(dtype: DType) -> Program {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 1);
    let access = b.access(AccessKind::Contiguous);
    let [wide, narrow] = [dtype, DType::I32].map(|dtype| b.operand(dtype));
    let [x, y] = [wide, narrow].map(|operand| b.load(operand, access));
    let x = b.convert(Op::Cast, x, DType::I32);
    let by = [(Op::Max, x), (Op::Add, x), (Op::Min, y)];
    by.map(|(op, value)| b.reduce_by(op, value)).into_iter().for_each(|value| b.store(value));
    b.finish()
}

#[test]
fn each_of_several_reductions_keeps_its_operation() {
    for planes in [split(&reductions(DType::I64)), SplitProgram::of(&reductions(DType::F64))] {
        let program = planes.unwrap().program;
        program.verify().unwrap();
        let ops: Vec<Op> = program.reductions().map(|reduction| reduction.op).collect();
        assert_eq!(ops, [Op::Max, Op::Add, Op::Min]);
    }
}
