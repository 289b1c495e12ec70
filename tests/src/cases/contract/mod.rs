//! The 14 functions of the contract, one file and one group each: their promises apart from the results of
//! programs.
//!
//! Not here: the results of programs (the levels beside this folder).

pub mod block_alloc;
pub mod block_free;
pub mod block_read;
pub mod block_write;
pub mod check_ir;
pub mod cleanup;
pub mod eval_ir;
pub mod get_method;
pub mod init;
pub mod mistakes;
pub mod resource_add;
pub mod resource_check;
pub mod resource_get;
pub mod resource_sub;
pub mod resource_zero;

mod imported;
mod threads;

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::oracle::{Run, contiguous};
use crate::reporting::outcome::Outcome;
use gpupy_core::driver::Part;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// A program that computes `x + x` over `n` elements of float32.
fn doubling(n: usize) -> Run {
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, access);
    let twice = b.op(Op::Add, &[x, x]);
    b.store(twice);
    Run::new(b.finish(), &[n]).access(contiguous(&[n]))
}

/// Parts of every kind.
const PARTS: [Part; 8] = [
    Part::Op(Op::Add, DType::F32),
    Part::Op(Op::Sin, DType::F32),
    Part::Op(Op::Gather, DType::F32),
    Part::Operand(DType::F32),
    Part::Operand(DType::Bool),
    Part::Param(DType::I32),
    Part::Index,
    Part::Dest(DType::F32),
];

/// Small numbers, all different.
fn numbers(n: usize, from: usize) -> Vec<Scalar> {
    (from..from + n).map(|k| Scalar::f32(k as f32)).collect()
}

/// A block is allocated, written, doubled, read and freed.
fn works(device: &mut Device) -> Outcome {
    let source = device.upload(DType::F32, &numbers(300, 1))?;
    let dest = device.alloc(DType::F32, 300)?;
    device.eval(&doubling(300), &[source], &[dest])?;
    let got = device.read(dest, DType::F32, 0, 300)?;
    device.driver.block_free(source);
    device.driver.block_free(dest);
    let wanted: Vec<_> = (1..301).map(|k| Scalar::f32(2.0 * k as f32)).collect();
    same(&got, &wanted, "a doubled block")
}
