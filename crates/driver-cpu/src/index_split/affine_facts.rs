//! Dataflow analysis: affine indices and decided comparisons of a program in a box of its space.
//!
//! Owns [`AffineIndices`] (the relevant integers and comparisons of a program, found once), [`Fact`] (the value
//! of one of them in a box) and [`BoxCut`]. Invariant: a fact holds at every point of its box, in the
//! arithmetic of int32.
//!
//! Not here: the boxes (`launch_box.rs`), the specialised program (`residual.rs`).

use gpupy_core::driver::Access;
use gpupy_core::ir::{Form, Program};
use gpupy_core::{DType, Op};
use smallvec::SmallVec;
use std::ops::Range;

/// The points of a box: a range along each axis.
pub type IndexBox = SmallVec<[Range<i64>; 4]>;

/// The value of an instruction at all points of a box.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// An affine function of the coordinates of the launch's space.
    Affine(Access),
    /// A comparison with this result everywhere.
    Holds(bool),
    Unknown,
}

/// A cut of a box, before a coordinate along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxCut {
    pub axis: usize,
    pub at: i64,
}

/// The integers and comparisons of a program on which gathers depend.
pub struct AffineIndices {
    /// For each instruction, whether facts are derived for it.
    is_number: Vec<bool>,
    /// For each instruction, whether boxes are cut where its result changes.
    decides: Vec<bool>,
    /// The parameters that indices depend on.
    pub params: Vec<usize>,
    /// The accesses of index values that indices depend on.
    pub accesses: Vec<usize>,
    /// The operands that are gathered from.
    pub tables: Vec<usize>,
}

