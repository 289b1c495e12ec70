//! Affine numbers in a box: which piece its points lie in, and where it gathers.
//!
//! Owns [`AffineNumbers`] (the integers of a program that say so, found once), the [`Fact`]s of a box, and [`BoxCut`].
//! A `piece` cuts a space where its number reaches an end: the boxes that are left lie in one piece of each.
//! Invariant: a fact holds at every point of its box, in the arithmetic of int32.
//!
//! Not here: the boxes (`launch_box.rs`), the specialised program (`residual.rs`).

use gpupy_core::driver::Access;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Op};
use smallvec::SmallVec;
use std::ops::Range;

/// The points of a box: a range along each axis.
pub type IndexBox = SmallVec<[Range<i64>; 4]>;

/// The affine function of the launch's coordinates that an instruction is at all points of a box, if it is one.
pub type Fact = Option<Access>;

/// A cut of a box, before a coordinate along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxCut {
    pub axis: usize,
    pub at: i64,
}

/// The integers of a program on which its pieces and gathers depend.
pub struct AffineNumbers {
    /// For each instruction, whether facts are derived for it.
    is_number: Vec<bool>,
    /// The parameters among them.
    pub params: Vec<usize>,
    /// Their accesses.
    pub accesses: Vec<usize>,
    /// The operands that are gathered from.
    pub tables: Vec<usize>,
}

impl AffineNumbers {
    /// Those of a map with pieces outside loops and branches; `None` for other maps.
    pub fn of(program: &Program) -> Option<AffineNumbers> {
        let count = program.insts.len();
        let mut is_number = vec![false; count];
        let (mut depth, mut has_pieces) = (0, false);
        for (at, inst) in program.insts.iter().enumerate() {
            match inst.op {
                Op::Loop | Op::If => depth += 1,
                Op::End => depth -= 1,
                _ => {}
            }
            let known = match (inst.op, inst.dtype) {
                (Op::Index | Op::Const | Op::Param, DType::I32) => true,
                (Op::Add | Op::Sub | Op::Mul | Op::Piece | Op::Choose, DType::I32) => {
                    program.uses(inst).all(|value| is_number[value as usize])
                }
                _ => false,
            };
            is_number[at] = known && depth == 0;
            has_pieces |= is_number[at] && inst.op == Op::Piece;
        }
        if !has_pieces {
            return None;
        }
        // Backwards from pieces, choices and gathers to everything that these depend on.
        let mut is_wanted = vec![false; count];
        for (at, inst) in program.insts.iter().enumerate().rev() {
            let number = match inst.op {
                Op::Gather => Some(inst.args[1]),
                Op::Choose => Some(inst.args[0]),
                _ => None,
            };
            number.into_iter().for_each(|value| is_wanted[value as usize] = true);
            if is_number[at] && (is_wanted[at] || inst.op == Op::Piece) {
                is_wanted[at] = true;
                program.uses(inst).for_each(|value| is_wanted[value as usize] = true);
            }
        }
        let of = |ops: &[Op], wanted: &[bool]| {
            let all = program.insts.iter().zip(wanted);
            let mut found: Vec<usize> = all
                .filter(|(inst, wanted)| ops.contains(&inst.op) && **wanted)
                .map(|(inst, _)| inst.args[0] as usize)
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        for (own, wanted) in is_number.iter_mut().zip(&is_wanted) {
            *own &= *wanted;
        }
        Some(AffineNumbers {
            params: of(&[Op::Param], &is_number),
            accesses: of(&[Op::Index], &is_number),
            tables: of(&[Op::Gather], &vec![true; count]),
            is_number,
        })
    }

    /// The facts in a box, or the cut that it needs first.
    pub fn facts(
        &self,
        program: &Program,
        params: &[u64],
        accesses: &[Access],
        space: &IndexBox,
    ) -> Result<Vec<Fact>, BoxCut> {
        let mut facts: Vec<Fact> = Vec::with_capacity(program.insts.len());
        for (at, inst) in program.insts.iter().enumerate() {
            let [a, b, _] = inst.args.map(|arg| arg as usize);
            let constant = |number: i64| {
                Some(Access { offset: number, strides: SmallVec::from_elem(0, space.len()) })
            };
            let fact = match inst.op {
                _ if !self.is_number[at] => None,
                Op::Const => constant(i64::from(inst.args[0] as i32)),
                Op::Param => constant(i64::from(params[a] as i32)),
                Op::Index => Some(accesses[a].clone()),
                Op::Add => combined(&facts[a], &facts[b], 1),
                Op::Sub => combined(&facts[a], &facts[b], -1),
                Op::Mul => product(&facts[a], &facts[b]),
                Op::Choose => {
                    let values = program.listed(inst);
                    chosen(&facts[a], values).and_then(|value| facts[value as usize].clone())
                }
                _ => {
                    let ends = program.listed(inst).iter().map(|end| facts[*end as usize].as_ref());
                    piece(facts[a].as_ref(), ends, space)?.and_then(constant)
                }
            };
            // Beyond int32, numbers wrap around.
            facts.push(fact.filter(|number| fits(number, space)));
        }
        Ok(facts)
    }
}

/// The value that a constant number chooses.
pub fn chosen(number: &Fact, values: &[u32]) -> Option<u32> {
    let number = number.as_ref().filter(|number| number.strides.iter().all(|step| *step == 0))?;
    let last = values.len() as i64 - 1;
    values.get(number.offset.clamp(0, last) as usize).copied()
}

/// The piece that all points of a box lie in, or the cut that it needs first; `None` where numbers are not known.
fn piece<'f>(
    number: Option<&Access>,
    ends: impl Iterator<Item = Option<&'f Access>>,
    space: &IndexBox,
) -> Result<Option<i64>, BoxCut> {
    let Some(number) = number else { return Ok(None) };
    let mut before = 0;
    for end in ends {
        let Some(end) = end else { return Ok(None) };
        if is_below(number, end.offset, space)? {
            break;
        }
        before += 1;
    }
    Ok(Some(before))
}

