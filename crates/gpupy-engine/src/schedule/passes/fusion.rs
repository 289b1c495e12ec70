//! Fusion: which values of a flush are stored, and which are computed inside the kernels that read them.
//!
//! Owns the choice, the [`Fates`]. A value that several kernels read is computed by each of them, or once, and stored.
//! It is stored if computing an element takes longer than storing and loading it, and the kernels read more elements
//! than there are. What is reduced and lives on is stored, too, as its holder usually reads it. Invariants: the choice
//! is made once, for all of a flush; a value that one kernel reads is decided on where that kernel is made
//! (`walker.rs`), which knows how it is read.
//!
//! Not here: the graph (`flush.rs`), kernels (`partition.rs`), values that later flushes recompute
//! (`rematerialisation.rs`).

use crate::graph::passed::is_narrow;
use crate::graph::tree_lanes::FEW;
use crate::graph::value::{Value, ValueId};
use crate::schedule::passes::flush::{FlushAnalysis, PartsRead, PendingValue, ReadPattern};
use crate::thresholds::T;
use rustc_hash::FxHashMap;

/// Which kernels read a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    None,
    /// One, by the node that it is of, over so many points.
    One(u32, usize),
    /// More, over so many points together; the same ones have the same name.
    Several(u32, usize),
}

impl Readers {
    /// These and others; a set of kernels that is new takes the next name.
    fn and(self, other: Readers, names: &mut u32) -> Readers {
        use Readers::{None, One, Several};
        match (self, other) {
            (None, readers) | (readers, None) => readers,
            (One(a, x), One(b, y)) if a == b => One(a, x.max(y)),
            (Several(a, x), Several(b, y)) if a == b => Several(a, x.max(y)),
            (One(_, x) | Several(_, x), One(_, y) | Several(_, y)) => {
                *names += 1;
                Several(*names, x.saturating_add(y))
            }
        }
    }

    fn points(self) -> usize {
        match self {
            Readers::None => 0,
            Readers::One(_, points) | Readers::Several(_, points) => points,
        }
    }
}

/// The fate of a pending value: fused into its readers' kernels, or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// One kernel computes it in passing, and nothing else holds it.
    Passes,
    /// Several kernels compute it in passing, and nothing else holds it.
    Shared,
    /// It is computed in passing, and something holds it beyond the flush.
    Lasts,
    /// It is computed by itself, or beside another, and read.
    Stored,
}

/// The fates of the pending values of a flush.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    numbers: FxHashMap<ValueId, u32>,
    fates: Vec<Fate>,
    /// The values that are stored, or were before, and that are not needed after the flush; in order.
    unheld: Vec<ValueId>,
}

impl Fates {
    /// Those of the values of a flush.
    pub fn of(flush: &mut FlushAnalysis) -> Fates {
        let fates = fates(flush);
        let mut unheld = std::mem::take(&mut flush.unheld);
        let is_unheld = |(node, fate): (&PendingValue, &Fate)| {
            (*fate == Fate::Stored && !node.outlives).then_some(node.id)
        };
        unheld.extend(flush.nodes.iter().zip(&fates).filter_map(is_unheld));
        unheld.sort_unstable();
        Fates { numbers: std::mem::take(&mut flush.numbers), fates, unheld }
    }

    /// Whether nothing needs a value that is stored when the flush is done, so that its memory may be taken.
    pub fn is_unheld(&self, value: ValueId) -> bool {
        self.unheld.binary_search(&value).is_ok()
    }

    fn fate(&self, value: ValueId) -> Option<Fate> {
        self.numbers.get(&value).map(|number| self.fates[*number as usize])
    }

    /// Whether a value is stored, as others read it.
    pub fn is_stored(&self, value: ValueId) -> bool {
        self.fate(value) == Some(Fate::Stored)
    }

    /// Whether nothing but one kernel holds a pending value. A step on the way to another value is its kernel's.
    pub fn passes(&self, value: &Value) -> bool {
        value.is_step() || self.fate(value.id()) == Some(Fate::Passes)
    }

