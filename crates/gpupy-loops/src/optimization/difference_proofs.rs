//! Which checks of a nest's code always hold: a range analysis of integers, by the differences of two.
//!
//! Owns [`Assumption`] and [`without_proven_checks`]. Each value is bound once (`numbered_values.rs`); what is asked is
//! whether `a - b <= c`, a claim. It follows from offsets by constants, from tests and checks on each way there,
//! from the kinds of values, for what changes in a loop from its first value and from one round to the next, and from
//! what words of the state are at the entry. The latter are assumptions, which a run is asked first. Invariant: where
//! all assumptions hold, a check that is left out would have held. Not here: what is done where they do not hold
//! (`version.rs`).

use rustc_hash::FxHashMap;

use super::natural_loops::BlockGraph;
use super::numbered_values::{
    CheckOperands, KnownDifference, Numbered, NumberedValues, ValueNumber, WordRange, ZERO,
};
use crate::code::{Code, Integer, Operation};

/// Two words of the state at the entry, or 0, whose difference is at most a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumption {
    left: Option<u32>,
    right: Option<u32>,
    most: i128,
}

impl Assumption {
    /// Whether it holds for a state.
    pub fn holds(&self, state: &[u64]) -> bool {
        let value =
            |word: Option<u32>| word.map_or(0, |word| i128::from(state[word as usize] as i64));
        value(self.left) - value(self.right) <= self.most
    }
}

/// Steps of one proof, and how deep it goes.
const STEPS: usize = 400;
const DEPTH: usize = 24;
/// Sums of two such integers have no more than 64 bits.
const HALF: i128 = 1 << 62;

/// Leaves out checks that hold where the assumptions do, which hold for this state.
pub fn without_proven_checks(
    code: &mut Code,
    ranges: &[WordRange],
    state: &[u64],
) -> Vec<Assumption> {
    let graph = BlockGraph::new(code);
    let values = NumberedValues::new(code, &graph, ranges);
    let mut prover = Prover {
        values: &values,
        dominators: dominators(&graph),
        state,
        assumptions: Vec::new(),
        open: Vec::new(),
        tried: FxHashMap::default(),
        steps: 0,
    };
    for &number in &graph.order {
        let mut removed = Vec::new();
        for &(place, check) in &values.checks[number] {
            let found =
                prover.replaced(&code.blocks[number].operations[place], check, (number, place));
            match found {
                Proven::No => {}
                Proven::By(operation) => code.blocks[number].operations[place] = operation,
                Proven::Holds => removed.push(place),
            }
        }
        for place in removed.into_iter().rev() {
            code.blocks[number].operations.remove(place);
        }
    }
    prover.assumptions
}

enum Proven {
    No,
    Holds,
    By(Operation),
}

/// A place in the code: a block, and how many operations of it were done.
type CodePlace = (usize, usize);

/// `left - right <= most` at a place, and how many others it is to prove.
#[derive(Clone, Copy)]
struct Claim {
    left: ValueNumber,
    right: ValueNumber,
    most: i128,
    place: CodePlace,
    depth: usize,
}

impl Claim {
    /// A claim of other values, one step further, from which this one follows.
    fn between(self, left: ValueNumber, right: ValueNumber, most: i128) -> Self {
        Self { left, right, most, depth: self.depth + 1, ..self }
    }

    /// The same of values that are no other ones and a constant.
    fn without_offsets(self, values: &NumberedValues) -> Self {
        let ((left, more), (right, less)) = (values.offset(self.left), values.offset(self.right));
        Self { left, right, most: self.most - more + less, ..self }
    }
}

struct Prover<'a> {
    values: &'a NumberedValues,
    // By block, itself for the first.
    dominators: Vec<usize>,
    state: &'a [u64],
    assumptions: Vec<Assumption>,
    // Claims that are being proven for one round of a loop less.
    open: Vec<Claim>,
    // Differences that did not follow in a block, or are being tried, with the greatest number.
    tried: FxHashMap<(ValueNumber, ValueNumber, usize), i128>,
    steps: usize,
}

