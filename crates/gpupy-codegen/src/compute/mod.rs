//! Compute shaders: programs dispatched over blocks in linear memory.
//!
//! A block is an array of elements, [`KernelFeatures::stored`] bytes each. [`plan()`] decides how the invocations of
//! one dispatch find their points and the elements of operands. The result is a [`DispatchPlan`], equal for launches
//! that can share a kernel, and the argument words. [`source`] writes the kernel of a program and a plan. Its entry
//! point is `main`.
//!
//! Invariants: the text depends only on program, plan and device. Elements that the launch does not write keep their
//! old value, except for padding after the last element of a block that is written whole. No access leaves its
//! block, rounded up to vectors of four. Index arithmetic wraps in 32 bits, so a block has fewer than 2³¹ elements.
//!
//! Not here: buffers and dispatches (drivers), statements (`emit`).

mod elements;
mod kernel_features;
mod plan;
#[cfg(test)]
mod plan_tests;
pub mod resources;
#[cfg(feature = "spirv")]
pub mod spirv;
mod text;

pub use elements::{narrow, widen};
pub use kernel_features::{ALIGNMENT, KernelFeatures, Language};
pub use plan::{DispatchDeclined, DispatchPlan, DispatchRequest, PlannedDispatch, plan, slices};

use crate::analysis::uses::live_for;
use gpupy_core::ir::{Form, Program};
use text::kernel_text::KernelText;
use text::{map, matmul, scan, tree_reduction};

/// The text of the kernel of a program and a plan.
pub fn source(program: &Program, plan: &DispatchPlan, device: &KernelFeatures) -> String {
    let live = live_for(program, &plan.stores);
    let text = KernelText { program, plan, device, dialect: device.dialect() };
    let main = match program.form {
        Form::Reduce { .. } => tree_reduction::main(&text, &live),
        Form::Scan { op } => scan::main(&text, &live, op),
        Form::MatMul => matmul::main(&text),
        // A sort has no plan, nor has a routine.
        Form::Map | Form::Sort | Form::Routine { .. } => map::main(&text, &live),
    };
    let tiles = match program.form {
        Form::MatMul => matmul::group_memory(&text),
        _ => String::new(),
    };
    text.kernel(&main, &tiles)
}
