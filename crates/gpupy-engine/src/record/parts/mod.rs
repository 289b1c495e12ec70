//! Parts of pending values, recorded as values of their own.
//!
//! `part_recording.rs` records them, of what `part_operands.rs` says that their points read. Not here: when parts are
//! read by themselves (`context/read/parts.rs`), assignments as joins of parts (`parted.rs`).

mod part_operands;
mod part_recording;
