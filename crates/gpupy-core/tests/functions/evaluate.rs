//! Evaluates a function's program for rows of operands, instruction by instruction.
//!
//! Common operations on float32 and 32-bit integers are loops that the compiler vectorises, so that all 2^32 operands
//! take minutes. The others use the reference, `op_eval`.

use gpupy_core::ir::{Inst, Program};
use gpupy_core::{DType, Op, op_eval};

/// Operands in a row: few enough for the L1 cache.
pub const ROW: usize = 512;

/// A program with room for its values.
pub struct Evaluator<'p> {
    program: &'p Program,
    rows: Vec<[u64; ROW]>,
    narrow: Vec<[u32; ROW]>,
}

impl<'p> Evaluator<'p> {
    pub fn new(program: &'p Program) -> Evaluator<'p> {
        let count = program.insts.len();
        Evaluator { program, rows: vec![[0; ROW]; count], narrow: vec![[0; ROW]; count] }
    }

    /// The results for rows of operands, by their bits.
    pub fn run(&mut self, operands: &[&[u64; ROW]]) -> [u64; ROW] {
        for at in 0..self.program.insts.len() {
            let inst = self.program.insts[at];
            let [a, b, _] = inst.args.map(|arg| arg as usize);
            match inst.op {
                Op::Const => self.rows[at] = [a as u64 | (b as u64) << 32; ROW],
                Op::Param => self.rows[at] = *operands[a],
                Op::Store => return self.rows[b],
                _ => self.step(at, &inst),
            }
        }
        [0; ROW]
    }

    /// The result for one number, or a pair, of float64.
    pub fn run_one(&mut self, operands: &[f64]) -> f64 {
        let rows: Vec<[u64; ROW]> = operands.iter().map(|x| [x.to_bits(); ROW]).collect();
        f64::from_bits(self.run(&rows.iter().collect::<Vec<_>>())[0])
    }

    fn step(&mut self, at: usize, inst: &Inst) {
        let [a, b, c] = inst.args.map(|arg| arg as usize);
        let operand = if inst.op == Op::Select { b } else { a };
        let from = self.program.insts[operand].dtype;
        let apply = op_eval::function(inst.op, from, inst.dtype)
            .unwrap_or_else(|| panic!("{:?} of {from}", inst.op));
        let (before, now) = self.rows.split_at_mut(at);
        for k in 0..ROW {
            now[0][k] = apply(before[a][k], before[b][k], before[c][k]);
        }
    }

    /// The results of a program of one float32 operand for a row of operands.
    pub fn run_single(&mut self, operands: &[u32; ROW]) -> [u32; ROW] {
        for at in 0..self.program.insts.len() {
            let inst = self.program.insts[at];
            match inst.op {
                Op::Const => self.narrow[at] = [inst.args[0]; ROW],
                Op::Param => self.narrow[at] = *operands,
                Op::Store => return self.narrow[inst.args[1] as usize],
                _ => self.step_single(at, &inst),
            }
        }
        [0; ROW]
    }

    fn step_single(&mut self, at: usize, inst: &Inst) {
        let [a, b, c] = inst.args.map(|arg| arg as usize);
        let operand = if inst.op == Op::Select { b } else { a };
        let from = self.program.insts[operand].dtype;
        let (before, now) = self.narrow.split_at_mut(at);
        let (a, b, c, out) = (&before[a], &before[b], &before[c], &mut now[0]);
        let f = f32::from_bits;
        macro_rules! each {
            (|$x:ident, $y:ident, $z:ident| $body:expr) => {
                for k in 0..ROW {
                    let ($x, $y, $z) = (a[k], b[k], c[k]);
                    out[k] = $body;
                }
            };
        }
        match (inst.op, from, inst.dtype) {
            (Op::Add, DType::F32, _) => each!(|x, y, _z| (f(x) + f(y)).to_bits()),
            (Op::Sub, DType::F32, _) => each!(|x, y, _z| (f(x) - f(y)).to_bits()),
            (Op::Mul, DType::F32, _) => each!(|x, y, _z| (f(x) * f(y)).to_bits()),
            (Op::Div, DType::F32, _) => each!(|x, y, _z| (f(x) / f(y)).to_bits()),
            (Op::Sqrt, DType::F32, _) => each!(|x, _y, _z| f(x).sqrt().to_bits()),
            (Op::Rint, DType::F32, _) => each!(|x, _y, _z| f(x).round_ties_even().to_bits()),
            (Op::Lt, DType::F32, _) => each!(|x, y, _z| u32::from(f(x) < f(y))),
            (Op::Gt, DType::F32, _) => each!(|x, y, _z| u32::from(f(x) > f(y))),
            (Op::Add, DType::I32 | DType::U32, _) => each!(|x, y, _z| x.wrapping_add(y)),
            (Op::Sub, DType::I32 | DType::U32, _) => each!(|x, y, _z| x.wrapping_sub(y)),
            (Op::Mul, DType::I32 | DType::U32, _) => each!(|x, y, _z| x.wrapping_mul(y)),
            (Op::And, ..) => each!(|x, y, _z| x & y),
            (Op::Or, ..) => each!(|x, y, _z| x | y),
            (Op::Xor, ..) => each!(|x, y, _z| x ^ y),
            (Op::Eq, DType::I32 | DType::U32, _) => each!(|x, y, _z| u32::from(x == y)),
            (Op::Lt, DType::U32, _) => each!(|x, y, _z| u32::from(x < y)),
            (Op::Bitcast, ..) => each!(|x, _y, _z| x),
            (Op::Select, ..) => each!(|x, y, z| if x != 0 { y } else { z }),
            (Op::Cast, DType::F32, DType::I32) => each!(|x, _y, _z| {
                let in_range = (-2147483648.0..2147483648.0).contains(&f(x));
                (if in_range { f(x) as i32 } else { i32::MIN }) as u32
            }),
            (Op::Cast, DType::I32, DType::F32) => each!(|x, _y, _z| (x as i32 as f32).to_bits()),
            (Op::Cast, DType::U32, DType::F32) => each!(|x, _y, _z| (x as f32).to_bits()),
            (op, from, to) => {
                let apply =
                    op_eval::function(op, from, to).unwrap_or_else(|| panic!("{op:?} of {from}"));
                for k in 0..ROW {
                    out[k] = apply(a[k].into(), b[k].into(), c[k].into()) as u32;
                }
            }
        }
    }
}
