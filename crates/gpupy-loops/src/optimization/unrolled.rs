//! Innermost loops do several rounds at once: one test for all of them, and one of what NumPy would warn of.
//!
//! Owns [`with_unrolled_loops`]. The head of such a loop asks whether a group of rounds is left, by the range and until
//! the next pause; if so, copies of the body run one behind the other, else a round of the loop as it was. A copy
//! leaves by the exits of the body, with the names and loops of its round. Where the body does nothing but compute
//! names, and a sum carries what is not finite to the end, a group only asks there: if it is not finite, or another
//! check fails, the names become what they were, and the loop goes on one by one. Not here: what one round is.

use rustc_hash::{FxHashMap, FxHashSet};

use super::natural_loops::{BlockGraph, NaturalLoop};
use crate::code::{Block, BlockEnd, Code, Floating, Integer, Operation, Slot, Test};
use crate::kinds::SlotClass;

/// Rounds of a group.
const ROUNDS: usize = 4;
/// Operations of all copies, at most: more cost more time to compile than they save.
const OPERATIONS: usize = 320;

/// Makes groups of rounds in innermost loops.
pub fn with_unrolled_loops(code: &mut Code) {
    let graph = BlockGraph::new(code);
    let innermost = graph.innermost();
    for (number, one) in graph.loops.iter().enumerate() {
        let blocks: Vec<_> =
            graph.order.iter().copied().filter(|&b| innermost[b] == Some(number)).collect();
        let all = || blocks.iter().flat_map(|&block| &code.blocks[block].operations);
        let polls = all().filter(|one| matches!(one, Operation::Poll)).count();
        let is_long = all().any(|one| {
            matches!(
                one,
                Operation::Call1(..)
                    | Operation::Call2(..)
                    | Operation::CallIntegers(..)
                    | Operation::CallRow(..)
            )
        });
        // Copies and constants are no instructions.
        let count =
            all().filter(|one| !matches!(one, Operation::Copy(..) | Operation::Int(..))).count();
        // The compiler computes what several ways need in each of them: in a row of copies that is more each time.
        let has_one_way = blocks.iter().all(|&block| {
            code.blocks[block].end.targets().filter(|&next| one.has[next]).count() == 1
        });
        if polls == 1 && !is_long && has_one_way && count * ROUNDS <= OPERATIONS {
            Unrolling { code, one, blocks: &blocks }.write();
        }
    }
}

/// What the head of a loop over a range compares.
pub(super) struct Counted {
    pub at: Slot,
    pub stop: Slot,
    pub step: i64,
    /// Where a round begins.
    pub inside: usize,
}

/// How the copies of a loop's rounds are made.
struct RoundGroup<'a> {
    // Where names become what they were.
    undo: Option<usize>,
    counted: &'a Option<Counted>,
    carried: Option<&'a CarriedNames>,
}

struct Unrolling<'a> {
    code: &'a mut Code,
    one: &'a NaturalLoop,
    // Those of the loop, each behind one that leads there.
    blocks: &'a [usize],
}

