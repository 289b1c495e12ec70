//! Drivers that fail, and the reaction of the core.
//!
//! Not here: drivers that break the contract (`contract_monitor.rs` for the core's half, and the crate's own
//! tests for the drivers').

mod account;
mod every;
mod faulty;
mod kept;
mod plan;
mod programs;
mod random;
mod room;
mod user;

use crate::suite::Suite;

pub const GROUP: &str = "faults";

pub fn run(suite: &mut Suite<'_>) {
    random::run(suite);
    let ground = every::Ground::new(suite.constructor());
    room::run(suite, &ground);
    every::run(suite, &ground);
}
