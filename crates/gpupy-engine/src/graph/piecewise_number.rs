//! Numbers in pieces: piecewise affine functions of the points of a space.
//!
//! Owns [`PiecewiseCoordinate`], [`AffinePieces`] and [`InPieces`], the leaf of an expression that is such a number, or
//! says in which piece it lies. Where a walk passes the ends of a join of views of one value, the coordinates in that
//! value are affine in each part: a rotation, a repeated edge, a mirror are such pieces. Going through several joins
//! nests them. Pieces that contain no point are left out, so that adjacent steps merge where
//! bounds prove it. Invariant: the number at a point is the composition of the steps.
//!
//! Not here: where coordinates are in pieces (`schedule/walk/chain.rs`), the instructions that compute them
//! (`schedule/program/number_emitter.rs`), affine coordinates (`memory/access.rs`).

use crate::memory::access;
use crate::thresholds::T;
use gpupy_core::driver::Access;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// An affine number of a point, and multiples of numbers that are affine in pieces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PiecewiseCoordinate {
    pub affine: Access,
    pub terms: SmallVec<[(i64, Arc<AffinePieces>); 1]>,
}

/// A number that is another function of a coordinate in each piece of its range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AffinePieces {
    pub of: PiecewiseCoordinate,
    /// The upper end of the coordinate in each piece but the last; rising.
    pub ends: SmallVec<[i64; 2]>,
    /// The line of the number in each piece, as a function of the coordinate.
    pub lines: SmallVec<[AffineLine; 3]>,
}

/// A leaf of an expression over the points of its own shape; an int32.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum InPieces {
    /// The number.
    Number(PiecewiseCoordinate),
    /// In which piece the number lies: the first before whose end it is. The ends rise.
    Piece { of: PiecewiseCoordinate, ends: SmallVec<[i64; 2]> },
}

/// An affine function of one coordinate: its value at 0, and its slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AffineLine {
    pub start: i64,
    pub step: i64,
}

impl AffineLine {
    pub fn at(self, coordinate: i64) -> Option<i64> {
        coordinate.checked_mul(self.step)?.checked_add(self.start)
    }
}

impl PiecewiseCoordinate {
    /// An affine number.
    pub fn affine(affine: Access) -> PiecewiseCoordinate {
        PiecewiseCoordinate { affine, terms: SmallVec::new() }
    }

    /// One number at every point of a space of `rank` axes.
    pub fn constant(number: i64, rank: usize) -> PiecewiseCoordinate {
        PiecewiseCoordinate::affine(Access {
            offset: number,
            strides: SmallVec::from_elem(0, rank),
        })
    }

    /// Adds a multiple of another number; `None` where numbers are too large.
    pub fn add(&mut self, times: i64, other: &PiecewiseCoordinate) -> Option<()> {
        let sum = |a: i64, b: i64| b.checked_mul(times)?.checked_add(a);
        self.affine.offset = sum(self.affine.offset, other.affine.offset)?;
        for (own, step) in self.affine.strides.iter_mut().zip(&other.affine.strides) {
            *own = sum(*own, *step)?;
        }
        for (factor, pieces) in &other.terms {
            let factor = factor.checked_mul(times)?;
            match self.terms.iter_mut().find(|(_, own)| own == pieces) {
                Some((own, _)) => *own = own.checked_add(factor)?,
                None => self.terms.push((factor, pieces.clone())),
            }
        }
        self.terms.retain(|(factor, _)| *factor != 0);
        Some(())
    }

