//! Builds library functions.
//!
//! Owns [`FunctionBuilder`]. Not here: the functions (`float16_casts.rs`, `integers.rs`, `division.rs`).

use gpupy_core::ir::{Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The bits of infinity, as a float32.
pub const INFINITY: u64 = 0x7f80_0000;

/// A library function under construction.
pub struct FunctionBuilder(pub Builder);

impl FunctionBuilder {
    pub fn new() -> FunctionBuilder {
        FunctionBuilder(Builder::new(Form::Map, 1))
    }

    pub fn op(&mut self, op: Op, values: &[u32]) -> u32 {
        self.0.op(op, values)
    }

    /// A literal of the dtype of `value`.
    pub fn like(&mut self, value: u32, bits: u64) -> u32 {
        let dtype = self.0.dtype(value);
        self.0.constant(Scalar::new(dtype, bits))
    }

    /// An operation on a value and a literal.
    pub fn with(&mut self, op: Op, value: u32, bits: u64) -> u32 {
        let literal = self.like(value, bits);
        self.op(op, &[value, literal])
    }

    pub fn select(&mut self, condition: u32, a: u32, b: u32) -> u32 {
        self.op(Op::Select, &[condition, a, b])
    }

    pub fn cast(&mut self, value: u32, to: DType) -> u32 {
        self.0.convert(Op::Cast, value, to)
    }

    pub fn bits(&mut self, value: u32, to: DType) -> u32 {
        self.0.convert(Op::Bitcast, value, to)
    }

    /// A float's magnitude bits, and its sign bit in place.
    pub fn parts(&mut self, float: u32) -> (u32, u32) {
        let (unsigned, mask) = match self.0.dtype(float) {
            DType::F64 => (DType::U64, u64::MAX >> 1),
            _ => (DType::U32, 0x7fff_ffff),
        };
        let bits = self.bits(float, unsigned);
        let magnitude = self.with(Op::And, bits, mask);
        (magnitude, self.op(Op::Xor, &[bits, magnitude]))
    }

    pub fn gives(mut self, value: u32) -> Program {
        self.0.store(value);
        self.0.finish()
    }
}
