//! Windows: where a long flush is cut so that its parts are alike.
//!
//! Owns [`FlushWindows`]. A loop without looks is one long flush in which the same structure begins again and again. It
//! is cut there, at the place of its turn where the fewest bytes live, into flushes of a few turns each: what is read
//! behind a cut is asked for before it. So each window has the structure of the one before, is compiled once, and takes
//! the memory of few turns. Invariants: values have the bits that they have without windows; the cuts follow from the
//! graph alone; a window holds no value of a later one, so that it does not change the counts of handles.
//!
//! Not here: what a window does (`compiled/`), by which key it is known again (`compiled/flush_key.rs`).

use super::demand::Demand;
use super::needed::needed;
use super::pending_graph::{InputSource, PendingGraph};
use crate::graph::library_op::LibraryOp;
use crate::graph::value::{Input, Node, NodeOp, Value, ValueKind};
use crate::schedule::engine_device::OpenDevice;
use crate::thresholds::T;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// The windows of a flush that are left, without the last one, which ends with the flush.
#[derive(Default)]
pub(crate) struct FlushWindows {
    /// What each is asked for.
    ends: VecDeque<Vec<Weak<Node>>>,
    /// What the present one is still asked for, older values first.
    present: Vec<Value>,
    /// Whether there were any.
    pub are_any: bool,
}

impl FlushWindows {
    /// The windows of what a device is asked for, if that is long and repeats itself. A flush that may end anywhere is
    /// one window otherwise, of what it was asked for and of what else is read behind it.
    pub fn of(demand: &Demand<'_>, below: &PendingGraph, device: &OpenDevice) -> FlushWindows {
        // Whole values are computed one after another where they are larger than a block: tile by tile through all
        // turns, each turn would keep a value until its last tile is there.
        let is_cut = |value: &Value| !device.tiling_of(value).is_one();
        let count = below.values.len();
        let are_cut = count >= T.fewest_windows * NEAR && below.values.iter().any(is_cut);
        let nodes = if are_cut { 1 } else { T.window_nodes };
        let is_long = are_cut || count >= T.fewest_windows * nodes;
        let turns = is_long.then(|| Turns::of(below)).flatten();
        let ends = turns.and_then(|turns| turns.windows(demand, below, nodes));
        let mut ends = ends.unwrap_or_default();
        if ends.is_empty() && demand.in_windows {
            ends.push_back(newest_held(below));
        }
        FlushWindows { are_any: !ends.is_empty(), ends, present: Vec::new() }
    }

    /// How many windows are left behind the present one, the last among them; none where there are no windows.
    pub fn left(&self) -> usize {
        self.ends.len()
    }

    /// What the present window is still asked for; nothing where only the last one is left.
    pub fn present(&mut self) -> Option<&[Value]> {
        while self.present.is_empty() {
            let living = self.ends.pop_front()?.into_iter().filter_map(|value| value.upgrade());
            self.present = living.map(Value).filter(|value| !value.is_computed()).collect();
        }
        Some(&self.present)
    }

    /// Values of the present window were computed.
    pub fn computed(&mut self) {
        self.present.retain(|value| !value.is_computed());
    }
}

/// The turns of a loop in a graph.
struct Turns {
    /// The values of a turn.
    period: usize,
    /// Of each value, how many in a row up to it do what those a turn before do.
    alike: Vec<usize>,
}

impl Turns {
    /// The turns of a graph of which half at least consists of them.
    fn of(below: &PendingGraph) -> Option<Turns> {
        let own = below.values.iter().zip(&below.reads);
        let own: Vec<u64> =
            own.map(|(value, reads)| own_likeness(value, reads)).collect::<Option<_>>()?;
        periods(&in_surroundings(&own)).into_iter().find_map(|period| {
            let alike = alike(below, &own, period);
            let count = alike.iter().filter(|count| **count >= NEAR).count();
            let is_loop = count * 2 >= own.len();
            is_loop.then_some(Turns { period, alike })
        })
    }

    /// Whether a value and those before it do what those a turn before do.
    fn is_alike(&self, number: usize) -> bool {
        self.alike[number] >= NEAR
    }

