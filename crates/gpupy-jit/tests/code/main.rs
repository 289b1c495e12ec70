//! Compiled programs are compared with the reference meaning of their operations.

#![cfg(target_arch = "x86_64")]

mod check;
mod complex;
mod encoding;
mod generate;
mod operations;
mod programs;
mod rng;
mod sums;
