//! The account of what a program needs: instructions, numbers of the launch, buffers.
//!
//! Owns the meaning of the slots of `Resources`. The device limits buffers; the other limits are
//! budgets of ours: kernels much longer take more time to compile than they save launches.
//!
//! Invariant: the sum over a program's parts is never below what `of_program` finds.
//!
//! Not here: whether an operation exists at all (`operation_support.rs`).

use crate::analysis::liveness::most_live_values;
use crate::device::driver_answers;
use crate::emulation64::split_storage::EmulationLevel;
use crate::emulation64::word_pairs::most_instructions;
use gpupy_core::DType;
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Program;
use gpupy_core::op::{Op, Rule};
use std::borrow::Cow;

/// Slots of [`Resources`].
const INSTRUCTIONS: usize = 0;
const LOADS: usize = 1;
const TEMPORARIES: usize = 2;
const PARAMETERS: usize = 3;
/// The slot that counts destinations.
pub const DESTINATIONS: usize = 4;
const BUFFERS: usize = 5;

const NAMES: [&str; 6] =
    ["instructions", "loads", "temporaries", "parameters", "destinations", "buffers"];

/// The most reductions of a program: in the least memory that a group has, 16 KiB, this many have room for
/// lanes of 32 bits.
pub const MOST_REDUCTIONS: usize = 4;

/// More buffers than this are not asked for, since each has its numbers.
const MOST_BUFFERS: u32 = 40;

/// The limits in force: those of a device whose kernels reach so many buffers and ours, or lower ones
/// where the configuration has them.
pub fn limits(buffers: u32, lowered: &Resources) -> Resources {
    let buffers = buffers.min(MOST_BUFFERS);
    let mut limits = Resources::default();
    limits.0[INSTRUCTIONS] = 1536;
    limits.0[LOADS] = 128;
    limits.0[TEMPORARIES] = 2048;
    limits.0[PARAMETERS] = 1024;
    limits.0[DESTINATIONS] = (buffers / 2).min(8);
    limits.0[BUFFERS] = buffers;
    driver_answers::lowered(limits, lowered)
}

/// The limits with their names, for people to read.
pub fn named(limits: &Resources) -> Vec<(Cow<'static, str>, u32)> {
    driver_answers::named(&NAMES, limits)
}

/// What one part needs at most.
pub fn of_part(part: Part, split: EmulationLevel) -> Resources {
    let mut need = of_short(part);
    let halves = match part {
        Part::Op(op, dtype)
            if op.info().rule != Rule::Special && split == EmulationLevel::Integers =>
        {
            let most = most_instructions(op, dtype);
            // Each stands for one of the most expensive that it may be; narrow ones stay as they are.
            need.0[INSTRUCTIONS] = need.0[INSTRUCTIONS].max(3 * most);
            need.0[TEMPORARIES] = most;
            false
        }
        Part::Op(_, dtype) | Part::Operand(dtype) | Part::Dest(dtype) | Part::Param(dtype) => {
            split.splits(dtype)
        }
        Part::Index => false,
    };
    if halves {
        need.0.iter_mut().for_each(|need| *need *= 2);
    }
    need
}

/// What one part needs where no element is split.
fn of_short(part: Part) -> Resources {
    let mut need = Resources::default();
    match part {
        Part::Op(op, dtype) => {
            need.0[INSTRUCTIONS] = cost(op, dtype);
            need.0[LOADS] = u32::from(op == Op::Gather);
            need.0[TEMPORARIES] = 1;
        }
        Part::Operand(_) => {
            need.0[INSTRUCTIONS] = 2;
            need.0[LOADS] = 1;
            need.0[TEMPORARIES] = 1;
            need.0[BUFFERS] = 1;
        }
        Part::Param(_) => need.0[PARAMETERS] = 1,
        Part::Index => {
            need.0[INSTRUCTIONS] = 2;
            need.0[TEMPORARIES] = 1;
        }
        Part::Dest(_) => {
            need.0[INSTRUCTIONS] = 1;
            need.0[DESTINATIONS] = 1;
            need.0[BUFFERS] = 1;
        }
    }
    need
}

/// What a program really needs.
pub fn of_program(program: &Program) -> Resources {
    let mut need = Resources::default();
    for inst in &program.insts {
        let part = match inst.op {
            Op::Const | Op::Param => continue,
            Op::Load => Part::Operand(inst.dtype),
            Op::Index => Part::Index,
            Op::Store => Part::Dest(inst.dtype),
            op => Part::Op(op, inst.dtype),
        };
        let part = of_short(part);
        for slot in [INSTRUCTIONS, LOADS, DESTINATIONS] {
            need.0[slot] += part.0[slot];
        }
    }
    need.0[TEMPORARIES] = most_live_values(program);
    need.0[PARAMETERS] = program.params.len() as u32;
    need.0[BUFFERS] = (program.operands.len() + program.dests.len()) as u32;
    need
}

/// Instructions of an operation, roughly, as compilers for GPUs count them.
fn cost(op: Op, dtype: DType) -> u32 {
    match op {
        _ if op.info().rule == Rule::Special => 0,
        Op::Min | Op::Max if dtype == DType::F32 => 3,
        Op::Sign | Op::Copysign | Op::Shl | Op::Shr => 3,
        Op::Cast | Op::IsNan | Op::IsInf | Op::IsFinite | Op::SignBit | Op::Gather => 2,
        Op::FloorDiv | Op::Mod => 8,
        _ => 1,
    }
}
