//! Host memory: buffers, and how elements lie in them.
//!
//! A [`HostBuffer`](host_buffer::HostBuffer) is the memory of values. A [`CowBuffer`](cow_buffer::CowBuffer) is that of
//! a base, copied before a write where others read it. Buffers are reused through a pool, and through
//! the free lists of each thread. A [`View`](view::View) (offset, shape, strides) shows elements of a base. An *access*
//! is a view as a kernel sees it: an affine walk over an iteration space; views compose into one access (`access.rs`).
//! [`Ranges`](ranges::Ranges) are sets of positions. A [`Tiling`](tiling::Tiling) cuts a shape into
//! [`Tile`](tiling::Tile)s: ranges in C order that are boxes of coordinates. `strided.rs` and `element_bytes.rs` move
//! elements (gather, scatter, strided copy). A
//! [`Reader`](reader::Reader) gives elements that lie in a file. `limit.rs` bounds host memory, and `spill_file.rs` has
//! the file for what exceeds it.
//!
//! Imports nothing of this crate. Not here: blocks of devices (`blocks/`), the values that own the elements (`graph/`,
//! `array/`).

pub(crate) mod access;
pub(crate) mod cow_buffer;
pub(crate) mod element_bytes;
pub(crate) mod host_buffer;
pub(crate) mod limit;
pub(crate) mod owned;
pub(crate) mod ranges;
pub(crate) mod reader;
pub(crate) mod spill_file;
pub(crate) mod strided;
pub(crate) mod thread_free_lists;
pub(crate) mod tiling;
pub(crate) mod view;