    /// What each window of at least so many values, but the last, is asked for; nothing where windows would compute
    /// what is not needed.
    fn windows(
        &self,
        demand: &Demand<'_>,
        below: &PendingGraph,
        nodes: usize,
    ) -> Option<VecDeque<Vec<Weak<Node>>>> {
        let count = below.values.len();
        let step = nodes.div_ceil(self.period) * self.period;
        if count < T.fewest_windows * step {
            return None;
        }
        let middle = count / 2;
        // Turns that move nothing are fused, and reduced together.
        if !below.values[middle.saturating_sub(self.period)..middle]
            .iter()
            .any(|value| value.0.kind.moves())
        {
            return None;
        }
        let last_reads = last_reads(demand, below);
        let bytes = living_bytes(below, &last_reads);
        // The place of a turn in the middle where the fewest bytes live; of several that behind the value which most
        // others read, as it would be stored anyway; of these the same one in each flush.
        let places = middle..(middle + self.period).min(count);
        let readers = readers(below);
        let place = places.min_by_key(|at| {
            (bytes[*at], std::cmp::Reverse(readers[*at - 1]), operations(below, *at))
        })?;
        let ends = |begin: usize, cut: usize| {
            let last_reads = &last_reads;
            (begin..cut).filter(move |number| last_reads[*number] >= cut)
        };
        let needed = needed(demand, below);
        let needed = ends(0, place).map(|number| {
            needed[number].len() as u128 * below.values[number].dtype().size() as u128
        });
        if needed.sum::<u128>() < bytes[place] / 2 {
            return None;
        }
        // Where more lives than in the middle, turns are not alike.
        let is_cut = |cut: &usize| self.is_alike(*cut) && bytes[*cut] <= bytes[place];
        // What stands before the first turn goes with it.
        let cuts = (place % self.period + step..count).step_by(step);
        let mut windows = VecDeque::new();
        let mut begin = 0;
        for cut in cuts.filter(is_cut) {
            let values = ends(begin, cut).map(|number| &below.values[number]);
            windows.push_back(values.map(|value| Arc::downgrade(&value.0)).collect());
            begin = cut;
        }
        Some(windows)
    }
}

/// The newest values that something else holds and that are far from each other: what the statements go on with. A
/// flush comes at any place of a statement; the steps to what it makes are few, and stay pending, so that flushes are
/// alike. What is older may be kept without ever being read.
fn newest_held(below: &PendingGraph) -> Vec<Weak<Node>> {
    let mut is_stored = vec![false; below.values.len()];
    let held = (0..below.values.len()).filter(|number| below.outlives[*number]);
    let mut far = Vec::new();
    for number in held {
        if is_far(below, &is_stored, number) {
            is_stored[number] = true;
            far.push(number);
        }
    }
    // Everything pending is behind the newest value.
    if far.is_empty() {
        far.extend(below.values.len().checked_sub(1));
    }
    let newest = &far[far.len().saturating_sub(T.held_values)..];
    newest.iter().map(|number| Arc::downgrade(&below.values[*number].0)).collect()
}

/// Whether a value takes at least `T.far_nodes` values to compute from those that are stored.
fn is_far(below: &PendingGraph, is_stored: &[bool], number: usize) -> bool {
    let mut behind = SmallVec::<[usize; 64]>::from_slice(&[number]);
    let mut next = 0;
    while next < behind.len() && behind.len() < T.far_nodes {
        for source in &below.reads[behind[next]] {
            if let InputSource::Pending(operand) = source {
                let operand = *operand as usize;
                if !is_stored[operand] && !behind.contains(&operand) {
                    behind.push(operand);
                }
            }
        }
        next += 1;
    }
    behind.len() >= T.far_nodes
}

/// Of each value the last that reads it; what is wanted is read behind all.
fn last_reads(demand: &Demand<'_>, below: &PendingGraph) -> Vec<usize> {
    let mut last = vec![0; below.values.len()];
    for (reader, reads) in below.reads.iter().enumerate() {
        for source in reads {
            if let InputSource::Pending(number) = source {
                last[*number as usize] = reader;
            }
        }
    }
    for number in demand.wanted().filter_map(|value| below.number(value.id())) {
        last[number as usize] = below.values.len();
    }
    last
}

/// How often each value is read.
fn readers(below: &PendingGraph) -> Vec<u32> {
    let mut readers = vec![0; below.values.len()];
    for source in below.reads.iter().flatten() {
        if let InputSource::Pending(number) = source {
            readers[*number as usize] += 1;
        }
    }
    readers
}

/// The bytes of values before each place that are read behind it.
fn living_bytes(below: &PendingGraph, last_reads: &[usize]) -> Vec<u128> {
    let mut bytes = vec![0; below.values.len() + 1];
    let mut ends = vec![0; below.values.len() + 1];
    let mut living = 0;
    for (number, value) in below.values.iter().enumerate() {
        living -= std::mem::take(&mut ends[number]);
        bytes[number] = living;
        if last_reads[number] > number {
            let len = u128::from(value.byte_len());
            living += len;
            if let Some(end) = ends.get_mut(last_reads[number] + 1) {
                *end += len;
            }
        }
    }
    bytes
}

