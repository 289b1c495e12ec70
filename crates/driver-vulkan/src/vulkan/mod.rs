//! The driver, where there is a compiler of shaders.
//!
//! In the order of a call: `driver.rs` has the contract's functions and `open.rs` what an open driver has;
//! `instance.rs` and `device.rs` are Vulkan's; `eval.rs` turns launches into dispatches of `kernels.rs`,
//! which `compiler.rs` compiles; `queue.rs` is given all work; `blocks.rs`, `memory.rs` and `transfer.rs`
//! are about elements; `ways.rs` tries how kernels reach them best; `trial.rs` and `validation.rs` are for
//! tests.
//!
//! Not here: the driver of a build without a compiler (`without.rs`).

mod blocks;
mod compiler;
mod device;
mod driver;
mod eval;
mod failure;
mod import;
mod instance;
mod kernels;
mod memory;
mod numbers;
mod open;
mod queue;
mod spirv;
mod transfer;
mod trial;
mod validation;
mod ways;

pub use driver::{new, new_trial};
pub use trial::Trial;
pub use validation::complaints;
pub use ways::Ways;
