//! The account of what a program needs: the seven resources of fragment programs, and textures.
//!
//! Owns the meaning of the slots of `Resources`. The context reports limits of parameters, draw buffers and
//! textures. OpenGL's core profile has no limits for the others; theirs are budgets of this driver: much longer
//! shaders take more time to compile than they save in launches (on llvmpipe 0.4 s for the 900 instructions of
//! the distance map of 100 points, and more than proportionally beyond).
//!
//! Invariant: the sum over a program's parts is never below the account of `of_program`.
//!
//! Not here: whether an operation is supported at all (`get_method` in `driver.rs`).

use crate::context::egl::Limits;
use gpupy_codegen::driver_answers;
use gpupy_codegen::instructions;
use gpupy_codegen::split_storage::EmulationLevel;
use gpupy_codegen::word_pairs::most_instructions;
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Program;
use gpupy_core::op::{Op, Rule};
use std::borrow::Cow;

/// Slots of [`Resources`].
const INSTRUCTIONS: usize = 0;
const ARITHMETIC: usize = 1;
const FETCHES: usize = 2;
const INDIRECTIONS: usize = 3;
const TEMPORARIES: usize = 4;
const PARAMETERS: usize = 5;
/// The slot that counts destinations.
pub const DRAW_BUFFERS: usize = 6;
const TEXTURES: usize = 7;

const NAMES: [&str; 8] = [
    "instructions",
    "arithmetic instructions",
    "texture instructions",
    "texture indirections",
    "temporaries",
    "parameters",
    "draw buffers",
    "textures",
];

/// The most reductions of a program: each keeps lanes in registers.
pub const MOST_REDUCTIONS: usize = 4;
/// The most textures that are used, because each takes parameters.
const MOST_TEXTURES: u32 = 32;
/// The most instructions to join or split an element of 64 bits.
const OF_HALVES: u32 = 12;
/// The most kernel arguments for the access of one operand: an offset, strides, a wrap.
const WORDS_OF_LOAD: u32 = 24;
/// Kernel arguments for the destination and for constants, with some reserve.
const WORDS_OF_FRAME: u32 = 64;
/// Kernel arguments for an index value over as many axes as most arrays have.
const WORDS_OF_INDEX: u32 = 4;

/// The limits in force: the context's and this driver's, or lower ones of the configuration.
pub fn limits(context: &Limits, lowered: &Resources) -> Resources {
    let mut limits = Resources::default();
    limits.0[INSTRUCTIONS] = 1536;
    limits.0[ARITHMETIC] = 1024;
    limits.0[FETCHES] = 64;
    limits.0[INDIRECTIONS] = 16;
    // Compilers spill registers, so this limit only serves configurations that lower it.
    limits.0[TEMPORARIES] = 2048;
    // Arguments for accesses come with every launch; the rest is for scalars.
    let walks = WORDS_OF_LOAD * context.texture_units.min(MOST_TEXTURES) + WORDS_OF_FRAME;
    limits.0[PARAMETERS] = context.uniform_components.saturating_sub(walks).max(64);
    limits.0[DRAW_BUFFERS] = context.draw_buffers;
    // One texture is reserved for the old contents of a destination.
    limits.0[TEXTURES] = context.texture_units.min(MOST_TEXTURES).saturating_sub(1);
    driver_answers::lowered(limits, lowered)
}

/// The limits with their names, for people to read.
pub fn named(limits: &Resources) -> Vec<(Cow<'static, str>, u32)> {
    driver_answers::named(&NAMES, limits)
}

/// The account of one part, an upper bound.
pub fn of_part(part: Part, split: EmulationLevel) -> Resources {
    let mut need = of_short(part);
    match part {
        Part::Param(dtype) if dtype.size() == 8 => need.0[PARAMETERS] = 2,
        // One for each half, and the instructions that split or join elements.
        Part::Operand(dtype) | Part::Dest(dtype) | Part::Op(Op::Gather, dtype)
            if split.splits(dtype) =>
        {
            for need in &mut need.0 {
                *need *= 2;
            }
            need.0[INSTRUCTIONS] += OF_HALVES;
            need.0[ARITHMETIC] += OF_HALVES;
            need.0[TEMPORARIES] += OF_HALVES;
        }
        Part::Op(op, dtype)
            if split == EmulationLevel::Integers && op.info().rule != Rule::Special =>
        {
            let most = most_instructions(op, dtype);
            // Each counts as the most expensive form that it may take.
            need.0[ARITHMETIC] = need.0[ARITHMETIC].max(3 * most + 20);
            need.0[INSTRUCTIONS] = need.0[ARITHMETIC];
            need.0[TEMPORARIES] = most;
        }
        _ => {}
    }
    need
}

/// The account of one part where elements have at most 32 bits.
fn of_short(part: Part) -> Resources {
    let mut need = Resources::default();
    match part {
        Part::Op(Op::Gather, _) => {
            need.0[INSTRUCTIONS] = 2;
            need.0[ARITHMETIC] = 1;
            need.0[FETCHES] = 1;
            need.0[INDIRECTIONS] = 1;
            need.0[TEMPORARIES] = 1;
        }
        Part::Op(op, dtype) => {
            need.0[ARITHMETIC] = instructions(op, dtype);
            need.0[INSTRUCTIONS] = need.0[ARITHMETIC];
            need.0[TEMPORARIES] = 1;
        }
        Part::Operand(_) => {
            need.0[INSTRUCTIONS] = 2;
            need.0[ARITHMETIC] = 1;
            need.0[FETCHES] = 1;
            need.0[TEMPORARIES] = 1;
            need.0[TEXTURES] = 1;
        }
        Part::Param(_) => need.0[PARAMETERS] = 1,
        Part::Index => {
            need.0[INSTRUCTIONS] = 1;
            need.0[ARITHMETIC] = 1;
            need.0[TEMPORARIES] = 1;
            need.0[PARAMETERS] = WORDS_OF_INDEX;
        }
        Part::Dest(_) => {
            need.0[INSTRUCTIONS] = 1;
            need.0[DRAW_BUFFERS] = 1;
        }
    }
    need
}

/// The exact account of a program.
pub fn of_program(program: &Program) -> Resources {
    let mut need = Resources::default();
    // The number of gathers on the path to each value.
    let mut chain = vec![0u32; program.insts.len()];
    for (at, inst) in program.insts.iter().enumerate() {
        let before = program.uses(inst).map(|v| chain[v as usize]).max().unwrap_or(0);
        chain[at] = before + u32::from(inst.op == Op::Gather);
        need.0[INDIRECTIONS] = need.0[INDIRECTIONS].max(chain[at]);
        let part = match inst.op {
            Op::Const | Op::Param => continue,
            Op::Load => Part::Operand(inst.dtype),
            Op::Index => Part::Index,
            Op::Store => Part::Dest(inst.dtype),
            op => Part::Op(op, inst.dtype),
        };
        let part = of_short(part);
        for slot in [INSTRUCTIONS, ARITHMETIC, FETCHES, DRAW_BUFFERS, PARAMETERS] {
            need.0[slot] += part.0[slot];
        }
    }
    need.0[TEMPORARIES] = program.most_live_values();
    need.0[PARAMETERS] += program.params.iter().map(|d| d.size().div_ceil(4) as u32).sum::<u32>();
    need.0[TEXTURES] = program.operands.len() as u32;
    need
}
