//! Random programs with numbers in pieces, over spaces that drivers cut: maps and reductions of one to three axes.
//!
//! A driver without `Capabilities::pieces` gets the programs that the core sends it instead. Only exact operations
//! occur.
//!
//! Not here: single programs with such numbers (`data.rs`).

use super::Suite;
use crate::drivers::device::Device;
use crate::drivers::launch::TOO_LARGE;
use crate::expect::oracle::{Run, affine};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, skip};
use gpupy_core::driver::{Access, Config};
use gpupy_core::ir::{AccessKind, Builder, Form, FormKind, pieces_lowering};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "pieces";

pub fn run(suite: &mut Suite<'_>) {
    for seed in 0..60 {
        suite.case(GROUP, &format!("seed {seed}"), |device| random(device, seed));
    }
    let small = Config { block_bytes: 8192, ..Config::default() };
    suite.case_with(GROUP, "many rows of a small block", &small, rows_that_repeat);
}

/// The greatest of rows that are the same rotation of one block, which is much shorter than they are together.
fn rows_that_repeat(device: &mut Device) -> Outcome {
    if !device.caps.has(FormKind::Reduce) {
        return skip("no reduce form");
    }
    device.need_method(Op::Gather, DType::F32)?;
    let mut b = Builder::new(Form::Reduce { op: Op::Max }, 2);
    let slot = b.access(AccessKind::Affine);
    let of = b.index(slot);
    let end = b.param(DType::I32);
    let piece = b.piece(of, &[end]);
    let shifts = [b.param(DType::I32), b.param(DType::I32)];
    let shift = b.choose(piece, &shifts);
    let at = b.op(Op::Add, &[of, shift]);
    let operand = b.operand(DType::F32);
    let element = b.gather(operand, at);
    let greatest = b.reduce(element);
    b.store(greatest);
    let mut rng = Rng::new(61);
    let data = (0..300).map(|_| rng.ordinary(DType::F32)).collect();
    let run = Run::new(b.finish(), &[30, 300]).operand(data).access(affine(0, &[0, 1]));
    let run = [90, 210, -90].into_iter().fold(run, |run, k| run.param(Scalar::i32(k)));
    check(device, run)
}

/// Compares a launch, on a driver without pieces that of the program that the core sends it instead.
fn check(device: &mut Device, mut run: Run) -> Outcome {
    if !device.caps.pieces {
        run.program = pieces_lowering::lowered(&run.program);
    }
    if !device.check_ir(&run.program)?.fits {
        return skip(TOO_LARGE);
    }
    device.check(&run, 0.0)
}

fn random(device: &mut Device, seed: u64) -> Outcome {
    let mut rng = Rng::new(seed);
    let dtype = rng.one_of(&DTYPES);
    device.need_dtype(dtype)?;
    for op in [Op::Gather, Op::Select] {
        device.need_method(op, dtype)?;
    }
    let run = PiecesProgram::of(&mut rng, dtype, device.caps.has(FormKind::Reduce));
    check(device, run)
}

/// A program that is being made, and what a launch of it has.
struct PiecesProgram<'r> {
    rng: &'r mut Rng,
    shape: Vec<usize>,
    builder: Builder,
    accesses: Vec<Access>,
    params: Vec<Scalar>,
    operands: Vec<Vec<Scalar>>,
}

