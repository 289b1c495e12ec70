//! The IR: the driver-independent code of one kernel.
//!
//! Owns [`Program`], [`Inst`] and [`AccessKind`]; [`Form`] (`form.rs`) and [`Reduction`] (`reductions.rs`). A program
//! is flat arrays of integers in static single assignment: an instruction's value is named by its position. Numbers
//! that differ between launches (offsets, strides, shapes, scalars) are not part of it, so that one program serves
//! every block of a value and every iteration of a user's loop.
//!
//! Begin with [`Builder`] to make a program; `Program::verify` checks one, and its text form is `Display` and
//! `FromStr`.
//!
//! Invariants: `verify` accepts every program that `Builder` makes; `parse(print(p)) == p`; equal
//! programs have equal fingerprints.
//!
//! Not here: the meaning of instructions (`op_eval`), launches (`driver.rs`), programs from expressions (the engine).

mod analysis;
pub mod bfloat16_lowering;
mod build;
mod early_exit;
mod fingerprint;
mod form;
pub mod pieces_lowering;
mod reductions;
mod text;
mod verify;

pub use build::Builder;
pub use early_exit::EarlyExit;
pub use fingerprint::Fingerprint;
pub use form::{Form, FormKind};
pub use reductions::Reduction;

use crate::dtype::DType;
use crate::op::Op;
use serde::{Deserialize, Serialize};

/// Elements that one step of a reduction combines into one, and elements of a chunk of a scan. See [`Form::Reduce`].
pub const REDUCE_CHUNK: usize = 256;
/// The lanes (accumulators) of a step of a reduction. See [`Form::Reduce`].
pub const REDUCE_LANES: usize = 16;
/// The most terms of a matrix product that are summed sequentially; so may be the sums of such chunks. See
/// [`Form::MatMul`].
pub const PRODUCT_CHUNK: usize = 4096;
/// The most iterations of all loops at one point; entering a loop counts as one. Devices end loops that run longer. See
/// [`Op::Loop`].
pub const LOOP_STEPS: u32 = 8192;

/// The kind of an access' strides. The strides themselves come with the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum AccessKind {
    /// The strides of a C-contiguous array over the instruction's space (the launch's shape; after a `reduce`, the
    /// output space). Any offset.
    Contiguous = 0,
    /// All strides are 0: one element for all points.
    Uniform = 1,
    /// Any strides, including negative ones and zero.
    Affine = 2,
}

/// One instruction. The operation's row in `op.rs` defines its arguments: positions of earlier instructions, slots, or
/// ranges of [`Program::extra`]. Unused arguments are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// The dtype of its value; `bool` for control instructions without a value.
    pub dtype: DType,
    /// The arguments.
    pub args: [u32; 3],
}

/// The code of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// The meaning of the iteration space.
    pub form: Form,
    /// Axes of the iteration space, at least 1.
    pub rank: u32,
    /// The dtypes of the operand blocks.
    pub operands: Vec<DType>,
    /// The dtypes of the scalar parameters.
    pub params: Vec<DType>,
    /// The kinds of the accesses.
    pub accesses: Vec<AccessKind>,
    /// The dtypes of the destinations; each has exactly one `store`.
    pub dests: Vec<DType>,
    /// The instructions, defined before use.
    pub insts: Vec<Inst>,
    /// Value lists of control instructions.
    pub extra: Vec<u32>,
}

impl Program {
    /// A program without instructions.
    pub fn empty(form: Form, rank: u32) -> Program {
        Program {
            form,
            rank,
            operands: Vec::new(),
            params: Vec::new(),
            accesses: Vec::new(),
            dests: Vec::new(),
            insts: Vec::new(),
            extra: Vec::new(),
        }
    }

    /// The number of instructions that compute: neither leaves, control flow nor stores.
    pub fn operation_count(&self) -> usize {
        self.insts.iter().filter(|i| i.op.is_scalar_op()).count()
    }

    /// The operands of instruction `inst` that are values, in order. In a program that does not verify they may not be
    /// values, and lists outside [`Program::extra`] are empty.
    pub fn uses(&self, inst: &Inst) -> impl Iterator<Item = u32> + '_ {
        let args = inst.args;
        let arity = inst.op.info().arity as usize;
        let direct: ([u32; 3], usize) = match inst.op {
            Op::Gather | Op::Store => ([args[1], 0, 0], 1),
            _ => (args, arity),
        };
        direct.0.into_iter().take(direct.1).chain(self.listed(inst).iter().copied())
    }

    /// The values in the list of an instruction. In a program that does not verify, lists outside [`Program::extra`]
    /// are empty.
    pub fn listed(&self, inst: &Inst) -> &[u32] {
        if !inst.op.has_list() {
            return &[];
        }
        let (from, count) = (inst.args[1] as usize, inst.args[2] as usize);
        self.extra.get(from..from.saturating_add(count)).unwrap_or(&[])
    }
}
