//! The driver.
//!
//! In the order of a call: `driver.rs` has the contract's functions, and `open.rs` the state of an open driver:
//! a device (`gpu`), its kernels (`shaders`), its memory and its queue (`commands`). `eval.rs` turns launches
//! into dispatches, `recorded_sequence.rs` keeps those that come again, and `block_transfer.rs` copies elements.
//! `binding_choice.rs` measures whether kernels should reach blocks by descriptors or by addresses. `trial.rs` is for
//! tests.

mod binding_choice;
mod block_transfer;
mod commands;
mod driver;
mod eval;
mod gpu;
mod open;
mod recorded_sequence;
mod shaders;
mod trial;

pub use binding_choice::BindingCosts;
pub use driver::{new, new_trial};
pub use gpu::validation::complaints;
pub use trial::Trial;
