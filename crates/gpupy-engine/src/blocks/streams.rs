//! Streams: values that are in memory only in part, as they are read from a file or computed from one that is.
//!
//! Owns [`Residents`]: which parts of such values are in host memory, and which is released first. Invariants: parts
//! that the current launch needs stay; a part that is released can be read again.
//!
//! Not here: reading (`memory/reader.rs`), when it is done (`execute/transfer.rs`).

use crate::graph::library_op::LibraryOp;
use crate::graph::value::{Input, Node, NodeOp, Value, ValueId, ValueKind};
use crate::memory::limit;
use crate::thresholds::T;
use std::ops::Range;
use std::sync::Weak;
use std::sync::atomic::Ordering;

/// The most elements of a tile of a value.
pub(crate) fn most_of_tile(value: &Value) -> usize {
    match &value.0.kind {
        _ if !value.0.streams => match limit::step_bytes() {
            Some(bytes) if value.0.paged => bytes / value.dtype().size(),
            _ => usize::MAX,
        },
        ValueKind::Expr { op: NodeOp::Reduce { .. }, inputs } => match reads_rows(&inputs[0]) {
            true => T.streamed_reduction,
            false => T.streamed_across,
        },
        // As many rows as read no more of the matrices.
        ValueKind::Expr { op: NodeOp::Whole(LibraryOp::MatMul(k)), .. } => {
            let rows = (T.streamed_tile / (*k).max(1)).max(1);
            rows.saturating_mul(value.shape().last().copied().unwrap_or(1)).min(T.streamed_tile)
        }
        _ => T.streamed_tile,
    }
}

/// Whether elements that are combined lie one behind another.
fn reads_rows(input: &Input) -> bool {
    match input {
        Input::View(_, layout) => layout.strides.last() == Some(&1),
        Input::Scalar(_) | Input::Whole(_) => true,
    }
}

/// A part of a value that was read.
struct Resident {
    value: Weak<Node>,
    range: Range<usize>,
    bytes: u64,
    used: u64,
}

/// The parts of values that are in host memory and may go, as they can be read again.
pub(crate) struct Residents {
    all: Vec<Resident>,
    /// The bytes of these that stay, if they can.
    most: u64,
    /// The elements that the current launch needs of values that may be spilled.
    needed: Vec<(ValueId, Range<usize>)>,
    /// Counts launches and reads: parts that were used since the last one stay.
    clock: u64,
}

impl Residents {
    /// None so far; of those to come so many bytes stay.
    pub fn new(most: u64) -> Residents {
        Residents { all: Vec::new(), most, needed: Vec::new(), clock: 0 }
    }

    /// Notes that the parts used so far are no longer needed.
    pub fn advance(&mut self) {
        self.clock += 1;
        self.needed.clear();
    }

    /// Notes that positions of a value whose memory may go to the disk are needed now.
    pub fn need(&mut self, value: &Value, range: &Range<usize>) {
        value.0.used.store(self.clock, Ordering::Relaxed);
        self.needed.push((value.id(), range.clone()));
    }

    /// Whether any of these positions are needed now.
    pub fn is_needed(&self, value: &Value, range: &Range<usize>) -> bool {
        let meets = |of: &Range<usize>| of.start < range.end && range.start < of.end;
        self.needed.iter().any(|(id, of)| *id == value.id() && meets(of))
    }

    /// Notes that positions of a value are needed now.
    pub fn touch(&mut self, value: &Value, range: &Range<usize>) {
        let clock = self.clock;
        let meets = |part: &&mut Resident| {
            part.range.start < range.end
                && range.start < part.range.end
                && std::ptr::eq(part.value.as_ptr(), std::sync::Arc::as_ptr(&value.0))
        };
        self.all.iter_mut().filter(meets).for_each(|part| part.used = clock);
    }

    /// Notes that positions of a value were read, and are needed now.
    pub fn insert(&mut self, value: &Value, range: Range<usize>) {
        let bytes = (range.len() * value.dtype().size()) as u64;
        let value = std::sync::Arc::downgrade(&value.0);
        self.all.push(Resident { value, range, bytes, used: self.clock });
    }

    /// The bytes that are there.
    pub fn bytes(&self) -> u64 {
        self.all.iter().map(|part| part.bytes).sum()
    }

    /// Takes out the parts that have to go for so many bytes more, the ones that were used longest ago first.
    pub fn leaving(&mut self, more: u64, limit: u64) -> Vec<(Value, Range<usize>)> {
        self.all.retain(|part| part.value.strong_count() > 0);
        let mut bytes = self.bytes() + more;
        let most = self.most.min(limit);
        if bytes <= most {
            return Vec::new();
        }
        self.all.sort_by_key(|part| part.used);
        let clock = self.clock;
        // Some at once, so that it is seldom looked for them.
        let most = most - most / 8;
        let stays = |part: &Resident| {
            let stays = bytes <= most || part.used >= clock;
            bytes -= if stays { 0 } else { part.bytes };
            stays
        };
        let count = self.all.partition_point(|part| part.used < clock);
        let first = self.all.iter().position(stays).unwrap_or(count).min(count);
        let leaving = self.all.drain(..first);
        leaving.filter_map(|part| Some((Value(part.value.upgrade()?), part.range))).collect()
    }

    /// Puts back a part that could not be released.
    pub fn put_back(&mut self, value: &Value, range: Range<usize>) {
        self.insert(value, range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpupy_core::{DType, Scalar};

    #[test]
    fn what_was_used_longest_ago_goes_first_and_what_is_needed_stays() {
        let value = Value::constant(&[1000], Scalar::zero(DType::U8));
        let mut residents = Residents::new(300);
        for start in [0, 100, 200] {
            residents.insert(&value, start..start + 100);
            residents.advance();
        }
        assert!(residents.leaving(0, u64::MAX).is_empty());
        residents.touch(&value, &(0..1));
        residents.advance();
        let ranges = |all: Vec<(Value, Range<usize>)>| -> Vec<(usize, usize)> {
            all.into_iter().map(|(_, range)| (range.start, range.end)).collect()
        };
        assert_eq!(ranges(residents.leaving(100, u64::MAX)), [(100, 200), (200, 300)]);
        residents.insert(&value, 300..400);
        // Nothing but the first part is of before.
        assert_eq!(ranges(residents.leaving(1000, u64::MAX)), [(0, 100)]);
        assert_eq!(residents.bytes(), 100);
        drop(value);
        assert!(residents.leaving(1000, u64::MAX).is_empty());
        assert_eq!(residents.bytes(), 0);
    }
}
