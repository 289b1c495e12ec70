//! Commands for a device, and the memory that they are about.
//!
//! A [`DeviceBuffer`](buffer_allocator::DeviceBuffer) lies in the device's [`BufferAllocator`](buffer_allocator::BufferAllocator), or over the host's (`host_import.rs`); a
//! [`Block`](blocks::Block) of the contract has one. The [`Queue`](queue::Queue) is given all commands, keeps apart
//! what must be, and gives back what is [`Retired`](queue::Retired). [`ArgumentBuffer`](launch_arguments::ArgumentBuffer) are those of
//! launches that are too many to be pushed.
//!
//! Imports `gpu`. Not here: what the commands are (`eval.rs`, `block_transfer.rs`), pipelines (`shaders`).

pub mod blocks;
pub mod buffer_allocator;
pub mod host_import;
pub mod launch_arguments;
pub mod queue;
