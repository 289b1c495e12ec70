//! The OpenGL driver: programs drawn as fragment shaders into textures, without a display.
//!
//! Owns nothing itself; the parts, each of which imports only earlier ones: `errors.rs`; `context` has what happens on
//! the thread that the context lives on. The caller's side knows blocks, layouts and compiled kernels without
//! asking it: `resources.rs` is about what fits in one evaluation, `blocks.rs` about elements, `column_reduce.rs` and
//! `eval.rs` turn launches into draws, `open.rs` is what an open driver has, `driver.rs` has the contract's functions.
//!
//! Not here: the text of shaders (`gpupy-codegen`).

mod blocks;
mod column_reduce;
mod context;
mod driver;
mod errors;
mod eval;
mod open;
mod resources;

pub use driver::{new, new_short};
pub use errors::NAME;
