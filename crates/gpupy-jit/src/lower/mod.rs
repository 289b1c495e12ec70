//! The instructions of each operation.
//!
//! One function for each task that the writer performs. All follow one rule: the last instruction of
//! a task writes its result, and only it may write over an operand. `None` means that there is no
//! code for this operation on these dtypes and this machine.
//!
//! | file | operations |
//! |---|---|
//! | `leaf.rs` | elements, numbers of points, parameters, stores |
//! | `float.rs`, `int.rs`, `logic.rs` | arithmetic of one dtype |
//! | `float16.rs` | float16, by way of float32 |
//! | `divide.rs` | quotients and remainders of integers |
//! | `small.rs` | integers of 8 and 16 bits |
//! | `test.rs` | comparisons and choices |
//! | `convert.rs` | casts |
//! | `lanes.rs` | comparisons of floats, choices by lane, halves of lanes: what several of these need |
//! | `halves.rs` | what AVX2 lacks for lanes of 64 bits |
//! | `paired.rs` | the parts of complex numbers |

mod convert;
mod divide;
mod float;
mod float16;
mod halves;
mod int;
mod lanes;
mod leaf;
mod logic;
mod paired;
mod small;
mod test;

use crate::code::opcodes::Width;
use crate::writer::Writer;
use gpupy_core::DType;
use gpupy_core::ir::Inst;
use gpupy_core::op::{Op, Rule};

/// The constant of all set bits.
const ONES: u64 = u64::MAX;

impl Writer<'_> {
    /// Writes the instructions of the task at hand.
    pub fn lower(&mut self, inst: &Inst) -> Option<()> {
        match inst.op {
            Op::Load => return self.load(inst.dtype),
            Op::Index => return self.index(),
            Op::Param => return self.param(inst),
            Op::Store => return self.store(inst),
            Op::Cast if inst.dtype == DType::F16 || self.dtype(inst, 0) == DType::F16 => {
                return self.cast_float16(self.dtype(inst, 0), inst.dtype);
            }
            Op::Cast => return self.cast(self.dtype(inst, 0), inst.dtype),
            Op::Select => return self.select(inst),
            Op::Result => return self.chosen(inst),
            _ => {}
        }
        let dtype = self.dtype(inst, 0);
        let width = Width::of(dtype)?;
        if let Some((what, by)) = self.plan.shift(inst) {
            let from = self.reg(0);
            let to = self.result();
            self.shift_by(width, what, to, from, by);
            return Some(());
        }
        let tests = inst.op.info().rule == Rule::Compare && dtype != DType::Bool;
        match inst.op {
            Op::IsNan | Op::IsInf | Op::IsFinite => self.test(inst),
            _ if tests => self.test(inst),
            Op::Bitcast if dtype == DType::Bool => self.cast(dtype, inst.dtype),
            op if dtype == DType::Bool => self.logic(op),
            Op::Min | Op::Max if dtype.is_float() => {
                self.extreme(inst, width);
                Some(())
            }
            op if dtype == DType::F16 => self.float16(op),
            op if dtype.size() < 4 => self.small(op, inst.dtype),
            op if dtype.is_float() => self.float(op, width),
            op => self.int(op, dtype, width),
        }
    }
}

/// Bits of the sign of a lane.
fn sign_bit(width: Width) -> u64 {
    match width {
        Width::W32 => 1 << 31,
        Width::W64 => 1 << 63,
    }
}

/// All bits of a lane but its sign's.
fn magnitude_bits(width: Width) -> u64 {
    sign_bit(width) - 1
}

/// A float as the bits of a lane.
fn float_bits(width: Width, value: f64) -> u64 {
    match width {
        Width::W32 => u64::from((value as f32).to_bits()),
        Width::W64 => value.to_bits(),
    }
}
