//! Programs with numbers in pieces: rotations, margins, mirrors, parts side by side, and choices by any number.

use super::named::{Named, named, ordinary, random};
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::DTYPES;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The lines of a number in each of its pieces, and where these end: a line is its value at 0 and its step, 0 or not.
type Lines = (&'static str, &'static [i32], &'static [(i32, i64)]);

/// Numbers of a coordinate from 0 to 39, along a row of 40 elements.
const LINES: [Lines; 7] = [
    ("a rotation", &[7], &[(33, 1), (-7, 1)]),
    ("repeated edges", &[3, 37], &[(0, 0), (-3, 1), (33, 0)]),
    ("a mirror", &[6, 30], &[(6, -1), (-6, 1), (50, -1)]),
    ("three rotations", &[10, 20, 30], &[(30, 1), (10, 1), (-10, 1), (-30, 1)]),
    ("empty pieces", &[0, 0, 12, 12, 90], &[(9, 0), (8, 0), (3, 1), (7, 0), (-3, 1), (0, 0)]),
    ("backwards in two parts", &[20], &[(19, -1), (59, -1)]),
    ("out of the block on both sides", &[20], &[(-30, 1), (30, 1)]),
];

/// A program with one more operand than accesses, and what a launch of it has.
struct Made {
    builder: Builder,
    params: Vec<Scalar>,
    accesses: Vec<Access>,
}

impl Made {
    fn new(form: Form, rank: u32) -> Made {
        Made { builder: Builder::new(form, rank), params: Vec::new(), accesses: Vec::new() }
    }

    fn index(&mut self, access: Access) -> u32 {
        let slot = self.builder.access(AccessKind::Affine);
        self.accesses.push(access);
        self.builder.index(slot)
    }

    fn param(&mut self, scalar: Scalar) -> u32 {
        self.params.push(scalar);
        self.builder.param(scalar.dtype)
    }

    /// The number that is these lines of a coordinate, which itself is an access.
    fn lines(&mut self, coordinate: &Access, (_, ends, lines): Lines) -> u32 {
        let of = self.index(coordinate.clone());
        let ends: Vec<u32> = ends.iter().map(|end| self.param(Scalar::i32(*end))).collect();
        let piece = self.builder.piece(of, &ends);
        let lines: Vec<u32> = lines.iter().map(|line| self.line(coordinate, *line)).collect();
        self.builder.choose(piece, &lines)
    }

    fn line(&mut self, coordinate: &Access, (start, step): (i32, i64)) -> u32 {
        if step == 0 {
            return self.param(Scalar::i32(start));
        }
        let strides: Vec<i64> = coordinate.strides.iter().map(|own| own * step).collect();
        self.index(affine(coordinate.offset * step + i64::from(start), &strides))
    }

    /// The launch, with these operands.
    fn run(self, shape: &[usize], operands: &[Vec<Scalar>]) -> Run {
        let mut run = Run::new(self.builder.finish(), shape);
        for operand in operands {
            run = run.operand(operand.clone());
        }
        let run = self.accesses.into_iter().fold(run, |run, access| run.access(access));
        self.params.into_iter().fold(run, |run, param| run.param(param))
    }
}

pub fn pieces() -> Vec<Named> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for lines in LINES {
            cases.push(named(format!("{dtype}, {}", lines.0), along_a_row(dtype, lines)));
        }
        cases.push(named(format!("{dtype}, a margin"), margin(dtype)));
        cases.push(named(format!("{dtype}, two parts"), parts(dtype)));
    }
    cases.push(named("a rotation of a matrix, along both axes", both_axes()));
    cases.push(named("a flat rotation of a matrix", flat()));
    cases.push(named("a rotation of a rotation", nested()));
    cases.push(named("numbers in pieces", numbers()));
    cases.push(named("pieces of loaded numbers, and choices outside the list", loaded()));
    cases.push(named("a choice in a loop", in_a_loop()));
    cases.push(named("sums of rotated rows", summed(&[5, 300])));
    cases.push(named("sums of rotated rows, one after another", summed(&[1, 700])));
    cases
}

fn along_a_row(dtype: DType, lines: Lines) -> Run {
    let mut made = Made::new(Form::Map, 2);
    let row = made.index(affine(0, &[40, 0]));
    let column = made.lines(&affine(0, &[0, 1]), lines);
    let at = made.builder.op(Op::Add, &[row, column]);
    let operand = made.builder.operand(dtype);
    let value = made.builder.gather(operand, at);
    made.builder.store(value);
    made.run(&[3, 40], &[random(dtype, 120, 130)])
}

fn margin(dtype: DType) -> Run {
    let mut made = Made::new(Form::Map, 1);
    let of = made.index(affine(-2, &[1]));
    let ends = [made.param(Scalar::i32(0)), made.param(Scalar::i32(30))];
    let piece = made.builder.piece(of, &ends);
    let operand = made.builder.operand(dtype);
    let inside = made.builder.gather(operand, of);
    let outside = made.param(ordinary(dtype, 1, 131)[0]);
    let value = made.builder.choose(piece, &[outside, inside, outside]);
    made.builder.store(value);
    made.run(&[35], &[random(dtype, 30, 132)])
}

fn parts(dtype: DType) -> Run {
    let mut made = Made::new(Form::Map, 2);
    let of = made.index(affine(0, &[0, 1]));
    let end = made.param(Scalar::i32(12));
    let piece = made.builder.piece(of, &[end]);
    let places = [made.index(affine(0, &[12, 1])), made.index(affine(-12, &[20, 1]))];
    let elements = places.map(|place| {
        let operand = made.builder.operand(dtype);
        made.builder.gather(operand, place)
    });
    let value = made.builder.choose(piece, &elements);
    made.builder.store(value);
    made.run(&[4, 32], &[random(dtype, 48, 133), random(dtype, 80, 134)])
}