impl PiecesProgram<'_> {
    fn of(rng: &mut Rng, dtype: DType, reduces: bool) -> Run {
        let shapes: [&[usize]; 8] = [
            &[3000],
            &[40, 90],
            &[7, 300],
            &[12, 15, 20],
            &[600, 5],
            &[2, 3, 270],
            &[9],
            &[1, 700],
        ];
        let shape = rng.one_of(&shapes).to_vec();
        let form = match reduces && rng.below(2) == 0 {
            true => Form::Reduce { op: if dtype == DType::Bool { Op::Or } else { Op::Max } },
            false => Form::Map,
        };
        let builder = Builder::new(form, shape.len() as u32);
        let (accesses, params, operands) = (Vec::new(), Vec::new(), Vec::new());
        let mut own = PiecesProgram { rng, shape, builder, accesses, params, operands };
        let mut value = own.element(dtype);
        for _ in 0..own.rng.below(4) {
            let other = own.part(dtype, value);
            let op = if dtype == DType::Bool { Op::Xor } else { Op::Min };
            value = own.builder.op(op, &[value, other]);
        }
        if form != Form::Map {
            value = own.builder.reduce(value);
        }
        own.builder.store(value);
        let run = Run::new(own.builder.finish(), &own.shape);
        let run = own.operands.into_iter().fold(run, |run, operand| run.operand(operand));
        let run = own.accesses.into_iter().fold(run, |run, access| run.access(access));
        own.params.into_iter().fold(run, |run, param| run.param(param))
    }

    fn index(&mut self, access: Access) -> u32 {
        let slot = self.builder.access(AccessKind::Affine);
        self.accesses.push(access);
        self.builder.index(slot)
    }

    fn number(&mut self, number: i64) -> u32 {
        self.params.push(Scalar::i32(number as i32));
        self.builder.param(DType::I32)
    }

    /// An access along one axis, or along all as one.
    fn coordinate(&mut self) -> (Access, i64) {
        let rank = self.shape.len();
        let mut strides = vec![0; rank];
        let axis = self.rng.below(rank + 1);
        let mut extent = 1;
        if axis == rank {
            for (step, own) in strides.iter_mut().zip(&self.shape).rev() {
                *step = extent;
                extent *= *own as i64;
            }
        } else {
            (strides[axis], extent) = (1, self.shape[axis] as i64);
        }
        (affine(0, &strides), extent)
    }

    /// The piece that a coordinate lies in, and of how many.
    fn piece(&mut self, coordinate: &Access, extent: i64) -> (u32, usize) {
        let count = 1 + self.rng.below(3);
        let mut ends: Vec<i64> =
            (0..count).map(|_| self.rng.below(extent as usize + 3) as i64 - 1).collect();
        ends.sort_unstable();
        let ends: Vec<u32> = ends.iter().map(|end| self.number(*end)).collect();
        let number = self.index(coordinate.clone());
        (self.builder.piece(number, &ends), count + 1)
    }

    /// An element of a new operand, at a number in pieces.
    fn element(&mut self, dtype: DType) -> u32 {
        let len = self.shape.iter().product::<usize>();
        let data = (0..len).map(|_| self.rng.ordinary(dtype)).collect();
        self.operands.push(data);
        let operand = self.builder.operand(dtype);
        let (mut strides, mut step) = (vec![0; self.shape.len()], 1);
        for (own, extent) in strides.iter_mut().zip(&self.shape).rev() {
            (*own, step) = (step, step * *extent as i64);
        }
        let mut at = self.index(affine(0, &strides));
        for _ in 0..self.rng.below(3) {
            let line = self.line();
            at = self.builder.op(Op::Add, &[at, line]);
        }
        self.builder.gather(operand, at)
    }

    /// A number that is another line in each piece of a coordinate.
    fn line(&mut self) -> u32 {
        let (coordinate, extent) = self.coordinate();
        let (piece, count) = self.piece(&coordinate, extent);
        let lines: Vec<u32> = (0..count)
            .map(|_| {
                let start = self.rng.below(2 * extent as usize) as i64 - extent;
                match self.rng.below(3) {
                    0 => {
                        let step = self.rng.one_of(&[-1, 1, -2]);
                        let strides: Vec<i64> =
                            coordinate.strides.iter().map(|own| own * step).collect();
                        self.index(affine(start, &strides))
                    }
                    _ => self.number(start),
                }
            })
            .collect();
        self.builder.choose(piece, &lines)
    }

    /// One of this value, a scalar and another element, by a piece.
    fn part(&mut self, dtype: DType, value: u32) -> u32 {
        let (coordinate, extent) = self.coordinate();
        let (piece, count) = self.piece(&coordinate, extent);
        let parts: Vec<u32> = (0..count)
            .map(|_| match self.rng.below(3) {
                0 => {
                    self.params.push(self.rng.ordinary(dtype));
                    self.builder.param(dtype)
                }
                1 => value,
                _ => self.element(dtype),
            })
            .collect();
        self.builder.choose(piece, &parts)
    }
}
