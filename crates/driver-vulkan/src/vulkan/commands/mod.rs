//! Commands for a device, and the memory that they use.
//!
//! A [`DeviceBuffer`](buffer_allocator::DeviceBuffer) lies in the memory of the
//! [`BufferAllocator`](buffer_allocator::BufferAllocator), or over host memory (`imported_buffer.rs`); a
//! [`Block`](blocks::Block) of the contract has one. The [`Queue`](queue::Queue) receives all commands, puts
//! barriers between dependent ones, and frees [`Retired`](queue::Retired) objects. An
//! [`ArgumentBuffer`](launch_arguments::ArgumentBuffer) holds kernel arguments that are too long for push
//! constants.
//!
//! Imports `gpu`. Not here: the commands themselves (`eval.rs`, `block_transfer.rs`), pipelines (`shaders`).

pub mod blocks;
pub mod buffer_allocator;
pub mod imported_buffer;
pub mod launch_arguments;
pub mod queue;
pub mod recordings;