impl Unrolling<'_> {
    fn write(&mut self) {
        let head = self.one.head;
        let counted = counted(self.code, self.one, self.blocks);
        // A round that may be the last one is looked at by itself.
        let carried = counted.as_ref().and_then(|_| self.carried());
        // The head's number is that of what comes before all rounds; the head itself becomes another block.
        let single = self.code.blocks.len();
        let body = self.code.blocks[head].clone();
        let exit = body.exit;
        self.code.blocks.push(body);
        let undo = carried.as_ref().map(|_| {
            let rest = self.copy();
            let undo = self.new_block(exit, Vec::new(), rest);
            self.code.blocks[undo].is_cold = true;
            undo
        });
        let places = counted.as_ref().map(|one| self.places(one)).unwrap_or_default();
        let group = RoundGroup { undo, counted: &counted, carried: carried.as_ref() };
        let mut enters = self.copies(&group);
        let mut operations = Vec::new();
        if let (Some(carried), Some(undo)) = (&carried, undo) {
            for &slot in &carried.slots {
                let kept = self.fresh(self.code.slots[slot as usize]);
                operations.push(Operation::Copy(kept, slot));
                self.code.blocks[undo].operations.push(Operation::Copy(slot, kept));
            }
        }
        let taken = self.fresh(SlotClass::Integer);
        operations.push(Operation::Take(taken, ROUNDS as i64));
        enters = self.tested(operations, taken, enters, single);
        if let Some(counted) = &counted {
            enters = self.enters(counted, &places, enters, single);
        }
        self.code.blocks.swap(head, enters);
    }

    /// Asks whether the next rounds are within the range, and all places in them within their extents.
    fn enters(
        &mut self,
        counted: &Counted,
        places: &[(i64, Slot)],
        inside: usize,
        beside: usize,
    ) -> usize {
        let Counted { at, stop, step, .. } = *counted;
        let last = step * (ROUNDS as i64 - 1);
        let (first, rest) = if step > 0 { (0, last) } else { (last, 0) };
        // Where the next item must be between: these limits stay in the loop.
        let mut operations = Vec::new();
        let (mut low, mut high) = (None, None);
        let end = self.sum(stop, -last, &mut operations);
        *(if step > 0 { &mut high } else { &mut low }) = Some(end);
        for &(by, extent) in places {
            let least = self.constant(-(by + first) - 1, &mut operations);
            let most = self.sum(extent, -(by + rest), &mut operations);
            low = Some(self.nearer(Test::Gt, low, least, &mut operations));
            high = Some(self.nearer(Test::Lt, high, most, &mut operations));
        }
        let limits = [(Test::Gt, low), (Test::Lt, high)];
        let tests: Vec<_> = limits
            .into_iter()
            .filter_map(|(test, limit)| {
                let holds = self.fresh(SlotClass::Integer);
                operations.push(Operation::Compare(test, holds, at, limit?));
                Some(holds)
            })
            .collect();
        let mut enters = inside;
        for (number, &holds) in tests.iter().enumerate() {
            // The last one is asked first.
            let is_first = number + 1 == tests.len();
            let operations = if is_first { std::mem::take(&mut operations) } else { Vec::new() };
            enters = self.tested(operations, holds, enters, beside);
        }
        enters
    }

    fn constant(&mut self, value: i64, operations: &mut Vec<Operation>) -> Slot {
        let slot = self.fresh(SlotClass::Integer);
        operations.push(Operation::Int(slot, value));
        slot
    }

    fn sum(&mut self, slot: Slot, by: i64, operations: &mut Vec<Operation>) -> Slot {
        let (by, sum) = (self.constant(by, operations), self.fresh(SlotClass::Integer));
        operations.push(Operation::Integer(Integer::Add, sum, slot, by));
        sum
    }

    /// The greater or the lesser of two.
    fn nearer(
        &mut self,
        test: Test,
        one: Option<Slot>,
        other: Slot,
        operations: &mut Vec<Operation>,
    ) -> Slot {
        let Some(one) = one else { return other };
        let [is_other, nearer] = [(); 2].map(|()| self.fresh(SlotClass::Integer));
        operations.push(Operation::Compare(test, is_other, other, one));
        operations.push(Operation::Select(nearer, is_other, other, one));
        nearer
    }

    /// A block that goes on by a test; gives its number.
    fn tested(
        &mut self,
        operations: Vec<Operation>,
        test: Slot,
        inside: usize,
        beside: usize,
    ) -> usize {
        let exit = self.code.blocks[self.one.head].exit;
        let end = BlockEnd::Branch(test, inside, beside);
        self.code.blocks.push(Block { exit, operations, end, is_cold: false });
        self.code.blocks.len() - 1
    }

    /// Places that are checked in the rounds: what they are beside the loop's own, and the extents.
    fn places(&self, counted: &Counted) -> Vec<(i64, Slot)> {
        let mut found = Vec::new();
        for &block in self.blocks {
            for (place, operation) in self.code.blocks[block].operations.iter().enumerate() {
                found.extend(self.asked(operation, (block, place), counted));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What a check of a place asks, if that can be asked of all rounds before.
    fn asked(
        &self,
        operation: &Operation,
        place: (usize, usize),
        counted: &Counted,
    ) -> Option<(i64, Slot)> {
        let (Operation::Inside(index, extent) | Operation::Within(_, index, extent)) = *operation
        else {
            return None;
        };
        let is_kept = self.operations().all(|one| one.written() != Some(extent));
        Some((self.beside(index, place, counted, 0)?, extent)).filter(|_| is_kept)
    }

    /// What is added to the next item of a loop for an integer of a round, at a place in it.
    fn beside(
        &self,
        slot: Slot,
        reader: (usize, usize),
        counted: &Counted,
        depth: usize,
    ) -> Option<i64> {
        let mut writes = self.blocks.iter().flat_map(|&block| {
            let operations = self.code.blocks[block].operations.iter().enumerate();
            operations
                .filter(|(_, one)| one.written() == Some(slot))
                .map(move |(place, one)| ((block, place), one))
        });
        let (Some((writer, write)), None) = (writes.next(), writes.next()) else { return None };
        if depth > 4 || !self.is_before(writer, reader) {
            return None;
        }
        match *write {
            // The item: a copy before the loop moves on.
            Operation::Copy(_, from) if from == counted.at => {
                (writer == (counted.inside, 0)).then_some(0)
            }
            Operation::Copy(_, from) => self.beside(from, writer, counted, depth + 1),
            Operation::Integer(does @ (Integer::Add | Integer::Sub), _, from, by) => {
                let by = constant_of(self.code, by, 0).filter(|by| by.unsigned_abs() < 1 << 20)?;
                let from = self.beside(from, writer, counted, depth + 1)?;
                Some(if does == Integer::Add { from + by } else { from - by })
            }
            _ => None,
        }
    }

    /// Whether a place comes before another one in each round that reaches that.
    fn is_before(&self, writer: (usize, usize), reader: (usize, usize)) -> bool {
        if writer.0 == reader.0 {
            return writer.1 < reader.1;
        }
        // Blocks that each round begins with, up to the first branch in it.
        let BlockEnd::Branch(_, mut block, _) = self.code.blocks[self.one.head].end else {
            return false;
        };
        loop {
            if block == writer.0 {
                return true;
            }
            match self.code.blocks[block].end {
                BlockEnd::Jump(next) if block != reader.0 && next != self.one.head => block = next,
                _ => return false,
            }
        }
    }

    fn fresh(&mut self, class: SlotClass) -> Slot {
        self.code.slots.push(class);
        (self.code.slots.len() - 1) as Slot
    }

    fn new_block(&mut self, exit: usize, operations: Vec<Operation>, next: usize) -> usize {
        let end = BlockEnd::Jump(next);
        self.code.blocks.push(Block { exit, operations, end, is_cold: false });
        self.code.blocks.len() - 1
    }

    fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.blocks.iter().flat_map(|&block| &self.code.blocks[block].operations)
    }

    /// A copy of the loop as it was; gives its head.
    fn copy(&mut self) -> usize {
        let first = self.code.blocks.len();
        let places: FxHashMap<usize, usize> =
            self.blocks.iter().enumerate().map(|(place, &b)| (b, first + place)).collect();
        let to = |block: usize| places.get(&block).copied().unwrap_or(block);
        for &block in self.blocks {
            let mut copy = self.code.blocks[block].clone();
            copy.end = match copy.end {
                BlockEnd::Jump(next) => BlockEnd::Jump(to(next)),
                BlockEnd::Branch(test, inside, beside) => {
                    BlockEnd::Branch(test, to(inside), to(beside))
                }
                BlockEnd::Leave => BlockEnd::Leave,
            };
            self.code.blocks.push(copy);
        }
        to(self.one.head)
    }

    /// The copies of all rounds; gives where they begin.
    fn copies(&mut self, group: &RoundGroup<'_>) -> usize {
        let counted = group.counted;
        let head = self.one.head;
        let mut next = head;
        for round in (0..ROUNDS).rev() {
            let first = self.code.blocks.len();
            let places: FxHashMap<usize, usize> =
                self.blocks.iter().enumerate().map(|(place, &b)| (b, first + place)).collect();
            let to = |block: usize| match places.get(&block) {
                _ if block == head => next,
                Some(&copy) => copy,
                None => block,
            };
            let mut made = Vec::new();
            for &block in self.blocks {
                let mut copy = self.code.blocks[block].clone();
                if let Some(counted) = counted {
                    copy.operations = self.without_checks(block, counted);
                }
                copy.operations.retain(|one| !matches!(one, Operation::Poll));
                if let Some(counted) = counted {
                    self.moves_by_constant(&mut copy.operations, counted);
                }
                copy.end = match copy.end {
                    BlockEnd::Jump(next) => BlockEnd::Jump(to(next)),
                    BlockEnd::Branch(test, inside, beside) => match counted {
                        // It holds for all rounds of the group.
                        Some(one) if block == head => BlockEnd::Jump(to(one.inside)),
                        _ => BlockEnd::Branch(test, to(inside), to(beside)),
                    },
                    BlockEnd::Leave => BlockEnd::Leave,
                };
                made.push(copy);
            }
            next = places[&head];
            self.code.blocks.extend(made);
            if let (Some(undo), Some(carried)) = (group.undo, group.carried) {
                for block in first..first + self.blocks.len() {
                    self.with_branches(block, undo, &carried.sums, round + 1 == ROUNDS);
                }
            }
        }
        next
    }

    /// Leaves out checks of places that are asked of a group.
    fn without_checks(&self, block: usize, counted: &Counted) -> Vec<Operation> {
        let operations = self.code.blocks[block].operations.iter().enumerate();
        let left = |(place, one): (usize, &Operation)| match *one {
            _ if self.asked(one, (block, place), counted).is_none() => Some(one.clone()),
            Operation::Within(to, index, _) => Some(Operation::Copy(to, index)),
            _ => None,
        };
        operations.filter_map(left).collect()
    }

    /// Has the next item move on by a constant that the machine code's writer sees: places of rounds differ by it.
    fn moves_by_constant(&mut self, operations: &mut Vec<Operation>, counted: &Counted) {
        let moves = |one: &Operation| one.written() == Some(counted.at);
        let Some(place) = operations.iter().position(moves) else { return };
        let by = self.fresh(SlotClass::Integer);
        operations[place] = Operation::Integer(Integer::Add, counted.at, counted.at, by);
        operations.insert(place, Operation::Int(by, counted.step));
    }

    /// Makes branches of the checks of a block, which go where all is undone.
    fn with_branches(&mut self, block: usize, undo: usize, sums: &FxHashSet<Slot>, is_last: bool) {
        let end = self.code.blocks[block].end.clone();
        let exit = self.code.blocks[block].exit;
        let operations = std::mem::take(&mut self.code.blocks[block].operations);
        let mut current = block;
        for operation in operations {
            let holds = match operation {
                Operation::Require(slot) => slot,
                Operation::Quiet(root, _) | Operation::QuietAll(root, _) => {
                    if sums.contains(&root) && !is_last {
                        continue;
                    }
                    let holds = self.fresh(SlotClass::Integer);
                    self.push(current, Operation::IsFinite(holds, root));
                    holds
                }
                Operation::Inside(index, extent) | Operation::Within(_, index, extent) => {
                    let holds = self.fresh(SlotClass::Integer);
                    self.push(current, Operation::IsBelow(holds, index, extent));
                    holds
                }
                _ => {
                    self.push(current, operation);
                    continue;
                }
            };
            let next = self.new_block(exit, Vec::new(), 0);
            self.code.blocks[current].end = BlockEnd::Branch(holds, next, undo);
            current = next;
            if let Operation::Within(to, index, _) = operation {
                self.push(current, Operation::Copy(to, index));
            }
        }
        self.code.blocks[current].end = end;
    }

    fn push(&mut self, block: usize, operation: Operation) {
        self.code.blocks[block].operations.push(operation);
    }

    /// What a loop carries on that has one way through it and no effect but on names; `None` of others, and where
    /// nothing is to be looked at once for all rounds.
    fn carried(&self) -> Option<CarriedNames> {
        let (mut seen, mut carried) = (FxHashSet::default(), Vec::new());
        for (place, &block) in self.blocks.iter().enumerate() {
            // Only the head goes elsewhere, and no round of a group ends there.
            let all = self.code.blocks[block].end.targets();
            let inside = all.filter(|&next| self.one.has[next] || block != self.one.head);
            let follows = self.blocks.get(place + 1).unwrap_or(&self.one.head);
            if inside.collect::<Vec<_>>() != [*follows] {
                return None;
            }
            for operation in &self.code.blocks[block].operations {
                if matches!(operation, Operation::Write(..) | Operation::Checked(..)) {
                    return None;
                }
                operation.read(|slot| {
                    if !seen.contains(&slot) {
                        carried.push(slot);
                    }
                });
                seen.extend(operation.written());
            }
        }
        let sums = self.sums(&carried);
        if sums.is_empty() {
            return None;
        }
        // Names of exits too: their words are those of one slot.
        let mut words = FxHashMap::default();
        for &(word, slot) in self.code.exits.iter().flat_map(|exit| &exit.saved) {
            if seen.contains(&slot) {
                if *words.entry(word).or_insert(slot) != slot {
                    return None;
                }
                carried.push(slot);
            }
        }
        carried.retain(|slot| seen.contains(slot));
        carried.sort_unstable();
        carried.dedup();
        Some(CarriedNames { slots: carried, sums })
    }

    /// Results that are looked at, and that stay infinite or NaN in all later rounds if they are so in one.
    fn sums(&self, carried: &[Slot]) -> FxHashSet<Slot> {
        let mut found = FxHashSet::default();
        for &name in carried {
            if self.code.slots[name as usize] == SlotClass::Integer {
                continue;
            }
            // What comes of the name, up to where it is written, and what is a copy of what.
            let (mut of_name, mut looked, mut becomes) = (vec![name], Vec::new(), Vec::new());
            let mut copied: FxHashMap<Slot, Slot> = FxHashMap::default();
            for operation in self.operations() {
                if let Operation::Quiet(root, _) | Operation::QuietAll(root, _) = *operation
                    && of_name.contains(&root)
                {
                    looked.push(root);
                }
                let Some(to) = operation.written() else { continue };
                let has = |slot: Slot| of_name.contains(&slot);
                let hands_on = match *operation {
                    Operation::Floating(Floating::Div, _, a, _) | Operation::Copy(_, a) => has(a),
                    Operation::Floating(_, _, a, b) => has(a) || has(b),
                    _ => false,
                };
                if to == name {
                    becomes.push(hands_on);
                }
                of_name.retain(|&one| one != to);
                if hands_on {
                    of_name.push(to);
                }
                let from = match *operation {
                    Operation::Copy(_, from) => copied.get(&from).copied().unwrap_or(from),
                    _ => to,
                };
                copied.insert(to, from);
            }
            if let [root] = looked[..]
                && becomes == [true]
                && copied.get(&root) == copied.get(&name)
            {
                found.insert(root);
            }
        }
        found
    }
}

/// What a loop over a range counts, by a constant step.
pub(super) fn counted(code: &Code, one: &NaturalLoop, blocks: &[usize]) -> Option<Counted> {
    let operations = || blocks.iter().flat_map(|&block| &code.blocks[block].operations);
    let block = &code.blocks[one.head];
    let BlockEnd::Branch(test, inside, beside) = block.end else { return None };
    let Some(&Operation::Compare(does @ (Test::Lt | Test::Gt), tested, at, stop)) =
        block.operations.last()
    else {
        return None;
    };
    if tested != test || !one.has[inside] || one.has[beside] {
        return None;
    }
    let mut of_at = operations().filter(|one| one.written() == Some(at));
    let Some(&Operation::Integer(Integer::Add, _, from, by)) = of_at.next() else {
        return None;
    };
    // The way into the loop moves on, once each round.
    let moves = code.blocks[inside].operations.iter();
    let is_moved = moves.filter(|one| one.written() == Some(at)).count() == 1;
    let is_kept = |slot| operations().all(|one| one.written() != Some(slot));
    if from != at || of_at.next().is_some() || !is_moved || !is_kept(stop) || !is_kept(by) {
        return None;
    }
    let step = constant_of(code, by, 0)?;
    let is_right = if does == Test::Lt { step > 0 } else { step < 0 };
    (is_right && step.unsigned_abs() < 1 << 20).then_some(Counted { at, stop, step, inside })
}

/// What a group of rounds puts back, and the sums that are looked at behind it.
struct CarriedNames {
    slots: Vec<Slot>,
    sums: FxHashSet<Slot>,
}

/// The number that a slot is wherever it is written.
pub(super) fn constant_of(code: &Code, slot: Slot, depth: usize) -> Option<i64> {
    let mut found = None;
    for operation in code.blocks.iter().flat_map(|block| &block.operations) {
        if operation.written() != Some(slot) {
            continue;
        }
        let value = match *operation {
            Operation::Int(_, value) => value,
            Operation::Copy(_, from) if depth < 4 => constant_of(code, from, depth + 1)?,
            _ => return None,
        };
        if found.is_some_and(|known| known != value) {
            return None;
        }
        found = Some(value);
    }
    found
}
