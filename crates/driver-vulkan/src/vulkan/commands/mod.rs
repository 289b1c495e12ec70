//! Commands for a device, and the memory that they are about.
//!
//! A [`Buffer`](memory::Buffer) lies in the device's [`Memory`](memory::Memory), or over the host's (`import.rs`); a
//! [`Block`](blocks::Block) of the contract has one. The [`Queue`](queue::Queue) is given all commands, keeps apart
//! what must be, and gives back what is [`Retired`](queue::Retired). [`Numbers`](numbers::Numbers) are those of
//! launches that are too many to be pushed.
//!
//! Imports `gpu`. Not here: what the commands are (`eval.rs`, `transfer.rs`), pipelines (`shaders`).

pub mod blocks;
pub mod import;
pub mod memory;
pub mod numbers;
pub mod queue;
