//! The IR: the driver-independent code of one kernel.
//!
//! Owns [`Program`], [`Inst`], [`AccessKind`] and, in `form.rs`, [`Form`], in `reductions.rs`, [`Reduction`]. A program is flat arrays of plain
//! integers in static single assignment: an instruction's value is named by its position. Numbers
//! that differ from launch to launch (offsets, strides, shapes, scalars) are not part of it, so one
//! program serves every block of a value and every iteration of a loop.
//!
//! Invariants: `verify` accepts every program that `Builder` makes; `parse(print(p)) == p`; equal
//! programs have equal fingerprints.
//!
//! Not here: what instructions compute (`op_eval`), how a launch looks (`driver.rs`), how
//! expressions become programs (the engine).

mod analysis;
mod build;
mod early_exit;
mod fingerprint;
mod form;
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

/// Elements that one step of a reduction combines into one, and of a chunk of a scan; see
/// [`Form::Reduce`].
pub const REDUCE_CHUNK: usize = 256;
/// Running results that a step of a reduction keeps side by side; see [`Form::Reduce`].
pub const REDUCE_LANES: usize = 16;
/// The most products that are added up one after another; their sums may be, too. See [`Form::MatMul`].
pub const PRODUCT_CHUNK: usize = 4096;
/// The most iterations of the loops that one point goes through, where beginning a loop counts as one:
/// devices end loops that run for longer. See [`Op::Loop`].
pub const LOOP_STEPS: u32 = 8192;

/// How an access walks over the iteration space; the numbers come with the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum AccessKind {
    /// The strides are those of a C-contiguous array of the points that the instruction counts (the
    /// launch's shape; after a `reduce`, the output space); any offset.
    Contiguous = 0,
    /// All strides are 0: one element for all points.
    Uniform = 1,
    /// Any strides, negative and zero ones too.
    Affine = 2,
}

/// One instruction. Arguments mean what the operation's row in `op.rs` says: positions of earlier
/// instructions, slots, or ranges of [`Program::extra`]. Unused arguments are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// The dtype of its value; of control instructions without a value, `bool`.
    pub dtype: DType,
    /// The arguments.
    pub args: [u32; 3],
}

/// The code of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// What the iteration space means.
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

    /// How many instructions compute (neither leaves, control nor stores).
    pub fn operation_count(&self) -> usize {
        self.insts.iter().filter(|i| i.op.is_scalar_op()).count()
    }

    /// The values that instruction `inst` uses, in order. Of a program that does not verify, they may
    /// be no values, and lists that leave [`Program::extra`] are empty.
    pub fn uses(&self, inst: &Inst) -> impl Iterator<Item = u32> + '_ {
        let args = inst.args;
        let arity = inst.op.info().arity as usize;
        let direct: ([u32; 3], usize) = match inst.op {
            Op::Gather | Op::Store => ([args[1], 0, 0], 1),
            _ => (args, arity),
        };
        let list = match inst.op {
            Op::Loop | Op::Else | Op::End => args[1] as usize..args[1] as usize + args[2] as usize,
            _ => 0..0,
        };
        let extra = self.extra.get(list).unwrap_or(&[]);
        direct.0.into_iter().take(direct.1).chain(extra.iter().copied())
    }
}