/// How many values up to one, with it, are its surroundings.
const NEAR: usize = 8;

/// A number for each value and its surroundings.
fn in_surroundings(own: &[u64]) -> Vec<u64> {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = FACTOR.wrapping_pow(NEAR as u32);
    let mut all: u64 = 0;
    let number = |(number, value): (usize, &u64)| {
        let gone = number.checked_sub(NEAR).map_or(0, |gone| own[gone]);
        all = all.wrapping_mul(FACTOR).wrapping_add(*value).wrapping_sub(gone.wrapping_mul(first));
        all
    };
    own.iter().enumerate().map(number).collect()
}

/// A number for the operations of a value and its surroundings, whatever their extents: loops over arrays of two sizes
/// are cut at the same place.
fn operations(below: &PendingGraph, number: usize) -> u64 {
    let mut hasher = FxHasher::default();
    for value in &below.values[(number + 1).saturating_sub(NEAR)..=number] {
        let ValueKind::Expr { op, inputs } = &value.0.kind else { continue };
        let of_op = match op {
            NodeOp::Apply(op) => *op as u64,
            NodeOp::Call(called) => called.function.fingerprint().0 as u64,
            _ => 0,
        };
        (std::mem::discriminant(op), of_op, inputs.len(), value.dtype() as u64).hash(&mut hasher);
    }
    hasher.finish()
}

/// After how many values the same comes again, most often first. What a turn does several times is a shorter period.
fn periods(likeness: &[u64]) -> SmallVec<[usize; 4]> {
    let mut last: FxHashMap<u64, usize> = FxHashMap::default();
    let mut votes: FxHashMap<usize, usize> = FxHashMap::default();
    for (number, like) in likeness.iter().enumerate() {
        if let Some(before) = last.insert(*like, number) {
            *votes.entry(number - before).or_default() += 1;
        }
    }
    let is_period = |(period, votes): &(usize, usize)| {
        *period <= T.most_of_turn && votes * T.period_part >= likeness.len()
    };
    let mut found: Vec<(usize, usize)> = votes.into_iter().filter(is_period).collect();
    found.sort_unstable_by_key(|(period, votes)| (std::cmp::Reverse(*votes), *period));
    found.into_iter().take(T.periods_tried).map(|(period, _)| period).collect()
}

/// Of each value, how many in a row up to it do what those a period before do: to what was made a period later, or to
/// the same, which was made before the loop.
fn alike(below: &PendingGraph, own: &[u64], period: usize) -> Vec<usize> {
    let is_later = |(now, before): (&InputSource, &InputSource)| match (now, before) {
        (InputSource::Pending(now), InputSource::Pending(before)) => {
            now == before || (now - before.min(now)) as usize == period
        }
        // Of leaves, `own_likeness` knows which.
        _ => true,
    };
    let mut count = 0;
    let of = |number: usize| {
        let is_alike = number >= period
            && own[number] == own[number - period]
            && below.reads[number].iter().zip(&below.reads[number - period]).all(is_later);
        count = if is_alike { count + 1 } else { 0 };
        count
    };
    (0..own.len()).map(of).collect()
}