    /// Whether a value that is computed in passing may be read again after the flush; true for values that are no part
    /// of it.
    pub fn lasts(&self, value: &Value) -> bool {
        !value.is_step() && matches!(self.fate(value.id()), None | Some(Fate::Lasts))
    }
}

/// Whether a value is reduced. Its holder, if it has one, usually reads it: a loop looks how far it is, and goes on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LookedAt {
    No,
    /// On the way to what is.
    InPassing,
    /// By sums of few elements, such as the components of a vector, which are operations like others.
    OfFew,
    Itself,
}

fn fates(flush: &FlushAnalysis) -> Vec<Fate> {
    let mut names = 0;
    let count = flush.nodes.len();
    let (mut fates, mut reduced) = (vec![Fate::Passes; count], vec![LookedAt::No; count]);
    let (mut readers, mut read) = (vec![Readers::None; count], vec![0usize; count]);
    for (wanted, first) in &flush.wanted {
        readers[*wanted as usize] = of_its_own(flush, *first);
        read[*wanted as usize] = readers[*wanted as usize].points();
    }
    // Readers before their operands.
    for number in (0..flush.nodes.len() as u32).rev() {
        let node = &flush.nodes[number as usize];
        let mut own = readers[number as usize];
        let lives_on = node.outlives
            && match reduced[number as usize] {
                LookedAt::No => false,
                LookedAt::InPassing => {
                    node.weight > T.recompute || node.moves && node.weight >= T.kept_weight
                }
                LookedAt::OfFew | LookedAt::Itself => true,
            };
        let lives_on = lives_on || is_behind_much(node, read[number as usize]);
        fates[number as usize] = match own {
            _ if may_be_stored(node) && (lives_on || is_stored(flush, node, own)) => Fate::Stored,
            _ if node.outlives => Fate::Lasts,
            Readers::Several(..) => Fate::Shared,
            Readers::None | Readers::One(..) => Fate::Passes,
        };
        if node.stands_alone || fates[number as usize] == Fate::Stored {
            own = of_its_own(flush, number);
        }
        let first = names + 1;
        for (operand, reading) in &node.operands {
            let more = match reading {
                ReadPattern::Inside => own,
                ReadPattern::Stored => of_its_own(flush, *operand),
                ReadPattern::Parts(parts) => {
                    names = names.max(first + parts.kernel);
                    of_parts(own, node.len, *parts, count as u32 + first + parts.kernel)
                }
            };
            // A reduction of a few rows says nothing of the others.
            if !is_narrow(node.points, flush.nodes[*operand as usize].len) {
                let is_in_map =
                    matches!(reduced[number as usize], LookedAt::InPassing | LookedAt::Itself)
                        && fates[number as usize] != Fate::Stored
                        && *reading == ReadPattern::Inside;
                let by_this = match node.reduces {
                    true if node.points <= node.len.saturating_mul(FEW) => LookedAt::OfFew,
                    true => LookedAt::Itself,
                    false if is_in_map => LookedAt::InPassing,
                    false => LookedAt::No,
                };
                let known = &mut reduced[*operand as usize];
                *known = by_this.max(*known);
            }
            let points = &mut read[*operand as usize];
            *points = points.saturating_add(more.points());
            let known = &mut readers[*operand as usize];
            *known = known.and(more, &mut names);
        }
    }
    fates
}

/// The kernel that a value has of its own, or with others.
fn of_its_own(flush: &FlushAnalysis, number: u32) -> Readers {
    let node = &flush.nodes[number as usize];
    Readers::One(node.first, node.points)
}

/// Those of parts of a value with so many elements which these read; parts have kernels of their own, which get a name.
fn of_parts(readers: Readers, len: usize, parts: PartsRead, name: u32) -> Readers {
    let share = parts.points as u128 * readers.points() as u128 / len.max(1) as u128;
    let points = usize::try_from(share).unwrap_or(usize::MAX);
    match readers {
        Readers::None => Readers::None,
        _ if parts.are_several => Readers::Several(name, points),
        _ => Readers::One(name, points),
    }
}