impl AffineIndices {
    /// The analysis of a map that gathers at such indices; `None` for other programs. Instructions inside loops
    /// and branches are not analysed.
    pub fn of(program: &Program) -> Option<AffineIndices> {
        let reads = program.insts.iter().any(|inst| inst.op == Op::Gather);
        if program.form != Form::Map || !reads {
            return None;
        }
        let count = program.insts.len();
        let (mut is_number, mut reads_by_number) = (vec![false; count], vec![false; count]);
        let (mut decides, mut is_wanted) = (vec![false; count], vec![false; count]);
        let mut depth = 0;
        for (at, inst) in program.insts.iter().enumerate() {
            match inst.op {
                Op::Loop | Op::If => depth += 1,
                Op::End => depth -= 1,
                _ => {}
            }
            let args = inst.args.map(|arg| arg as usize);
            let are = |which: &[usize]| which.iter().all(|arg| is_number[*arg]);
            let [a, b, c] = args;
            let known = match (inst.op, inst.dtype) {
                (Op::Index | Op::Const | Op::Param, DType::I32) => true,
                (Op::Add | Op::Sub | Op::Mul, DType::I32) => are(&[a, b]),
                (Op::Select, DType::I32) => are(&[a, b, c]),
                (Op::Lt | Op::Le | Op::Gt | Op::Ge, DType::Bool) => are(&[a, b]),
                _ => false,
            };
            is_number[at] = known && depth == 0;
            is_wanted[at] = inst.op == Op::Gather && is_number[b];
            reads_by_number[at] = is_wanted[at]
                || !is_number[at]
                    && inst.op.is_scalar_op()
                    && program.uses(inst).any(|arg| reads_by_number[arg as usize]);
            // A select by a comparison of indices, if either value was gathered.
            if inst.op == Op::Select && is_number[a] && !is_number[at] {
                is_wanted[at] = reads_by_number[b] || reads_by_number[c];
            }
        }
        if !is_wanted.contains(&true) {
            return None;
        }
        // Backwards from the gathers to everything that their indices depend on.
        for at in (0..count).rev() {
            let (inst, wanted) = (&program.insts[at], is_wanted[at]);
            let [a, b, c] = inst.args.map(|arg| arg as usize);
            match inst.op {
                _ if !wanted => {}
                Op::Gather => is_wanted[b] = true,
                Op::Select if !is_number[at] => is_wanted[a] = true,
                Op::Select => [a, b, c].iter().for_each(|arg| is_wanted[*arg] = true),
                Op::Add | Op::Sub | Op::Mul => [a, b].iter().for_each(|arg| is_wanted[*arg] = true),
                Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                    decides[at] = true;
                    [a, b].iter().for_each(|arg| is_wanted[*arg] = true);
                }
                _ => {}
            }
        }
        let of = |op: Op| {
            let all = program.insts.iter().zip(&is_wanted);
            let mut found: Vec<usize> = all
                .filter(|(inst, wanted)| inst.op == op && **wanted)
                .map(|(inst, _)| inst.args[0] as usize)
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let (params, accesses, tables) = (of(Op::Param), of(Op::Index), of(Op::Gather));
        for (own, wanted) in is_number.iter_mut().zip(&is_wanted) {
            *own &= *wanted;
        }
        Some(AffineIndices { is_number, decides, params, accesses, tables })
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
            let [a, b, c] = inst.args.map(|arg| arg as usize);
            let number = |arg: usize| match &facts[arg] {
                Fact::Affine(number) => Some(number),
                _ => None,
            };
            let constant = |bits: u32| {
                let strides = SmallVec::from_elem(0, space.len());
                Fact::Affine(Access { offset: i64::from(bits as i32), strides })
            };
            let fact = match inst.op {
                _ if !self.is_number[at] => Fact::Unknown,
                Op::Const => constant(inst.args[0]),
                Op::Param => constant(params[a] as u32),
                Op::Index => Fact::Affine(accesses[a].clone()),
                Op::Add => combined(number(a), number(b), 1),
                Op::Sub => combined(number(a), number(b), -1),
                Op::Mul => product(number(a), number(b)),
                Op::Select => match facts[a] {
                    Fact::Holds(true) => facts[b].clone(),
                    Fact::Holds(false) => facts[c].clone(),
                    _ => Fact::Unknown,
                },
                op => {
                    // Every comparison is of the form "a difference is below a number".
                    let (less, more, below) = match op {
                        Op::Lt => (a, b, 0),
                        Op::Le => (a, b, 1),
                        Op::Gt => (b, a, 0),
                        _ => (b, a, 1),
                    };
                    match combined(number(less), number(more), -1) {
                        Fact::Affine(difference) => match is_below(&difference, below, space) {
                            Ok(holds) => Fact::Holds(holds),
                            Err(cut) if self.decides[at] => return Err(cut),
                            Err(_) => Fact::Unknown,
                        },
                        _ => Fact::Unknown,
                    }
                }
            };
            // Beyond int32, indices wrap around.
            let fits = |number: &Access| {
                let (low, high) = bounds(number, space)?;
                (i32::try_from(low).is_ok() && i32::try_from(high).is_ok()).then_some(())
            };
            facts.push(match fact {
                Fact::Affine(number) if fits(&number).is_none() => Fact::Unknown,
                fact => fact,
            });
        }
        Ok(facts)
    }
}

/// `a + times · b`.
fn combined(a: Option<&Access>, b: Option<&Access>, times: i64) -> Fact {
    let sum = || {
        let (a, b) = (a?, b?);
        let add = |x: i64, y: i64| y.checked_mul(times)?.checked_add(x);
        let strides = a.strides.iter().zip(&b.strides).map(|(x, y)| add(*x, *y));
        Some(Access { offset: add(a.offset, b.offset)?, strides: strides.collect::<Option<_>>()? })
    };
    sum().map_or(Fact::Unknown, Fact::Affine)
}

/// `a · b`, where either is a constant.
fn product(a: Option<&Access>, b: Option<&Access>) -> Fact {
    let times = || {
        let is_constant = |number: &&Access| number.strides.iter().all(|step| *step == 0);
        let (a, b) = (a?, b?);
        let (number, factor) = if is_constant(&b) { (a, b.offset) } else { (b, a.offset) };
        (is_constant(&a) || is_constant(&b)).then_some(())?;
        let strides = number.strides.iter().map(|step| step.checked_mul(factor));
        let strides = strides.collect::<Option<_>>()?;
        Some(Access { offset: number.offset.checked_mul(factor)?, strides })
    };
    times().map_or(Fact::Unknown, Fact::Affine)
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