    /// The least and the greatest number over a space; `None` where they are too large.
    pub fn bounds(&self, space: &[usize]) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.affine.offset, self.affine.offset);
        for (step, extent) in self.affine.strides.iter().zip(space) {
            let far = step.checked_mul(*extent as i64 - 1)?;
            low = low.checked_add(far.min(0))?;
            high = high.checked_add(far.max(0))?;
        }
        for (factor, pieces) in &self.terms {
            let (first, last) = pieces.bounds(space)?;
            let (first, last) = (first.checked_mul(*factor)?, last.checked_mul(*factor)?);
            low = low.checked_add(first.min(last))?;
            high = high.checked_add(first.max(last))?;
        }
        Some((low, high))
    }

    /// An upper bound of the operations that it takes, and of its scalars: of each piece, its end and its line.
    fn size(&self) -> (u32, u32) {
        let of_pieces = |(_, pieces): &(i64, Arc<AffinePieces>)| {
            let (operations, scalars) = pieces.of.size();
            let count = pieces.lines.len() as u32;
            // The number itself, a comparison and a choice, and each line's own number.
            (operations * (count + 1) + 2 * count + 1, scalars * (count + 1) + 2 * count)
        };
        let sum = |a: (u32, u32), b: (u32, u32)| (a.0 + b.0, a.1 + b.1);
        self.terms.iter().map(of_pieces).fold((1, 1), sum)
    }

    /// A multiple of it plus a constant. Wraps around beyond 64 bits: bounds are known where it is in use.
    pub fn times(&self, factor: i64, plus: i64) -> PiecewiseCoordinate {
        let Access { offset, strides } = &self.affine;
        let strides = strides.iter().map(|step| step.wrapping_mul(factor)).collect();
        let offset = offset.wrapping_mul(factor).wrapping_add(plus);
        let terms = self.terms.iter();
        let terms = terms.map(|(own, pieces)| (own.wrapping_mul(factor), pieces.clone()));
        PiecewiseCoordinate { affine: Access { offset, strides }, terms: terms.collect() }
    }

    /// The number at affine coordinates over another space of this rank.
    pub fn through(&self, at: &[Access], rank: usize) -> PiecewiseCoordinate {
        let steps: SmallVec<[isize; 4]> =
            self.affine.strides.iter().map(|step| *step as isize).collect();
        let affine = access::through(self.affine.offset as isize, &steps, at, rank);
        let terms = self.terms.iter().map(|(factor, pieces)| {
            let AffinePieces { of, ends, lines } = &**pieces;
            let (of, ends, lines) = (of.through(at, rank), ends.clone(), lines.clone());
            (*factor, Arc::new(AffinePieces { of, ends, lines }))
        });
        PiecewiseCoordinate { affine, terms: terms.collect() }
    }

    /// Calls `told` with each access on which it depends: its own, and those of its pieces, of which lines are
    /// multiples.
    pub fn accesses(&self, told: &mut dyn FnMut(&Access)) {
        told(&self.affine);
        self.terms.iter().for_each(|(_, pieces)| pieces.of.accesses(told));
    }

    /// How many numbers are computed for it: those of a nested coordinate are other ones for each piece.
    fn numbers(&self) -> usize {
        let of_pieces =
            |pieces: &AffinePieces| pieces.lines.len().saturating_mul(pieces.of.numbers());
        let terms = self.terms.iter().map(|(_, pieces)| of_pieces(pieces));
        terms.fold(1, usize::saturating_add)
    }

    /// The function of a coordinate that has these lines before each of these ends, and the last line behind them;
    /// `None` where numbers are too large, or too many.
    pub fn pieces(
        of: &PiecewiseCoordinate,
        ends: &[i64],
        lines: &[AffineLine],
        space: &[usize],
    ) -> Option<PiecewiseCoordinate> {
        let (low, high) = of.bounds(space)?;
        let mut pieces =
            AffinePieces { of: of.clone(), ends: SmallVec::new(), lines: SmallVec::new() };
        let starts = std::iter::once(i64::MIN).chain(ends.iter().copied());
        let behind = ends.iter().copied().chain([i64::MAX]);
        for ((start, end), line) in starts.zip(behind).zip(lines) {
            if end <= low || start > high || pieces.lines.last() == Some(line) {
                continue;
            }
            if !pieces.lines.is_empty() {
                pieces.ends.push(start);
            }
            pieces.lines.push(*line);
        }
        // Where all lines are as steep, only where they start is a matter of pieces.
        let first = *pieces.lines.first()?;
        let mut number = PiecewiseCoordinate::constant(0, of.affine.strides.len());
        if pieces.lines.iter().all(|line| line.step == first.step) {
            number.add(first.step, of)?;
            number.affine.offset = number.affine.offset.checked_add(first.start)?;
            for line in &mut pieces.lines {
                *line = AffineLine { start: line.start.checked_sub(first.start)?, step: 0 };
            }
        }
        if pieces.lines.len() > 1 {
            if pieces.lines.len().saturating_mul(of.numbers()) > T.most_numbers {
                return None;
            }
            let term = PiecewiseCoordinate {
                affine: PiecewiseCoordinate::constant(0, of.affine.strides.len()).affine,
                terms: smallvec![(1, Arc::new(pieces))],
            };
            number.add(1, &term)?;
        }
        Some(number)
    }
}

impl InPieces {
    /// The leaf at affine coordinates over another space of this rank.
    pub fn through(&self, at: &[Access], rank: usize) -> InPieces {
        match self {
            InPieces::Number(number) => InPieces::Number(number.through(at, rank)),
            InPieces::Piece { of, ends } => {
                InPieces::Piece { of: of.through(at, rank), ends: ends.clone() }
            }
        }
    }

