//! Loops with few rounds, as many each time, become their rounds one behind the other: neighbours by `range(-1, 2)`.
//!
//! Owns [`without_constant_loops`]. A block becomes one for each number that such a loop's next item is there, as it
//! has one for the kinds of names (`versions`): tests of constants are decided, so that a round goes on in the next
//! one's blocks. A copy leaves by the exits of the body, with the loop's next item, end and step as they are.
//! Invariant: each cycle that is left asks for pauses. Not here: rounds of other loops (`unrolled.rs`).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::difference_proofs::dominators;
use super::natural_loops::BlockGraph;
use super::needed_slots::read_later;
use crate::code::{Block, BlockEnd, Code, Integer, Operation, Slot, Test};

/// Rounds of such a loop, at most.
const ROUNDS: i64 = 4;
/// Blocks and operations of all copies, at most, beside those that were there.
const BLOCKS: usize = 400;
const OPERATIONS: usize = 1200;

/// Numbers of slots.
type Numbers = BTreeMap<Slot, i64>;

/// Writes out such loops, unless that is too much.
pub fn without_constant_loops(code: &mut Code) {
    let constants = constants(code);
    let counters = counters(code, &constants);
    if counters.is_empty() {
        return;
    }
    let graph = BlockGraph::new(code);
    let tracked = with_items(code, &counters);
    let live = read_later(code, &graph, |slot| tracked.contains(&slot));
    let mut known: FxHashMap<(usize, Numbers), usize> = FxHashMap::default();
    let mut open = vec![(0, Numbers::new())];
    known.insert(open[0].clone(), 0);
    let (mut blocks, mut count): (Vec<Option<Block>>, usize) = (vec![None], 0);
    while let Some((number, numbers)) = open.pop() {
        let place = known[&(number, numbers.clone())];
        let mut numbers = numbers;
        let mut block = code.blocks[number].clone();
        for one in &mut block.operations {
            if let (Some(slot), Some(value)) =
                (one.written(), evaluate(one, &constants, &mut numbers))
            {
                *one = Operation::Int(slot, value);
            }
        }
        count += block.operations.len();
        if blocks.len() > code.blocks.len() + BLOCKS || count > OPERATIONS {
            return;
        }
        let mut to = |next: usize| {
            let mut numbers = numbers.clone();
            if graph.before[next].len() > 1 {
                numbers.retain(|slot, _| live[next].contains(slot));
            }
            *known.entry((next, numbers.clone())).or_insert_with(|| {
                blocks.push(None);
                open.push((next, numbers));
                blocks.len() - 1
            })
        };
        block.end = match block.end {
            BlockEnd::Branch(test, inside, beside) => match numbers.get(&test) {
                Some(0) => BlockEnd::Jump(to(beside)),
                Some(_) => BlockEnd::Jump(to(inside)),
                None => {
                    let inside = to(inside);
                    BlockEnd::Branch(test, inside, to(beside))
                }
            },
            BlockEnd::Jump(next) => BlockEnd::Jump(to(next)),
            BlockEnd::Leave => BlockEnd::Leave,
        };
        blocks[place] = Some(block);
    }
    code.blocks = blocks.into_iter().flatten().collect();
    without_further_polls(code);
}

/// Next items of loops with few rounds: they begin with one constant, move on by one, and are compared with one.
fn counters(code: &Code, constants: &FxHashMap<Slot, i64>) -> FxHashSet<Slot> {
    let all = || code.blocks.iter().flat_map(|block| &block.operations);
    // By slot: the first item, the step and the end, as far as they are known.
    let mut found: FxHashMap<Slot, [Option<i64>; 3]> = FxHashMap::default();
    let mut others = FxHashSet::default();
    for operation in all() {
        let (slot, part, value) = match *operation {
            Operation::Integer(Integer::Add, to, from, by) if to == from => (to, 1, by),
            Operation::Copy(to, from) => (to, 0, from),
            Operation::Compare(Test::Lt | Test::Gt, _, at, stop) => (at, 2, stop),
            _ => {
                others.extend(operation.written());
                continue;
            }
        };
        let known = &mut found.entry(slot).or_default()[part];
        match (constants.get(&value), *known) {
            (Some(&value), None) => *known = Some(value),
            (Some(&value), Some(other)) if value == other => {}
            _ => {
                others.insert(slot);
            }
        }
    }
    found.retain(|slot, parts| {
        let [Some(start), Some(step), Some(stop)] = *parts else { return false };
        let rounds = |(a, b): (i64, i64)| {
            a.checked_sub(b).is_some_and(|distance| distance <= ROUNDS.saturating_mul(step.abs()))
        };
        let is_few = if step > 0 { rounds((stop, start)) } else { rounds((start, stop)) };
        step != 0 && is_few && !others.contains(slot)
    });
    found.into_keys().collect()
}

