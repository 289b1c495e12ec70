//! The resources that a program needs in a compute kernel: instructions, arguments, buffers.
//!
//! Owns the meaning of the slots of `Resources`. The device limits buffers. The other limits are gpupy's own budgets:
//! much longer kernels take more time to compile than they save by fewer launches.
//!
//! Invariant: the sum over a program's parts is never below `of_program`.
//!
//! Not here: whether an operation is supported (`operation_support.rs`).

use crate::device::driver_answers;
use crate::emit::operations::instructions;
use crate::emulation64::split_storage::EmulationLevel;
use crate::emulation64::word_pairs::most_instructions;
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

/// The most reductions of a program: the least workgroup memory, 16 KiB, has room for this many with 32-bit lanes.
pub const MOST_REDUCTIONS: usize = 4;

/// The most buffers in use, because each takes argument words.
const MOST_BUFFERS: u32 = 40;

/// The limits in force: those of a device with this many buffers per kernel, and gpupy's own. A configuration may
/// lower them.
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

/// The limits with the names of their slots, for display.
pub fn named(limits: &Resources) -> Vec<(Cow<'static, str>, u32)> {
    driver_answers::named(&NAMES, limits)
}

/// The most that one part needs.
pub fn of_part(part: Part, split: EmulationLevel) -> Resources {
    let mut need = of_short(part);
    let halves = match part {
        Part::Op(op, dtype)
            if op.info().rule != Rule::Special && split == EmulationLevel::Integers =>
        {
            let most = most_instructions(op, dtype);
            // Each instruction counts as the most expensive of its possible emulations.
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

/// The needs of one part without emulation.
fn of_short(part: Part) -> Resources {
    let mut need = Resources::default();
    match part {
        Part::Op(op, dtype) => {
            need.0[INSTRUCTIONS] = instructions(op, dtype);
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

/// The exact needs of a program.
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
    need.0[TEMPORARIES] = program.most_live_values();
    need.0[PARAMETERS] = program.params.len() as u32;
    need.0[BUFFERS] = (program.operands.len() + program.dests.len()) as u32;
    need
}
