//! The OpenGL driver: it draws programs as fragment shaders into textures, without a display. It needs no compute
//! shaders, so it also runs on old and embedded GPUs.
//!
//! Begin with `eval.rs`, which turns a launch into draws. The crate's page owns nothing. The parts, each of which
//! imports only earlier ones: `errors.rs`; `context`, the side of the thread that the OpenGL context lives on; and the
//! caller's side, which knows blocks, layouts and compiled kernels without asking that thread. There, `resources.rs`
//! has the account of what fits in one evaluation, `blocks.rs` has blocks, `column_reduce.rs`, `interleaved.rs` and
//! `eval.rs` turn launches into draws, `open.rs` has the state of an open driver, and `driver.rs` the contract's
//! functions.
//!
//! Not here: the text of shaders (`gpupy-codegen`).

mod blocks;
mod column_reduce;
mod context;
mod driver;
mod errors;
mod eval;
mod interleaved;
mod open;
mod resources;

pub use driver::{new, new_short};
pub use errors::NAME;
