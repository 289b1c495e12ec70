//! Which checks of a nest's code always hold: a range analysis of integers, by the differences of two.
//!
//! Owns [`Assumption`] and [`without_proven_checks`]. Each value is bound once (`numbered_values.rs`); what is asked is
//! whether `a - b <= c`, a claim. It follows from offsets by constants, from tests and checks on each way there,
//! from the kinds of values, for what changes in a loop from its first value and from one round to the next, and from
//! what words of the state are at the entry. The latter are assumptions, which a run is asked first. Invariant: where
//! all assumptions hold, a check that is left out would have held. Not here: what is done where they do not hold
//! (`version.rs`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::natural_loops::BlockGraph;
use super::numbered_values::{
    CheckOperands, KnownDifference, Numbered, NumberedValues, ValueNumber, WordRange, ZERO,
};
use crate::code::{BlockEnd, Code, Integer, Operation, Test};
use crate::pause::BITS_OF_ROUNDS;

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
/// What grows begins with such numbers at most, and has so many values.
const BEGINNING: i128 = 1 << 60;
const GROWN: usize = 64;

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
        if let BlockEnd::Branch(_, inside, beside) = code.blocks[number].end
            && let Some(holds) = values.tests[number].and_then(|test| values.known(test))
        {
            code.blocks[number].end = BlockEnd::Jump(if holds { inside } else { beside });
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
            Operation::Require(_) if self.holds(a, place) => Proven::Holds,
            Operation::Integer(Integer::Mod, to, first, second) => {
                self.remainder(a, b, place).map_or(Proven::No, |does| {
                    Proven::By(match does {
                        None => Operation::Copy(to, first),
                        Some(does) => Operation::Integer(does, to, first, second),
                    })
                })
            }
            Operation::Checked(Integer::Mul, to, first, second) => {
                let (a, b) = match (self.values.constant(a), self.values.constant(b)) {
                    (_, Some(by)) => (a, by),
                    (Some(by), _) => (b, by),
                    _ => return Proven::No,
                };
                let most = (HALF - 1) / i128::from(b).abs().max(1);
                if self.proves(a, ZERO, most, place) && self.proves(ZERO, a, most, place) {
                    Proven::By(Operation::Integer(Integer::Mul, to, first, second))
                } else {
                    Proven::No
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

    /// Whether a comparison holds at a place.
    fn holds(&mut self, test: ValueNumber, place: CodePlace) -> bool {
        let Numbered::Compare(test, a, b) = self.values.values[test] else { return false };
        match test {
            Test::Lt => self.proves(a, b, -1, place),
            Test::LtE => self.proves(a, b, 0, place),
            Test::Gt => self.proves(b, a, -1, place),
            Test::GtE => self.proves(b, a, 0, place),
            Test::Eq => self.proves(a, b, 0, place) && self.proves(b, a, 0, place),
            Test::NotEq => self.proves(a, b, -1, place) || self.proves(b, a, -1, place),
        }
    }

    /// How `a % b` is had without a division: `a` itself, or that and the divisor once; `None` where it is not known.
    fn remainder(
        &mut self,
        a: ValueNumber,
        b: ValueNumber,
        place: CodePlace,
    ) -> Option<Option<Integer>> {
        let beside = self.values.offset(a).1;
        if !self.proves(ZERO, b, -1, place) {
            return None;
        }
        let (is_low, is_high) = (self.proves(ZERO, a, 0, place), self.proves(a, b, -1, place));
        match (is_low, is_high) {
            (true, true) => Some(None),
            // Below b and a constant that is at most b.
            (true, false) if beside > 0 => {
                let holds =
                    self.proves(a, b, beside - 1, place) && self.proves(ZERO, b, -beside, place);
                holds.then_some(Some(Integer::ModBelowTwice))
            }
            (false, true) if beside < 0 => {
                let holds =
                    self.proves(ZERO, a, -beside, place) && self.proves(ZERO, b, beside, place);
                holds.then_some(Some(Integer::ModFromMinus))
            }
            _ => None,
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
        let found = self.by_facts(claim)
            || self.by_remainder(claim)
            || self.by_parts(claim)
            || self.by_growth(claim)
            || self.by_rounds(claim);
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

    /// By what a product is of, and by both of what is one of two.
    fn by_parts(&mut self, claim: Claim) -> bool {
        let Claim { left, right, most, .. } = claim;
        match (&self.values.values[left], &self.values.values[right]) {
            (&Numbered::Scaled(of, by), _) if right == ZERO => {
                let most = most.div_euclid(i128::from(by).abs());
                self.follows(if by > 0 {
                    claim.between(of, ZERO, most)
                } else {
                    claim.between(ZERO, of, most)
                })
            }
            (_, &Numbered::Scaled(of, by)) if left == ZERO => {
                let most = most.div_euclid(i128::from(by).abs());
                self.follows(if by > 0 {
                    claim.between(ZERO, of, most)
                } else {
                    claim.between(of, ZERO, most)
                })
            }
            (&Numbered::Either(a, b), _) => {
                [a, b].into_iter().all(|one| self.follows(claim.between(one, right, most)))
            }
            (_, &Numbered::Either(a, b)) => {
                [a, b].into_iter().all(|one| self.follows(claim.between(left, one, most)))
            }
            _ => false,
        }
    }

    /// What begins small and changes by small numbers only is small: there are never so many rounds.
    fn by_growth(&mut self, claim: Claim) -> bool {
        let value = match claim {
            Claim { left, right: ZERO, .. } => left,
            Claim { left: ZERO, right, .. } => right,
            _ => return false,
        };
        if claim.most < HALF / 2 || !matches!(self.values.values[value], Numbered::Met(..)) {
            return false;
        }
        let (mut seen, mut open, mut changes) = (FxHashSet::default(), vec![value], 0);
        while let Some(value) = open.pop() {
            let value = self.values.representative(value);
            let (low, high) = self.values.range(value);
            if !seen.insert(value) || -BEGINNING <= low && high <= BEGINNING {
                continue;
            }
            match self.values.values[value] {
                Numbered::Offset(of, by) => {
                    changes += i128::from(by).abs();
                    open.push(of);
                }
                Numbered::Sum(a, b) => {
                    let size = |one| {
                        let (low, high) = self.values.range(self.values.representative(one));
                        high.max(-low)
                    };
                    // The lesser part is the change.
                    let (of, by) = if size(a) > size(b) { (a, b) } else { (b, a) };
                    changes += size(by);
                    open.push(of);
                }
                Numbered::Either(a, b) => open.extend([a, b]),
                Numbered::Met(_, ref inputs) => open.extend(inputs.iter().map(|&(_, one)| one)),
                Numbered::Word(_) => {
                    let is_small = self.follows(claim.between(value, ZERO, BEGINNING))
                        && self.follows(claim.between(ZERO, value, BEGINNING));
                    if !is_small {
                        return false;
                    }
                }
                _ => return false,
            }
            if seen.len() > GROWN || BEGINNING + (changes << BITS_OF_ROUNDS) > HALF / 2 {
                return false;
            }
        }
        true
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
pub(super) fn dominators(graph: &BlockGraph) -> Vec<usize> {
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