/// The numbers of slots that are one wherever they are written.
fn constants(code: &Code) -> FxHashMap<Slot, i64> {
    let mut found: FxHashMap<Slot, Option<i64>> = FxHashMap::default();
    // Copies come behind what they are of, at the latest the next time.
    for _ in 0..3 {
        let before: FxHashMap<Slot, Option<i64>> = std::mem::take(&mut found);
        for operation in code.blocks.iter().flat_map(|block| &block.operations) {
            let Some(slot) = operation.written() else { continue };
            let value = match *operation {
                Operation::Int(_, value) => Some(value),
                Operation::Copy(_, from) => before.get(&from).copied().flatten(),
                Operation::Checked(Integer::Sub, _, zero, from)
                    if before.get(&zero) == Some(&Some(0)) =>
                {
                    before.get(&from).copied().flatten().and_then(i64::checked_neg)
                }
                _ => None,
            };
            let known = found.entry(slot).or_insert(value);
            if *known != value {
                *known = None;
            }
        }
    }
    found.into_iter().filter_map(|(slot, value)| Some((slot, value?))).collect()
}

/// Next items, and what is nothing but a copy of one.
fn with_items(code: &Code, counters: &FxHashSet<Slot>) -> FxHashSet<Slot> {
    let all = || code.blocks.iter().flat_map(|block| &block.operations);
    let is_copy =
        |one: &&Operation| matches!(one, Operation::Copy(_, from) if counters.contains(from));
    let mut found: FxHashSet<Slot> = all().filter(is_copy).filter_map(Operation::written).collect();
    // What names are at the entry is not known.
    let is_other = |one: &&Operation| !is_copy(one) && !matches!(one, Operation::Fetch(..));
    for other in all().filter(is_other).filter_map(Operation::written) {
        found.remove(&other);
    }
    found.extend(counters);
    found
}

/// Leaves out what asks for a pause a second time in one round of a loop.
fn without_further_polls(code: &mut Code) {
    let graph = BlockGraph::new(code);
    let dominators = dominators(&graph);
    let size = |has: &[bool]| has.iter().filter(|has| **has).count();
    let around = |block: usize| {
        let loops = graph.loops.iter().filter(|one| one.has[block]);
        loops.min_by_key(|one| size(&one.has)).map(|one| one.head)
    };
    let asks = |block: usize| {
        code.blocks[block].operations.iter().any(|one| matches!(one, Operation::Poll))
    };
    let asking: Vec<usize> = graph.order.iter().copied().filter(|&block| asks(block)).collect();
    let heads: FxHashMap<usize, Option<usize>> =
        asking.iter().map(|&block| (block, around(block))).collect();
    for &block in &asking {
        // All rounds through this block come by that one, which is in no smaller loop.
        let mut before = block;
        while dominators[before] != before {
            before = dominators[before];
            if heads[&block].is_some() && heads.get(&before) == Some(&heads[&block]) {
                code.blocks[block].operations.retain(|one| !matches!(one, Operation::Poll));
                break;
            }
        }
    }
}

/// Notes what slots are behind an operation, as far as that is known; gives its result, if it is.
fn evaluate(
    operation: &Operation,
    constants: &FxHashMap<Slot, i64>,
    numbers: &mut Numbers,
) -> Option<i64> {
    let get = |slot: &Slot| numbers.get(slot).or_else(|| constants.get(slot)).copied();
    let value = match operation {
        Operation::Int(_, value) => Some(*value),
        Operation::Copy(_, from) => get(from),
        Operation::Integer(Integer::Add, _, a, b) | Operation::Checked(Integer::Add, _, a, b) => {
            get(a).zip(get(b)).and_then(|(a, b)| a.checked_add(b))
        }
        Operation::Integer(Integer::Sub, _, a, b) | Operation::Checked(Integer::Sub, _, a, b) => {
            get(a).zip(get(b)).and_then(|(a, b)| a.checked_sub(b))
        }
        Operation::Compare(test, _, a, b) => {
            get(a).zip(get(b)).map(|(a, b)| i64::from(test.holds(&a, &b)))
        }
        _ => None,
    };
    if let Some(slot) = operation.written() {
        match value {
            // Elsewhere too.
            Some(_) if constants.contains_key(&slot) => None,
            Some(value) => numbers.insert(slot, value),
            None => numbers.remove(&slot),
        };
    }
    value
}