/// A number that is equal for values which do the same to pending values, or to the same computed ones; nothing for one
/// that is none of a loop's.
fn own_likeness(value: &Value, reads: &[InputSource]) -> Option<u64> {
    let ValueKind::Expr { op, inputs } = &value.0.kind else { return None };
    let mut hasher = FxHasher::default();
    (value.dtype() as u64, value.shape()).hash(&mut hasher);
    match op {
        NodeOp::Apply(op) => (1, *op as u64).hash(&mut hasher),
        NodeOp::Index(axis) => (2, *axis as u64).hash(&mut hasher),
        NodeOp::Reduce { op, n } => (3, *op as u64, *n).hash(&mut hasher),
        NodeOp::Gather => 4.hash(&mut hasher),
        NodeOp::Assign(view) => {
            (5, view.offset, &view.shape[..], &view.strides[..]).hash(&mut hasher);
        }
        NodeOp::Join(join) => (6, join.axis as u64, &join.ends[..]).hash(&mut hasher),
        NodeOp::Whole(LibraryOp::Scan(op)) => (7, *op as u64).hash(&mut hasher),
        NodeOp::Whole(LibraryOp::Sort) => 8.hash(&mut hasher),
        NodeOp::Whole(LibraryOp::ArgSort) => 9.hash(&mut hasher),
        NodeOp::Whole(LibraryOp::MatMul(n)) => (10, *n).hash(&mut hasher),
        NodeOp::Whole(LibraryOp::Routine(call)) => (12, call).hash(&mut hasher),
        NodeOp::Call(called) => {
            (11, called.result as u64, called.function.fingerprint().0).hash(&mut hasher);
        }
        // They are done in host memory, or have no elements.
        NodeOp::Scatter(_)
        | NodeOp::WhereTrue
        | NodeOp::Argument
        | NodeOp::Deferred(_)
        | NodeOp::InPieces(_) => {
            return None;
        }
    }
    for (input, source) in inputs.iter().zip(reads) {
        match source {
            InputSource::Scalar | InputSource::Other(_) => 0.hash(&mut hasher),
            InputSource::Pending(_) => 1.hash(&mut hasher),
            InputSource::Leaf(leaf) => (3, *leaf).hash(&mut hasher),
        }
        match input {
            Input::Scalar(scalar) => (4, scalar.dtype as u64).hash(&mut hasher),
            Input::Whole(_) => 5.hash(&mut hasher),
            Input::View(_, layout) => {
                (6, layout.offset, &layout.strides[..]).hash(&mut hasher);
            }
        }
    }
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::array::base::{Array, ArrayOrScalar};
    use crate::record::recorder::Recorder;
    use gpupy_core::DType;
    use gpupy_core::op::Op;

    const LEN: usize = 100;

    /// What turns of a loop make of an array, each from its own number.
    fn looped(turns: usize, turn: impl Fn(&Recorder, &Array, usize) -> Array) -> Array {
        let recorder = Recorder::default();
        let given = Array::from_bytes(DType::F32, &[LEN], &[0; 4 * LEN]).unwrap();
        (0..turns).fold(given, |array, number| turn(&recorder, &array, number))
    }

    fn apply(recorder: &Recorder, op: Op, array: &Array, other: &Array) -> Array {
        recorder.apply(op, &[ArrayOrScalar::Array(array), ArrayOrScalar::Array(other)]).unwrap()
    }

    /// The values of a turn.
    fn period(array: &Array) -> Option<usize> {
        let value = array.value().unwrap();
        Turns::of(&PendingGraph::of(&Demand::of(&value, 0..value.len()))).map(|turns| turns.period)
    }

    #[test]
    fn a_turn_is_what_comes_again() {
        let step = |recorder: &Recorder, x: &Array, _| {
            let back = x.slice_axis(0, LEN - 1, LEN, -1);
            let sum = apply(recorder, Op::Add, x, &back);
            let product = apply(recorder, Op::Mul, &sum, x);
            apply(recorder, Op::Sub, &product, &back)
        };
        assert_eq!(period(&looped(100, step)), Some(3));
        // Every second turn does something more.
        let in_turns = |recorder: &Recorder, x: &Array, number: usize| {
            let y = step(recorder, x, number);
            if number.is_multiple_of(2) { apply(recorder, Op::Max, &y, x) } else { y }
        };
        assert_eq!(period(&looped(100, in_turns)), Some(7));
    }

    #[test]
    fn what_was_made_before_a_loop_is_the_same_for_all_turns() {
        let recorder = Recorder::default();
        let given = Array::from_bytes(DType::F32, &[LEN], &[0; 4 * LEN]).unwrap();
        let before = apply(
            &recorder,
            Op::Max,
            &given,
            &given.slice_axis(0, 3, LEN - 3, 1).view(&[LEN], &[0], 3).unwrap(),
        );
        let array = (0..40).fold(given, |x, _| {
            let sum = apply(&recorder, Op::Add, &x, &x.slice_axis(0, LEN - 1, LEN, -1));
            let product = apply(&recorder, Op::Mul, &sum, &before);
            apply(&recorder, Op::Sub, &product, &x)
        });
        assert_eq!(period(&array), Some(3));
    }

    #[test]
    fn what_does_not_repeat_has_no_turns() {
        // Each turn reads other elements.
        let step = |recorder: &Recorder, x: &Array, number: usize| {
            let first = x.slice_axis(0, number % LEN, 1, 1);
            let first = first.view(&[LEN], &[0], first.layout().offset).unwrap();
            apply(recorder, Op::Add, x, &first)
        };
        assert_eq!(period(&looped(LEN, step)), None);
    }
}
