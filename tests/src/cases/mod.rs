//! All cases, by group.
//!
//! Owns the order of the groups: the functions of the contract, then the levels, each of which relies on the
//! promises that earlier ones have tested.
//!
//! Not here: running a case (`suite.rs`), launches and comparisons (`device.rs`).

mod arrays;
mod contract;
mod data;
mod dtypes;
mod elementwise;
mod faults;
mod forms;
mod functions;
mod large;
pub mod leaks;
mod long;
mod memory;
mod partitioning;
mod pieces;
mod random;
mod reductions;
mod regions;
mod routines;
mod scalars;
mod several_reductions;
mod specials;
mod views;

pub use crate::suite::Suite;

use contract::*;

/// A group's name, and the function that runs its cases.
type Group = (&'static str, fn(&mut Suite<'_>));

/// The functions of the contract, in its order.
pub const FUNCTIONS: &[Group] = &[
    (init::GROUP, init::run),
    (cleanup::GROUP, cleanup::run),
    (get_method::GROUP, get_method::run),
    (block_alloc::GROUP, block_alloc::run),
    (block_free::GROUP, block_free::run),
    (block_read::GROUP, block_read::run),
    (block_write::GROUP, block_write::run),
    (check_ir::GROUP, check_ir::run),
    (eval_ir::GROUP, eval_ir::run),
    (resource_get::GROUP, resource_get::run),
    (resource_zero::GROUP, resource_zero::run),
    (resource_add::GROUP, resource_add::run),
    (resource_sub::GROUP, resource_sub::run),
    (resource_check::GROUP, resource_check::run),
];

/// The levels: the results of programs, then the core on a driver.
pub const LEVELS: &[Group] = &[
    (elementwise::GROUP, elementwise::run),
    (views::GROUP, views::run),
    (dtypes::GROUP, dtypes::run),
    (scalars::GROUP, scalars::run),
    (reductions::GROUP, reductions::run),
    (several_reductions::GROUP, several_reductions::run),
    (forms::GROUP, forms::run),
    (routines::GROUP, routines::run),
    (regions::GROUP, regions::run),
    (pieces::GROUP, pieces::run),
    (data::GROUP, data::run),
    (specials::GROUP, specials::run),
    (functions::GROUP, functions::run),
    (partitioning::GROUP, partitioning::run),
    (large::GROUP, large::run),
    (long::GROUP, long::run),
    (memory::GROUP, memory::run),
    (random::GROUP, random::run),
    (arrays::GROUP, arrays::run),
    (leaks::GROUP, leaks::run),
    (faults::GROUP, faults::run),
];

/// Runs all cases that the suite's options want.
pub fn run(suite: &mut Suite<'_>) {
    for (_, run) in FUNCTIONS.iter().chain(LEVELS) {
        run(suite);
    }
}
