//! Dispatches to be planned, and why some cannot be.
//!
//! Owns [`DispatchRequest`] and [`DispatchDeclined`]. Not here: plans (`mod.rs`).

use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::Program;

/// One dispatch to be planned.
#[derive(Clone, Debug)]
pub struct DispatchRequest<'a> {
    /// The code.
    pub program: &'a Program,
    /// The launch's shape.
    pub shape: &'a [usize],
    /// The numbers of the accesses.
    pub accesses: &'a [Access],
    /// The scalar parameters.
    pub params: &'a [u64],
    /// The elements in the block of each operand.
    pub lengths: &'a [usize],
    /// The destinations that this dispatch writes, by their number in the program. They are different
    /// blocks in WGSL, where no two bindings may write one.
    pub stores: &'a [u32],
    /// Where each of these is written, and whether all of its block is, in order.
    pub targets: &'a [(&'a Access, bool)],
    /// True to make literals of the parameters, and of what depends on the shape alone.
    pub specialise: bool,
    /// True where results are added to what is there, as those of a product's later [`slices`](crate::compute::slices).
    pub adds: bool,
}

impl<'a> DispatchRequest<'a> {
    /// One dispatch of a launch, whose scalars are the launch's numbers.
    pub fn of(
        launch: &Launch<'a>,
        lengths: &'a [usize],
        stores: &'a [u32],
        targets: &'a [(&'a Access, bool)],
    ) -> DispatchRequest<'a> {
        let Launch { program, shape, accesses, params, .. } = *launch;
        let (specialise, adds) = (false, false);
        DispatchRequest {
            program,
            shape,
            accesses,
            params,
            lengths,
            stores,
            targets,
            specialise,
            adds,
        }
    }
}

/// Why a launch cannot be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchDeclined {
    /// Kernels of this form are not made for this device.
    Form,
    /// More points than are counted in 31 bits, or more terms of a product than one dispatch takes.
    Large,
}
