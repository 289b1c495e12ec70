//! Operations that are computed in host memory: assignments, scatters, gathers, masks' positions and library operations
//! that no device does.
//!
//! Each file has one operation, as a method of the [`Engine`](crate::execute::evaluate::Engine) that its command calls.
//!
//! Imports `evaluate.rs` of the execution. Not here: the choice between host memory and a device (`schedule/steps/`),
//! eager operations (`eager/`).

pub(crate) mod host_assign;
pub(crate) mod host_gather;
pub(crate) mod host_library_op;
pub(crate) mod host_nonzero;
pub(crate) mod host_scatter;
pub(crate) mod mask_bytes;
