//! Compilation: a program becomes a plan of operations on rows, and machine code where that pays.
//!
//! A [`Plan`](plan::Plan) is a list of [`Step`](plan::Step)s on rows, which lie in slots. [`Leaves`](leaves::Leaves)
//! are the loads and indices of a program. [`Program::last_uses`](gpupy_core::ir::Program::last_uses) says until which instruction
//! a value is needed, and [`Slots`](slots::Slots) which row of scratch memory it gets. The [`Compiler`](compiler::Compiler) makes the plan
//! of all that, with `regions.rs` for loops and choices. A [`Known`](known::Known) program has its leaves, its plans
//! and its machine code, kept for the next launch.
//!
//! Imports `rows`, `pieces`, `resources.rs`, `errors.rs` and `gpupy-jit`. Not here: the numbers of a launch (`traversal`), how
//! a plan runs (`run`).

pub mod compiler;
pub mod known;
pub mod leaves;
pub mod plan;
mod regions;
pub mod slots;
pub mod turns;
