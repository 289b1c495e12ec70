//! Ambiguity between looks: which of them could take the same call, and do other things then.
//!
//! A decision by a size that the program asks for is in no look. Where two looks could take one call, the elements have
//! to decide between them; otherwise neither holds for all extents between those that were seen.
//!
//! Not here: which looks are merged (`open_extents.rs`).

use super::extent::{Extent, divisor};
use super::look::{AfterSegment, ExtentOrder, Look};

/// The number of an open look that could take a call of another one, where no decision tells them apart.
pub(super) fn unclear(found: &[(Option<Look>, Vec<Look>)]) -> Option<usize> {
    found.iter().enumerate().find_map(|(number, (look, _))| {
        let look = look.as_ref()?;
        let mut others = found.iter().enumerate().filter(|(other, _)| *other != number);
        let is_unclear = others.any(|(_, (other, group))| match other {
            Some(other) => overlap(look, other) && !are_told_apart(look, other),
            None => group.iter().any(|other| {
                let is_told = |open: Vec<i64>| {
                    look.closed(&open).is_some_and(|look| are_told_apart(&look, other))
                };
                overlap(look, other) && !look.extents_in(other).is_some_and(is_told)
            }),
        });
        is_unclear.then_some(number)
    })
}

/// Whether a call may fit both, an open look and another one.
fn overlap(look: &Look, other: &Look) -> bool {
    if look.arguments != other.arguments || look.named != other.named {
        return false;
    }
    for wanted in &look.wanted {
        let Some(same) = other.wanted.iter().find(|same| same.object == wanted.object) else {
            continue;
        };
        let (shape, others) = (&wanted.view.shape, &same.view.shape);
        let apart = |(one, two): (&Extent, &Extent)| {
            let ((a, b), (c, d)) = (look.range(one), other.range(two));
            let step = divisor(look.step(one).into(), other.step(two).into()).max(1);
            b < c || d < a || (i128::from(a) - i128::from(c)) % step != 0
        };
        if wanted.dtype != same.dtype
            || wanted.writable != same.writable
            || shape.len() != others.len()
            || shape.iter().zip(others).any(apart)
        {
            return false;
        }
    }
    if other.open.is_empty() {
        return look.extents_in(other).is_none_or(|open| look.has_extents(&open));
    }
    // Extents that always stood in one order in the one, and in the other one in the other.
    let name = |look: &Look, number: u8| {
        look.open.get(usize::from(number)).map(|symbol| (symbol.wanted, symbol.axis))
    };
    let is_against = |ExtentOrder(a, b, least): &ExtentOrder| {
        other.order.iter().any(|ExtentOrder(c, d, others)| {
            name(look, *a) == name(other, *d)
                && name(look, *b) == name(other, *c)
                && *least > -others
        })
    };
    !look.order.iter().any(is_against)
}

/// Whether both do the same up to a decision that came out otherwise.
fn are_told_apart(look: &Look, other: &Look) -> bool {
    let symbols = |look: &Look| -> Vec<(u32, u32)> {
        look.open.iter().map(|symbol| (symbol.wanted, symbol.axis)).collect()
    };
    // Parts are numbered in the order of traversal, so those before a decision have equal numbers in both looks.
    let have_parts = look.parts.iter().zip(&other.parts).all(|(one, two)| one == two);
    if symbols(look) != symbols(other) || !have_parts {
        return false;
    }
    for (one, two) in look.ways.iter().zip(&other.ways) {
        let segments =
            (look.segments.get(one.segment as usize), other.segments.get(two.segment as usize));
        let leaves = |look: &Look, number: u32| look.leaves.get(number as usize).cloned();
        let has_leaves = segments.0.is_some_and(|segment| {
            let mut numbers = segment.leaves.iter();
            numbers.all(|number| leaves(look, *number) == leaves(other, *number))
        });
        let is_same = has_leaves
            && segments.0 == segments.1
            && one.takes == two.takes
            && one.gives == two.gives;
        match (&one.then, &two.then) {
            (
                AfterSegment::Decide { seen, yes, .. },
                AfterSegment::Decide { seen: s, yes: y, .. },
            ) if is_same && seen == s => {
                if yes.is_some() != y.is_some() {
                    return true;
                }
            }
            _ => return false,
        }
    }
    false
}

impl Look {
    /// The open extents where arrays are as in a look that has none.
    fn extents_in(&self, other: &Look) -> Option<Vec<i64>> {
        let extent = |symbol: &super::look::Symbol| {
            let wanted = other.wanted.get(symbol.wanted as usize)?;
            wanted.view.shape.get(symbol.axis as usize)?.at(&[]).ok()
        };
        self.open.iter().map(extent).collect()
    }

    /// Extents are multiples of this apart from the least one; 0 for one alone.
    fn step(&self, extent: &Extent) -> i64 {
        match extent {
            Extent::Known(_) => 0,
            Extent::Open(terms) => match &terms[..] {
                [super::extent::ExtentTerm(1, of)] if of.len() == 1 => {
                    self.open.get(usize::from(of[0])).map_or(1, |symbol| symbol.step)
                }
                _ => 1,
            },
        }
    }

    /// Between which numbers an extent is.
    fn range(&self, extent: &Extent) -> (i64, i64) {
        match extent {
            Extent::Known(known) => (*known, *known),
            Extent::Open(terms) => match &terms[..] {
                [super::extent::ExtentTerm(1, of)] if of.len() == 1 => self
                    .open
                    .get(usize::from(of[0]))
                    .map_or((0, i64::MAX), |symbol| (symbol.least, symbol.greatest)),
                _ => (0, i64::MAX),
            },
        }
    }
}
