//! Compilation: a program becomes a plan of operations on rows, and machine code where that pays.
//!
//! A [`RowPlan`](row_plan::RowPlan) is a list of [`RowStep`](row_plan::RowStep)s on rows, which lie in slots. [`ProgramInputs`](inputs::ProgramInputs)
//! are the loads and indices of a program. `last_uses.rs` says until which instruction a value is needed, and
//! [`SlotAllocator`](scratch_layout::SlotAllocator) which row of scratch memory it gets. The [`PlanCompiler`](plan_compiler::PlanCompiler) makes the plan
//! of all that, with `regions.rs` for loops and choices. A [`CachedProgram`](kernel_cache::CachedProgram) program has its leaves, its plans
//! and its machine code, kept for the next launch.
//!
//! Imports `rows`, `index_split`, `resources.rs`, `errors.rs` and `gpupy-jit`. Not here: the numbers of a launch (`traversal`), how
//! a plan runs (`run`).

pub mod inputs;
pub mod kernel_cache;
pub mod last_uses;
pub mod plan_compiler;
mod regions;
pub mod row_plan;
pub mod scratch_layout;
pub mod unrolled_loop;
