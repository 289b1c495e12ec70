//! A just-in-time compiler: IR programs become SIMD machine code for x86-64.
//!
//! A map without loops becomes one loop over a row of points, in AVX-512 or AVX2, with lanes of 32 or 64 bits. An `if`
//! is converted to a select; its first branch is skipped if no point of a vector takes it. Results are those of
//! `gpupy_core::op_eval`, to the bit: nothing is reassociated or contracted. [`compile`] returns `None` for other
//! programs, which the driver interprets. It also returns `None` for programs that have only bools and integers of 8
//! and 16 bits, or float16 that they move, for which an interpreter with narrower lanes is faster, and for gathers of
//! float16 to compute with.
//!
//! Begin with [`compile`] and [`Kernel::run`]. The files, in the order of compilation:
//!
//! | file | what it owns |
//! |---|---|
//! | `isa.rs` | instruction sets |
//! | `gpupy_core::ir::bfloat16_lowering` | bfloat16 as uint16 and float32 |
//! | `complex_parts.rs` | complex numbers split into real and imaginary parts |
//! | `if_conversion.rs` | `if` regions as selects |
//! | `plan/` | dead code, loop invariants, pairs of vectors, instruction order |
//! | `function_writer.rs` | the function around the code: entry, loop, end |
//! | `lower/` | instruction selection for each operation |
//! | `register_allocation.rs` | register allocation and spilling |
//! | `constant_pool.rs` | constants in memory |
//! | `code/` | opcodes and their encoding |
//! | `row_arguments.rs` | the arguments of a call: a row of points and its elements |
//! | `compiled_kernel.rs`, `strided_copies.rs` | executable code, and its calls |
//!
//! Compiling takes about as long as interpreting a program over a few hundred points
//! (`cargo run --release -p gpupy-jit --example timing`).
//!
//! Not here: iteration spaces of several axes, threads, and caches of kernels (driver-cpu).

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
pub use row_arguments::{GatherTable, RowArguments, RowGroup, StridedPointer};
pub use strided_copies::{PackedRows, beside, join, take_apart};

use crate::plan::moved_halves;
use gpupy_core::DType;
use gpupy_core::ir::{Inst, Program, bfloat16_lowering};
use gpupy_core::op::Op;

/// The stride of an access or destination along a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowStride {
    /// Each point has the next element. For an `index`: any stride.
    Unit,
    /// All points have one element, or one index.
    Zero,
    /// Any stride with elements that do not overlap.
    Any,
    /// For an `index`: each point has the next int32 in memory.
    Listed,
    /// For a float destination: a sum in 16 lanes. In each 256 points, point `k` is added to element `k % 16` of the
    /// chunk, like the lanes of a sum (`gpupy_core::ir::Form::Reduce`). The row has whole chunks of 256 points, and
    /// only `Unit` and `Zero` accesses.
    Lanes,
    /// Each point has the real part of the next complex number. The next stride is `Imaginary`. Only
    /// `complex_parts.rs` makes these two, from `Unit`.
    #[doc(hidden)]
    Real,
    /// Each point has the imaginary part of the next complex number.
    #[doc(hidden)]
    Imaginary,
}

impl RowStride {
    /// Whether this is the stride of a part of consecutive complex numbers.
    fn is_of_parts(self) -> bool {
        matches!(self, RowStride::Real | RowStride::Imaginary)
    }
}

/// The strides for which a kernel is compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelStrides {
    /// For each `load` and `index` of the program, in the order of its instructions.
    pub accesses: Vec<RowStride>,
    /// For each destination.
    pub dests: Vec<RowStride>,
}

impl KernelStrides {
    /// The `load` and `index` instructions of a program, in the order of [`accesses`](KernelStrides::accesses) and of
    /// [`RowArguments::accesses`].
    pub fn walks(program: &Program) -> impl Iterator<Item = usize> + '_ {
        let all = program.insts.iter().enumerate();
        all.filter(|(_, inst)| matches!(inst.op, Op::Load | Op::Index)).map(|(at, _)| at)
    }
}

/// Compiles a verified program. `None` if the machine lacks AVX2, or the program is not one that this crate compiles.
pub fn compile(program: &Program, variant: &KernelStrides) -> Option<Kernel> {
    compile_for(program, variant, Isa::detect()?)
}

/// Whether a program of this kind is compiled: one without loops, on lanes of at least 32 bits. [`compile`] may refuse
/// it for one of its operations.
pub fn is_for(program: &Program) -> bool {
    // A float16 that is only moved is a word.
    let words = moved_halves::as_words(program).is_some();
    let wide = |inst: &Inst| {
        inst.dtype.size() >= 4 || inst.dtype.is_float() && !(words && inst.dtype == DType::F16)
    };
    let insts = &program.insts;
    Isa::detect().is_some()
        && !insts.iter().any(|inst| inst.op == Op::Loop)
        && insts.iter().any(wide)
}

/// Compiles for a given instruction set, for tests. `None` also if the machine lacks it.
#[doc(hidden)]
pub fn compile_for(program: &Program, variant: &KernelStrides, isa: Isa) -> Option<Kernel> {
    let best = Isa::detect()?;
    if isa == Isa::Avx512 && best != Isa::Avx512 {
        return None;
    }
    let lowered = match bfloat16_lowering::is_in(program) {
        true => Some(bfloat16_lowering::lowered(program)?),
        false => None,
    };
    let program = lowered.as_ref().unwrap_or(program);
    let words = moved_halves::as_words(program);
    let program = words.as_ref().unwrap_or(program);
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
