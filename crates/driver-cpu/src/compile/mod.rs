//! Compilation: a program becomes a plan of row operations, and machine code where that pays.
//!
//! A [`RowPlan`](row_plan::RowPlan) is a list of [`RowStep`](row_plan::RowStep)s on rows. Rows lie in slots.
//! [`ProgramInputs`](inputs::ProgramInputs) are the loads and indices of a program. Liveness
//! ([`Program::last_uses`](gpupy_core::ir::Program::last_uses)) decides until when a value is needed, and the
//! [`SlotAllocator`](scratch_layout::SlotAllocator), a register allocator for rows, gives it a row of scratch memory.
//! The [`PlanCompiler`](plan_compiler::PlanCompiler) builds the plan, with `regions.rs` for loops and branches;
//! `unrolled_loop.rs` writes machine code for loops. A [`CachedProgram`](program_cache::CachedProgram) has its
//! inputs, plans and machine code, kept for the next launch; a plan of one operation has a
//! [`ShortOperation`](short_operation::ShortOperation) for short rows, and that of a search a
//! [`RowSearch`](search_plan::RowSearch).
//!
//! Imports `rows`, `index_split`, `resources.rs`, `errors.rs` and `gpupy-jit`. Not here: offsets and strides of
//! a launch (`traversal`), how a plan runs (`run`).

pub mod inputs;
pub mod plan_compiler;
pub mod program_cache;
mod regions;
pub mod row_plan;
pub mod scratch_layout;
pub mod search_plan;
pub mod short_operation;
pub mod unrolled_loop;
