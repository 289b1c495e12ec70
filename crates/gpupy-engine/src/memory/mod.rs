//! Host memory: buffers, and how elements lie in them.
//!
//! A [`HostBuffer`](host_buffer::HostBuffer) is memory of values, reused through a pool and through the shelves of each
//! thread. A [`View`](view::View) (offset, shape, strides) shows elements of a base; an *access* is what becomes of a
//! view in a kernel: a walk over an iteration space, to which views compose (`access.rs`). [`Ranges`](ranges::Ranges)
//! are the positions that are there. A [`Tiling`](tiling::Tiling) cuts a shape into [`Tile`](tiling::Tile)s, ranges in
//! C order that are boxes of coordinates. `strided.rs` and `element_bytes.rs` move elements; `small.rs` says what
//! counts as little. A [`Reader`](reader::Reader) gives elements that lie in a file; `limit.rs` says how much memory
//! there may be, and `spill_file.rs` has the file for what is beyond.
//!
//! Imports nothing of this crate. Not here: blocks of devices (`blocks/`), whose elements these are (`graph/`,
//! `array/`).

pub(crate) mod access;
pub(crate) mod element_bytes;
pub(crate) mod host_buffer;
pub(crate) mod limit;
mod owned;
pub(crate) mod ranges;
pub(crate) mod reader;
pub(crate) mod small;
pub(crate) mod spill_file;
pub(crate) mod strided;
pub(crate) mod thread_free_lists;
pub(crate) mod tiling;
pub(crate) mod view;