fn both_axes() -> Run {
    let mut made = Made::new(Form::Map, 2);
    let rows = ("", &[2][..], &[(5 * 9, 0), (-2 * 9, 0)][..]);
    let columns = ("", &[4][..], &[(5, 0), (-4, 0)][..]);
    let place = made.index(affine(0, &[9, 1]));
    let row = made.lines(&affine(0, &[1, 0]), rows);
    let column = made.lines(&affine(0, &[0, 1]), columns);
    let at = made.builder.op(Op::Add, &[place, row]);
    let at = made.builder.op(Op::Add, &[at, column]);
    let operand = made.builder.operand(DType::F32);
    let value = made.builder.gather(operand, at);
    let doubled = made.builder.op(Op::Add, &[value, value]);
    made.builder.store(doubled);
    made.run(&[7, 9], &[ordinary(DType::F32, 63, 135)])
}

fn flat() -> Run {
    let mut made = Made::new(Form::Map, 2);
    let at = made.lines(&affine(0, &[9, 1]), ("", &[25], &[(38, 1), (-25, 1)]));
    let operand = made.builder.operand(DType::F32);
    let value = made.builder.gather(operand, at);
    made.builder.store(value);
    made.run(&[7, 9], &[ordinary(DType::F32, 63, 136)])
}

fn nested() -> Run {
    let mut made = Made::new(Form::Map, 1);
    let first = made.lines(&affine(0, &[1]), ("", &[30], &[(20, 1), (-30, 1)]));
    let end = made.param(Scalar::i32(15));
    let piece = made.builder.piece(first, &[end]);
    let shifts = [made.param(Scalar::i32(35)), made.param(Scalar::i32(-15))];
    let shift = made.builder.choose(piece, &shifts);
    let at = made.builder.op(Op::Add, &[first, shift]);
    let operand = made.builder.operand(DType::I32);
    let value = made.builder.gather(operand, at);
    made.builder.store(value);
    made.run(&[50], &[random(DType::I32, 50, 137)])
}

fn numbers() -> Run {
    let mut made = Made::new(Form::Map, 1);
    let number = made.lines(&affine(-5, &[3]), LINES[2]);
    let of = made.index(affine(-5, &[3]));
    let ends = [0, 9, 30].map(|end| made.param(Scalar::i32(end)));
    let piece = made.builder.piece(of, &ends);
    let sum = made.builder.op(Op::Mul, &[number, piece]);
    made.builder.store(sum);
    made.run(&[20], &[])
}

fn loaded() -> Run {
    let mut made = Made::new(Form::Map, 1);
    let access = made.builder.access(AccessKind::Contiguous);
    made.accesses.push(contiguous(&[40]));
    let operand = made.builder.operand(DType::I32);
    let number = made.builder.load(operand, access);
    // The ends of a piece need not rise: the first that is above the number counts.
    let ends = [3, -2, 8].map(|end| made.param(Scalar::i32(end)));
    let piece = made.builder.piece(number, &ends);
    let values = [1.5, -0.0, f32::NAN].map(|value| made.param(Scalar::f32(value)));
    let by_piece = made.builder.choose(piece, &values);
    let by_number = made.builder.choose(number, &values);
    made.builder.store(by_piece);
    made.builder.store(by_number);
    let mut given: Vec<Scalar> = (0..38).map(|k| Scalar::i32(k * 7 % 15 - 5)).collect();
    given.extend([i32::MIN, i32::MAX].map(Scalar::i32));
    made.run(&[40], &[given])
}

fn in_a_loop() -> Run {
    let mut made = Made::new(Form::Map, 1);
    let of = made.index(affine(0, &[1]));
    let ends = [10, 20].map(|end| made.param(Scalar::i32(end)));
    let piece = made.builder.piece(of, &ends);
    let (count, start) = (made.param(Scalar::i32(5)), made.param(Scalar::i32(1)));
    let region = made.builder.begin_loop(count, &[start]);
    let (turn, carried) = (made.builder.iter(region), made.builder.carry(region, 0));
    let sum = made.builder.op(Op::Add, &[carried, turn]);
    let product = made.builder.op(Op::Mul, &[carried, turn]);
    let next = made.builder.choose(piece, &[sum, product, carried]);
    made.builder.end(region, &[next]);
    let result = made.builder.result(region, 0, DType::I32);
    made.builder.store(result);
    made.run(&[30], &[])
}

fn summed(shape: &[usize; 2]) -> Run {
    let [rows, columns] = *shape;
    let mut made = Made::new(Form::Reduce { op: Op::Add }, 2);
    let row = made.index(affine(0, &[columns as i64, 0]));
    let of = made.index(affine(0, &[0, 1]));
    let end = made.param(Scalar::i32(90));
    let piece = made.builder.piece(of, &[end]);
    let shifts = [columns as i32 - 90, -90].map(|shift| made.param(Scalar::i32(shift)));
    let shift = made.builder.choose(piece, &shifts);
    let at = made.builder.op(Op::Add, &[of, shift]);
    let at = made.builder.op(Op::Add, &[row, at]);
    let operand = made.builder.operand(DType::F32);
    let value = made.builder.gather(operand, at);
    let plain = made.builder.reduce(value);
    let doubled = made.builder.op(Op::Add, &[plain, plain]);
    made.builder.store(doubled);
    made.run(shape, &[ordinary(DType::F32, rows * columns, 138)])
}
