//! Instruction selection: the machine instructions of each operation.
//!
//! Each task of the writer has a function here. All follow one rule: the last instruction of a task writes its result,
//! and only that instruction may overwrite an operand. `None` means that the operation is not supported for these
//! dtypes on this machine.
//!
//! | file | operations |
//! |---|---|
//! | `leaf.rs` | loads, indices, parameters, stores |
//! | `gather.rs` | elements at computed indices |
//! | `float.rs`, `int.rs`, `logic.rs` | arithmetic of one dtype |
//! | `float16.rs` | float16, by way of float32 |
//! | `divide.rs` | quotients and remainders of integers |
//! | `narrow_ints.rs` | integers of 8 and 16 bits |
//! | `comparisons.rs` | comparisons and selects |
//! | `convert.rs` | casts |
//! | `lane_ops.rs` | shared by these: comparisons of floats, blends, halves of lanes, pairs of vectors |
//! | `avx2_halves.rs` | 64-bit operations that AVX2 lacks |
//! | `complex_lanes.rs` | parts of consecutive complex numbers |

mod avx2_halves;
mod comparisons;
mod complex_lanes;
mod convert;
mod divide;
mod float;
mod float16;
mod gather;
mod int;
mod lane_ops;
mod leaf;
mod logic;
mod narrow_ints;

use crate::code::opcodes::LaneWidth;
use crate::function_writer::FunctionWriter;
use gpupy_core::DType;
use gpupy_core::ir::Inst;
use gpupy_core::op::{Op, Rule};

/// The constant of all set bits.
const ONES: u64 = u64::MAX;

impl FunctionWriter<'_> {
    /// Writes the instructions of the current task.
    pub fn lower(&mut self, inst: &Inst) -> Option<()> {
        match inst.op {
            Op::Load => return self.load(inst.dtype),
            Op::Gather => return self.gather(inst),
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
        let width = LaneWidth::of(dtype)?;
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

/// The sign bit of a lane.
fn sign_bit(width: LaneWidth) -> u64 {
    match width {
        LaneWidth::W32 => 1 << 31,
        LaneWidth::W64 => 1 << 63,
    }
}

/// All bits of a lane except the sign bit.
fn magnitude_bits(width: LaneWidth) -> u64 {
    sign_bit(width) - 1
}

/// A float as the bits of a lane.
fn float_bits(width: LaneWidth, value: f64) -> u64 {
    match width {
        LaneWidth::W32 => u64::from((value as f32).to_bits()),
        LaneWidth::W64 => value.to_bits(),
    }
}
