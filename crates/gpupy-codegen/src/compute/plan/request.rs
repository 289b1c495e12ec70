//! Requests for planned dispatches, and the reasons to decline one.
//!
//! Owns [`DispatchRequest`] and [`DispatchDeclined`]. Not here: plans (`mod.rs`).

use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::Program;

/// One dispatch to be planned.
#[derive(Clone, Debug)]
pub struct DispatchRequest<'a> {
    /// The program of the kernel.
    pub program: &'a Program,
    /// The launch's shape.
    pub shape: &'a [usize],
    /// Offset and strides of each access.
    pub accesses: &'a [Access],
    /// The scalar parameters.
    pub params: &'a [u64],
    /// The number of elements in each operand's block.
    pub lengths: &'a [usize],
    /// The indices of the destinations that this dispatch writes. In WGSL they are different blocks: no two
    /// bindings may write one block.
    pub stores: &'a [u32],
    /// The access of each of these destinations, and whether it writes the whole block in C order.
    pub targets: &'a [(&'a Access, bool)],
    /// True to make literals of the parameters, and of arguments that depend on the shape alone.
    pub specialise: bool,
    /// True to add results to the old elements, as later [`slices`](crate::compute::slices) of a product do.
    pub adds: bool,
}

impl<'a> DispatchRequest<'a> {
    /// One dispatch of a launch, not specialised.
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
    /// The device does not support the form.
    Form,
    /// There are more points than 31 bits count, or more terms of a product than one dispatch takes.
    Large,
}