/// Whether a number is an int32 at all points of a box.
fn fits(number: &Access, space: &IndexBox) -> bool {
    let is_int = |number: i64| i32::try_from(number).is_ok();
    bounds(number, space).is_some_and(|(low, high)| is_int(low) && is_int(high))
}

/// `a + times · b`.
fn combined(a: &Fact, b: &Fact, times: i64) -> Fact {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    let add = |x: i64, y: i64| y.checked_mul(times)?.checked_add(x);
    let strides = a.strides.iter().zip(&b.strides).map(|(x, y)| add(*x, *y));
    Some(Access { offset: add(a.offset, b.offset)?, strides: strides.collect::<Option<_>>()? })
}

/// `a · b`, where either is a constant.
fn product(a: &Fact, b: &Fact) -> Fact {
    let is_constant = |number: &&Access| number.strides.iter().all(|step| *step == 0);
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    let (number, factor) = if is_constant(&b) { (a, b.offset) } else { (b, a.offset) };
    (is_constant(&a) || is_constant(&b)).then_some(())?;
    let strides = number.strides.iter().map(|step| step.checked_mul(factor));
    let strides = strides.collect::<Option<_>>()?;
    Some(Access { offset: number.offset.checked_mul(factor)?, strides })
}

/// The bounds of an affine index in a box; `None` where they overflow.
pub fn bounds(number: &Access, space: &IndexBox) -> Option<(i64, i64)> {
    let (mut low, mut high) = (number.offset, number.offset);
    for (step, range) in number.strides.iter().zip(space) {
        let (first, last) = (step.checked_mul(range.start)?, step.checked_mul(range.end - 1)?);
        low = low.checked_add(first.min(last))?;
        high = high.checked_add(first.max(last))?;
    }
    Some((low, high))
}

/// Whether an index is below `other` at all points of a box, or at none; otherwise the cut of the box along the
/// axis with the largest stride. After such a cut, fewer points are undecided, or the box is thinner.
fn is_below(number: &Access, other: i64, space: &IndexBox) -> Result<bool, BoxCut> {
    let (low, high) = bounds(number, space).unwrap_or((i64::MIN, i64::MAX));
    if high < other {
        return Ok(true);
    }
    if low >= other {
        return Ok(false);
    }
    let extent = |axis: &usize| space[*axis].end - space[*axis].start;
    let axes = (0..space.len()).filter(|axis| extent(axis) > 1);
    // A single point is always decided, so there is such an axis.
    let axis = axes.max_by_key(|axis| number.strides[*axis].unsigned_abs()).unwrap_or_default();
    let (step, range) = (number.strides[axis], &space[axis]);
    // The index is the axis' part plus a rest between these bounds.
    let (first, last) = (step * range.start, step * (range.end - 1));
    let (low, high) = (low - first.min(last), high - first.max(last));
    // The coordinates at which the rest does not matter: those before `until`, and those from `from` on.
    let (until, from) = match step {
        0 => (range.start, range.end),
        1.. => (ceiling(other - high, step), ceiling(other - low, step)),
        _ => (ceiling(low - other + 1, -step), ceiling(high - other + 1, -step)),
    };
    let at = match (until, from) {
        (until, _) if until > range.start => until,
        (_, from) if from < range.end => from,
        _ => range.start + 1,
    };
    Err(BoxCut { axis, at: at.clamp(range.start + 1, range.end - 1) })
}

/// The quotient, rounded up.
fn ceiling(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_test_is_decided_in_all_boxes_that_cuts_leave(
            offset in -30i64..30,
            steps in prop::array::uniform2(-9i64..10),
            extents in prop::array::uniform2(1i64..9),
            other in -40i64..40,
        ) {
            let number = Access { offset, strides: SmallVec::from_slice(&steps) };
            let mut open = vec![IndexBox::from_iter(extents.iter().map(|extent| 0..*extent))];
            let mut points = 0;
            while let Some(space) = open.pop() {
                match is_below(&number, other, &space) {
                    Ok(below) => {
                        for i in space[0].clone() {
                            for j in space[1].clone() {
                                prop_assert_eq!(offset + steps[0] * i + steps[1] * j < other, below);
                                points += 1;
                            }
                        }
                    }
                    Err(BoxCut { axis, at }) => {
                        prop_assert!(space[axis].start < at && at < space[axis].end);
                        let (mut first, mut second) = (space.clone(), space);
                        first[axis].end = at;
                        second[axis].start = at;
                        open.extend([first, second]);
                    }
                }
            }
            prop_assert_eq!(points, extents[0] * extents[1]);
        }
    }
}
