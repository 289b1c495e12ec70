//! Wide machine code for programs, on x86-64.
//!
//! A program that is a map without loops and gathers becomes one loop over a row of points, with
//! AVX-512 or AVX2 as the machine has it, in lanes of 32 or 64 bits. Of an `if`, the first branch is
//! passed over where no point of a vector takes it. What it computes is what
//! `gpupy_core::op_eval` says, to the bit: nothing is reassociated or contracted. What is not such a
//! program is `None`, and left to whoever interprets programs; so is what has only bools and integers
//! of 8 and 16 bits, for which there are more lanes to be had.
//!
//! In the order of the data:
//!
//! | file | what it owns |
//! |---|---|
//! | `isa.rs` | what a machine can do |
//! | `complex_parts.rs` | complex numbers as their parts |
//! | `if_conversion.rs` | what `if` regions choose between |
//! | `plan/` | what is computed once a row, what in each pass, and in which order |
//! | `function_writer.rs` | the function around the code: its entry, loop and end |
//! | `lower/` | the instructions of each operation |
//! | `register_allocation.rs` | which value is in which register |
//! | `constant_pool.rs` | constants |
//! | `code/` | instructions, and their bytes |
//! | `row_arguments.rs` | a row of points, and where its elements lie |
//! | `compiled_kernel.rs`, `strided_copies.rs` | finished code, and running it over a row |
//!
//! Compiling takes about as long as interpreting a program over a few hundred points; the figures
//! are those of `cargo run --release -p gpupy-jit --example timing`.
//!
//! Not here: iteration spaces of several axes, threads, and caches of kernels (the driver's).

#![warn(missing_docs)]

mod aligned_bytes;
mod code;
mod compiled_kernel;
mod complex_parts;
mod constant_pool;
mod function_writer;
mod if_conversion;
mod isa;
mod lower;
mod plan;
mod register_allocation;
mod row_arguments;
mod strided_copies;

pub use compiled_kernel::Kernel;
pub use isa::Isa;
pub use row_arguments::{RowArguments, StridedPointer};

use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// How an access or destination goes along a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowStride {
    /// Each point has the next element; of an `index`: any step.
    Unit,
    /// All points have one element, or one number.
    Zero,
    /// Any step, in elements that do not overlap.
    Any,
    /// Of a float destination: of each 256 points, every sixteenth is added to the same of 16 elements, as
    /// the lanes of a sum are (`gpupy_core::ir::Form::Reduce`). A row has whole chunks of 256 points, and
    /// `Unit` and `Zero` accesses alone.
    Lanes,
    /// Each point has the real part of the next complex number; the next walk is that of the imaginary
    /// parts. Only `complex_parts.rs` makes these two, of `Unit`.
    #[doc(hidden)]
    Real,
    /// Each point has the imaginary part of the next complex number.
    #[doc(hidden)]
    Imaginary,
}

impl RowStride {
    /// Whether it goes along a part of complex numbers that lie one behind the other.
    fn is_of_parts(self) -> bool {
        matches!(self, RowStride::Real | RowStride::Imaginary)
    }
}

/// How a row's accesses and destinations go.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StrideVariant {
    /// For each `load` and `index` of the program, in the order of its instructions.
    pub accesses: Vec<RowStride>,
    /// For each destination.
    pub dests: Vec<RowStride>,
}

impl StrideVariant {
    /// The instructions whose walks a variant and a row list, in that order.
    pub fn walks(program: &Program) -> impl Iterator<Item = usize> + '_ {
        let all = program.insts.iter().enumerate();
        all.filter(|(_, inst)| matches!(inst.op, Op::Load | Op::Index)).map(|(at, _)| at)
    }
}

/// Code for a program that verifies, or `None` where there is none: the machine has no AVX2, or the
/// program is not one that this crate writes.
pub fn compile(program: &Program, variant: &StrideVariant) -> Option<Kernel> {
    compile_for(program, variant, Isa::detect()?)
}

/// Code for an instruction set of this machine that need not be its best, for tests.
///
/// Gives `None` also where the machine lacks the instruction set.
#[doc(hidden)]
pub fn compile_for(program: &Program, variant: &StrideVariant, isa: Isa) -> Option<Kernel> {
    let best = Isa::detect()?;
    if isa == Isa::Avx512 && best != Isa::Avx512 {
        return None;
    }
    let of_parts = complex_parts::are_in(program);
    if variant.dests.contains(&RowStride::Lanes)
        && (of_parts || variant.accesses.contains(&RowStride::Any))
    {
        return None;
    }
    if !of_parts {
        return function_writer::write(program, variant, isa);
    }
    let (program, variant, parts) = complex_parts::of(program, variant, isa)?;
    Some(function_writer::write(&program, &variant, isa)?.of_parts(parts))
}