impl Prover<'_> {
    fn replaced(
        &mut self,
        operation: &Operation,
        check: CheckOperands,
        place: CodePlace,
    ) -> Proven {
        let CheckOperands(a, b) = check;
        match *operation {
            Operation::Inside(..) if self.proves(a, b, -1, place) => Proven::Holds,
            Operation::Within(to, index, extent) => {
                let is_below = self.proves(a, b, -1, place);
                if is_below && self.proves(ZERO, a, 0, place) {
                    return Proven::By(Operation::Copy(to, index));
                }
                match self.values.constant(a) {
                    Some(value) if value < 0 && self.proves(ZERO, b, value.into(), place) => {
                        Proven::By(Operation::Integer(Integer::Add, to, index, extent))
                    }
                    _ => Proven::No,
                }
            }
            Operation::Checked(does @ (Integer::Add | Integer::Sub), to, first, second) => {
                let is_small = [a, b].into_iter().all(|one| {
                    self.proves(one, ZERO, HALF - 1, place)
                        && self.proves(ZERO, one, HALF - 1, place)
                });
                if is_small {
                    Proven::By(Operation::Integer(does, to, first, second))
                } else {
                    Proven::No
                }
            }
            _ => Proven::No,
        }
    }

    /// Whether `a - b <= most` at a place, with further assumptions perhaps.
    fn proves(&mut self, a: ValueNumber, b: ValueNumber, most: i128, place: CodePlace) -> bool {
        self.steps = 0;
        self.open.clear();
        self.tried.clear();
        self.follows(Claim { left: a, right: b, most, place, depth: 0 })
    }

    /// The same of a claim; what was assumed in vain is forgotten.
    fn follows(&mut self, claim: Claim) -> bool {
        let (assumed, open) = (self.assumptions.len(), self.open.len());
        let found = self.tried(claim);
        self.open.truncate(open);
        if !found {
            self.assumptions.truncate(assumed);
        }
        found
    }

    fn tried(&mut self, claim: Claim) -> bool {
        let values = self.values;
        let claim = claim.without_offsets(values);
        let Claim { left, right, most, place, depth } = claim;
        let (of_left, of_right) = (values.range(left), values.range(right));
        if left == right {
            return most >= 0;
        }
        if of_left.1 - of_right.0 <= most {
            return true;
        }
        if of_left.0 - of_right.1 > most {
            return false;
        }
        self.steps += 1;
        if depth > DEPTH || self.steps > STEPS {
            return false;
        }
        if let Some(known) = self.open.iter().find(|one| (one.left, one.right) == (left, right)) {
            return most >= known.most;
        }
        if let (Some(left), Some(right)) = (values.entered(left), values.entered(right)) {
            let assumption = Assumption { left, right, most };
            let holds = assumption.holds(self.state);
            if holds && !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
            return holds;
        }
        let known = self.tried.entry((left, right, place.0)).or_insert(i128::MIN);
        if most <= *known {
            return false;
        }
        *known = most;
        let found = self.by_facts(claim) || self.by_remainder(claim) || self.by_rounds(claim);
        if found {
            self.tried.remove(&(left, right, place.0));
        }
        found
    }

    fn by_facts(&mut self, claim: Claim) -> bool {
        let values = self.values;
        let (mut block, mut done) = claim.place;
        loop {
            for &(at, KnownDifference { left, right, most: known }) in &values.facts[block] {
                if at > done {
                    continue;
                }
                let ((left, more), (right, less)) = (values.offset(left), values.offset(right));
                // left - right <= known.
                let rest = claim.most - (known - more + less);
                if left == claim.left && self.follows(claim.between(right, claim.right, rest))
                    || right == claim.right
                        && left != claim.left
                        && self.follows(claim.between(claim.left, left, rest))
                {
                    return true;
                }
            }
            let next = self.dominators[block];
            if next == block {
                return false;
            }
            (block, done) = (next, usize::MAX);
        }
    }

    /// What is left by a positive divisor is below it, and not negative.
    fn by_remainder(&mut self, claim: Claim) -> bool {
        let Claim { left, right, most, .. } = claim;
        let is_positive = |prover: &mut Self, by| prover.follows(claim.between(ZERO, by, -1));
        if let Numbered::Remainder(by) = self.values.values[left]
            && is_positive(self, by)
            && self.follows(claim.between(by, right, most + 1))
        {
            return true;
        }
        matches!(self.values.values[right], Numbered::Remainder(by) if is_positive(self, by))
            && self.follows(claim.between(left, ZERO, most))
    }

    /// By all values that one has where ways meet; the other one is the same on all of them.
    fn by_rounds(&mut self, claim: Claim) -> bool {
        let values = self.values;
        for (met, other) in [(claim.left, claim.right), (claim.right, claim.left)] {
            let Numbered::Met(block, inputs) = &values.values[met] else { continue };
            if !self.is_before(values.blocks[other], *block) {
                continue;
            }
            self.open.push(claim);
            let holds = inputs.iter().all(|&(from, input)| {
                let (left, right) = if met == claim.left { (input, other) } else { (other, input) };
                let place = (from, usize::MAX);
                self.follows(Claim { place, ..claim.between(left, right, claim.most) })
            });
            self.open.pop();
            if holds {
                return true;
            }
        }
        false
    }

    /// Whether a block comes before another one on each way.
    fn is_before(&self, first: usize, mut block: usize) -> bool {
        while self.dominators[block] != block {
            block = self.dominators[block];
            if block == first {
                return true;
            }
        }
        false
    }
}

/// By block: the last one that is passed on each way to it.
fn dominators(graph: &BlockGraph) -> Vec<usize> {
    let mut place = vec![usize::MAX; graph.before.len()];
    graph.order.iter().enumerate().for_each(|(number, &block)| place[block] = number);
    let mut found = vec![usize::MAX; graph.before.len()];
    found[0] = 0;
    loop {
        let mut is_new = false;
        for &block in &graph.order[1..] {
            let known = graph.before[block].iter().copied().filter(|&one| found[one] != usize::MAX);
            let meet = known.reduce(|mut a, mut b| {
                while a != b {
                    if place[a] > place[b] {
                        a = found[a];
                    } else {
                        b = found[b];
                    }
                }
                a
            });
            if let Some(meet) = meet {
                is_new |= found[block] != meet;
                found[block] = meet;
            }
        }
        if !is_new {
            return found;
        }
    }
}