/// Whether something holds a value of which little is read, and so much is pending behind it that to plan that takes as
/// long as to compute all: a loop that looks at a row in each step would plan all its steps each time. What is read are
/// the points of all that read it: the components of a vector are all of it, where one kernel reads them, too.
fn is_behind_much(node: &PendingValue, read: usize) -> bool {
    let planned = (node.weight as usize).saturating_mul(T.planned_points);
    node.outlives
        && node.weight >= T.much_pending
        && planned >= node.len
        && is_narrow(read, node.len)
}

/// Whether a value may be stored for its readers: not if it is never computed inside other kernels, nor if it is cheap
/// and larger than memory.
fn may_be_stored(node: &PendingValue) -> bool {
    !node.stands_alone && (!node.streams || node.weight > T.streamed)
}

fn is_stored(flush: &FlushAnalysis, node: &PendingValue, readers: Readers) -> bool {
    let (points, stored) = (readers.points(), u64::from(T.recompute) * node.len as u64);
    let is_due =
        matches!(readers, Readers::Several(..)) && node.weight > T.recompute && points > node.len;
    if !is_due {
        return false;
    }
    // A large value that is little more than small ones: these are stored, and it is computed by all.
    let (mut below, mut rest) = (0u64, u64::from(node.own));
    for (operand, _) in &node.operands {
        let operand = &flush.nodes[*operand as usize];
        match operand.weight > T.recompute {
            true => below += u64::from(T.recompute) * operand.len as u64,
            false => rest += u64::from(operand.weight),
        }
    }
    stored <= below.saturating_add(rest.saturating_mul(points as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::{SmallVec, smallvec};

    const LEN: usize = 1000;

    /// A value of so many operations over operands, and the points of its kernel.
    fn node(weight: u32, points: usize, operands: &[(u32, ReadPattern)]) -> PendingValue {
        let own = if operands.is_empty() { weight } else { 1 };
        let operands = operands.iter().copied().collect();
        PendingValue {
            id: 0,
            len: LEN,
            own,
            weight,
            stands_alone: false,
            streams: false,
            reduces: false,
            moves: false,
            outlives: false,
            points,
            first: 0,
            operands,
        }
    }

    fn map(weight: u32, operands: &[u32]) -> PendingValue {
        let inside: Vec<_> =
            operands.iter().map(|operand| (*operand, ReadPattern::Inside)).collect();
        node(weight, LEN, &inside)
    }

    fn reduction(points: usize, operand: u32) -> PendingValue {
        let sum = node(1, points, &[(operand, ReadPattern::Inside)]);
        PendingValue { stands_alone: true, reduces: true, ..sum }
    }

    fn flush(nodes: Vec<PendingValue>, wanted: SmallVec<[(u32, u32); 2]>) -> FlushAnalysis {
        FlushAnalysis { nodes, wanted, ..FlushAnalysis::default() }
    }

    /// The numbers of the values with a fate.
    fn all_of(flush: &FlushAnalysis, fate: Fate) -> Vec<ValueId> {
        let fates = (0..).zip(fates(flush));
        fates.filter(|(_, own)| *own == fate).map(|(number, _)| number).collect()
    }

    /// The numbers of the values that are stored if the last of these is wanted.
    fn stored_of(mut nodes: Vec<PendingValue>) -> Vec<ValueId> {
        number(&mut nodes);
        stored_of_numbered(nodes)
    }

    /// As each has a kernel of its own.
    fn number(nodes: &mut [PendingValue]) {
        (0..).zip(nodes).for_each(|(number, node)| (node.id, node.first) = (number.into(), number));
    }

    fn stored_of_numbered(nodes: Vec<PendingValue>) -> Vec<ValueId> {
        let last = nodes.len() as u32 - 1;
        all_of(&flush(nodes, smallvec![(last, last)]), Fate::Stored)
    }

    #[test]
    fn what_two_kernels_read_is_stored_where_it_is_costly() {
        let two_sums =
            |weight| vec![map(weight, &[]), reduction(LEN, 0), reduction(LEN, 0), map(3, &[1, 2])];
        assert_eq!(stored_of(two_sums(T.recompute + 1)), [0]);
        assert_eq!(stored_of(two_sums(T.recompute)), [0u64; 0]);
    }

    #[test]
    fn what_reductions_read_that_go_together_is_not_stored() {
        let sums = [reduction(LEN, 0), reduction(LEN, 0), map(3, &[1, 2])];
        let mut nodes: Vec<PendingValue> = [map(99, &[])].into_iter().chain(sums).collect();
        number(&mut nodes);
        nodes[2].first = 1;
        assert_eq!(stored_of_numbered(nodes), [0u64; 0]);
    }

    #[test]
    fn of_a_large_value_made_of_a_small_one_the_small_one_is_stored() {
        let (large, small) = (PendingValue { len: 100 * LEN, ..map(99, &[0]) }, map(98, &[]));
        let points = 100 * LEN;
        let sums = [reduction(points, 1), reduction(points, 1), map(3, &[2, 3])];
        assert_eq!(stored_of([small, large].into_iter().chain(sums).collect()), [0]);
    }

    #[test]
    fn what_one_kernel_reads_is_not_stored() {
        let shared = vec![map(99, &[]), map(100, &[0]), map(100, &[0]), map(200, &[1, 2])];
        assert_eq!(stored_of(shared), [0u64; 0]);
        assert_eq!(stored_of(vec![map(99, &[]), reduction(LEN, 0), map(2, &[1])]), [0u64; 0]);
    }

    #[test]
    fn kernels_that_read_a_part_each_compute_nothing_twice() {
        let halves = |points| {
            vec![map(99, &[]), reduction(points, 0), reduction(points, 0), map(3, &[1, 2])]
        };
        assert_eq!(stored_of(halves(LEN / 2)), [0u64; 0]);
        assert_eq!(stored_of(halves(LEN / 2 + 1)), [0]);
    }

    #[test]
    fn a_step_is_stored_where_a_reduction_looks_at_it_and_something_holds_it() {
        let whole = |operand| PendingValue { len: 1, ..reduction(LEN, operand) };
        let looked_at = |step| vec![step, map(99, &[0]), whole(1)];
        let step = |weight| PendingValue { outlives: true, moves: true, ..map(weight, &[]) };
        assert_eq!(stored_of(looked_at(step(T.kept_weight))), [0]);
        assert_eq!(stored_of(looked_at(step(T.kept_weight - 1))), [0u64; 0]);
        let still = |weight| PendingValue { moves: false, ..step(weight) };
        assert_eq!(stored_of(looked_at(still(T.recompute + 1))), [0]);
        assert_eq!(stored_of(looked_at(still(T.recompute))), [0u64; 0]);
        let dropped = PendingValue { outlives: false, ..step(99) };
        assert_eq!(stored_of(looked_at(dropped)), [0u64; 0]);
        // What is stored between them is what the reduction reads.
        let between = PendingValue { outlives: true, ..map(99, &[0]) };
        assert_eq!(stored_of(vec![step(99), between, whole(1)]), [1]);
        // Sums of few elements are operations like others.
        assert_eq!(stored_of(vec![step(99), map(99, &[0]), reduction(LEN, 1)]), [0u64; 0]);
    }

    #[test]
    fn what_is_behind_much_is_stored_where_little_of_it_is_read() {
        let row = |weight| {
            let held = PendingValue { outlives: true, len: 100 * LEN, ..map(weight, &[]) };
            vec![held, reduction(LEN, 0)]
        };
        let much = (100 * LEN).div_ceil(T.planned_points) as u32;
        assert_eq!(stored_of(row(much)), [0]);
        assert_eq!(stored_of(row(much - 1)), [0u64; 0]);
        let mut dropped = row(much);
        dropped[0].outlives = false;
        assert_eq!(stored_of(dropped), [0u64; 0]);
        // Parts that one kernel reads are counted together: they may be all of it.
        let parts = |points| {
            let held = PendingValue { outlives: true, ..map(9 * T.much_pending, &[]) };
            let part = PendingValue { len: points, points, ..map(1, &[0]) };
            let all = PendingValue { len: points, points, ..map(3, &[1, 2, 3]) };
            let mut nodes = vec![held, part.clone(), part.clone(), part, all];
            number(&mut nodes);
            nodes[1..].iter_mut().for_each(|node| node.first = 4);
            stored_of_numbered(nodes)
        };
        assert_eq!(parts(LEN / 3), [0u64; 0]);
        assert_eq!(parts(LEN / 6), [0]);
    }

    #[test]
    fn what_only_a_stored_value_reads_is_computed_in_its_kernel() {
        let chain = vec![
            map(50, &[]),
            map(51, &[0]),
            map(52, &[1]),
            reduction(LEN, 2),
            reduction(LEN, 2),
            map(3, &[3, 4]),
        ];
        assert_eq!(stored_of(chain), [2]);
    }

    #[test]
    fn what_is_computed_for_a_scan_anyway_is_read_there_by_others() {
        let scan = PendingValue { stands_alone: true, ..node(1, LEN, &[(0, ReadPattern::Stored)]) };
        assert_eq!(stored_of(vec![map(50, &[]), scan, map(60, &[0, 1])]), [0]);
    }

    #[test]
    fn what_is_wanted_and_read_by_another_is_stored() {
        let mut nodes = vec![map(50, &[]), map(51, &[0])];
        number(&mut nodes);
        let mut flush = flush(nodes, smallvec![(0, 0), (1, 1)]);
        assert_eq!(all_of(&flush, Fate::Stored), [0]);
        // One launch gives both.
        flush.wanted = smallvec![(0, 0), (1, 0)];
        assert_eq!(all_of(&flush, Fate::Stored), [0u64; 0]);
    }

    #[test]
    fn what_is_reduced_and_lives_on_is_stored() {
        let sum = |outlives| vec![PendingValue { outlives, ..map(1, &[]) }, reduction(LEN, 0)];
        assert_eq!(stored_of(sum(true)), [0]);
        assert_eq!(stored_of(sum(false)), [0u64; 0]);
        // Not for a few of its rows.
        let mut rows = sum(true);
        rows[1].points = LEN / 2;
        assert_eq!(stored_of(rows), [0u64; 0]);
        // The operand of a map is not stored.
        assert_eq!(
            stored_of(vec![PendingValue { outlives: true, ..map(1, &[]) }, map(2, &[0])]),
            [0u64; 0]
        );
    }

    #[test]
    fn what_one_kernel_computes_and_nobody_holds_passes() {
        let passes = |mut nodes: Vec<PendingValue>| {
            number(&mut nodes);
            let last = nodes.len() as u32 - 1;
            nodes[last as usize].outlives = true;
            all_of(&flush(nodes, smallvec![(last, last)]), Fate::Passes)
        };
        assert_eq!(passes(vec![map(1, &[]), map(1, &[0]), map(1, &[0, 1])]), [0, 1]);
        let held = PendingValue { outlives: true, ..map(1, &[]) };
        assert_eq!(passes(vec![held, map(1, &[0]), map(1, &[0, 1])]), [1]);
        // Two sums compute it, and each is read by one.
        let mut sums = vec![map(1, &[]), reduction(LEN, 0), reduction(LEN, 0), map(3, &[1, 2])];
        assert_eq!(passes(sums.clone()), [1, 2]);
        number(&mut sums);
        assert_eq!(all_of(&flush(sums, smallvec![(3, 3)]), Fate::Shared), [0]);
    }

    #[test]
    fn a_loop_of_many_turns_takes_time_in_proportion() {
        // Each turn reads the one before, and is reduced.
        let mut nodes = vec![map(1, &[])];
        for turn in 1..50_000u32 {
            let last = 2 * (turn - 1);
            nodes.push(reduction(LEN, last));
            nodes.push(map(turn.saturating_mul(4), &[last]));
        }
        let sums: Vec<u32> = (1..nodes.len() as u32).step_by(2).collect();
        nodes.push(map(1, &sums));
        // The last turn is not read, and the one before it only by its sum; all others that are costly are stored.
        assert_eq!(stored_of(nodes).len(), 49_997 - (T.recompute / 4) as usize);
    }
}