    /// The number that it is, or that lies in a piece.
    pub fn number(&self) -> &PiecewiseCoordinate {
        match self {
            InPieces::Number(number) | InPieces::Piece { of: number, .. } => number,
        }
    }

    /// How many operations it takes, and how many scalars.
    pub fn size(&self) -> (u32, u32) {
        let (operations, scalars) = self.number().size();
        match self {
            InPieces::Number(_) => (operations, scalars),
            InPieces::Piece { ends, .. } => {
                (operations + ends.len() as u32, scalars + ends.len() as u32)
            }
        }
    }
}

impl AffinePieces {
    /// Whether the number is the same in all of a piece.
    pub fn are_flat(&self) -> bool {
        self.lines.iter().all(|line| line.step == 0)
    }

    /// The least and the greatest number over a space.
    fn bounds(&self, space: &[usize]) -> Option<(i64, i64)> {
        let (low, high) = self.of.bounds(space)?;
        let mut all: Option<(i64, i64)> = None;
        for (k, line) in self.lines.iter().enumerate() {
            let from = k.checked_sub(1).map_or(low, |before| self.ends[before].max(low));
            let to = self.ends.get(k).map_or(high, |end| (end - 1).min(high));
            if from > to {
                continue;
            }
            let (a, b) = (line.at(from)?, line.at(to)?);
            let (least, most) = all.unwrap_or((a, a));
            all = Some((least.min(a).min(b), most.max(a).max(b)));
        }
        all
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl PiecewiseCoordinate {
        fn at(&self, point: &[i64]) -> i64 {
            let steps = self.affine.strides.iter().zip(point);
            let affine = steps.fold(self.affine.offset, |sum, (step, i)| sum + step * i);
            self.terms.iter().fold(affine, |sum, (factor, pieces)| {
                let of = pieces.of.at(point);
                let piece = pieces.ends.iter().take_while(|end| **end <= of).count();
                sum + factor * pieces.lines[piece].at(of).unwrap()
            })
        }
    }

    fn a_line() -> impl Strategy<Value = AffineLine> {
        (-9i64..9, -2i64..3).prop_map(|(start, step)| AffineLine { start, step })
    }

    proptest! {
        #[test]
        fn nested_pieces_are_the_steps_one_after_another(
            (offset, steps) in (-5i64..6, prop::array::uniform2(-2i64..3)),
            chain in prop::collection::vec(
                (prop::collection::btree_set(-8i64..9, 0..3), prop::array::uniform3(a_line())), 1..4),
            times in -3i64..4,
        ) {
            let space = [4, 3];
            let own = Access { offset, strides: SmallVec::from_slice(&steps) };
            let mut number = PiecewiseCoordinate::affine(own.clone());
            for (ends, lines) in &chain {
                let ends: Vec<i64> = ends.iter().copied().collect();
                number =
                    PiecewiseCoordinate::pieces(&number, &ends, &lines[..=ends.len()], &space).unwrap();
            }
            let mut multiple = PiecewiseCoordinate::affine(own);
            multiple.add(times, &number).unwrap();
            let (low, high) = multiple.bounds(&space).unwrap();
            for point in (0..12).map(|k| [k / 3, k % 3]) {
                let first = offset + steps[0] * point[0] + steps[1] * point[1];
                let mut wanted = first;
                for (ends, lines) in &chain {
                    let piece = ends.iter().filter(|end| **end <= wanted).count();
                    wanted = lines[piece].at(wanted).unwrap();
                }
                prop_assert_eq!(number.at(&point), wanted);
                prop_assert_eq!(multiple.at(&point), first + times * wanted);
                prop_assert!((low..=high).contains(&(first + times * wanted)));
            }
        }
    }

    #[test]
    fn nested_pieces_have_a_bounded_number_of_numbers() {
        let space = [64];
        let mut number = PiecewiseCoordinate::affine(Access { offset: 0, strides: smallvec![1] });
        let lines = [AffineLine { start: 32, step: 1 }, AffineLine { start: -32, step: 1 }];
        let mut depth = 0;
        while let Some(next) = PiecewiseCoordinate::pieces(&number, &[32], &lines, &space) {
            assert!(next.numbers() <= T.most_numbers + depth + 1);
            (number, depth) = (next, depth + 1);
        }
        // A rotation of a rotation is three times as many.
        assert_eq!(depth, 5);
    }
}
