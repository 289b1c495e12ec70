//! Looks that differ in extents alone become one, whose extents are open.
//!
//! Each integer of a look is compared with what it is in the others: it stays, or it has to be a sum of products of the
//! arguments' extents that all of them tell ([`Extent::through`]); and so have numbers of a program that differ, or one by
//! them. Invariant: with the extents of any of the looks the joined one is that look.
//!
//! Not here: what an open extent may be between (`file.rs`).

use super::extent::Extent;
use super::look::{Look, Seen, Symbol, Then};
use super::outline::{Does, Elements, Number, Outline, Reads, number};
use gpupy_core::{DType, Scalar};
use rustc_hash::FxHashMap;

/// Fewer looks do not tell how anything follows from extents.
const FEWEST: usize = 3;

/// An integer of a look, or a number of its program.
enum Slot<'l> {
    Extent(&'l mut Extent),
    Number(&'l mut Number),
}

/// The looks, of which those that differ in extents alone are one; how many became open ones, and why others did not.
pub(super) fn joined(looks: Vec<Look>) -> (Vec<Look>, usize, Option<String>) {
    let mut groups: Vec<(Look, Vec<Look>)> = Vec::new();
    for look in looks {
        let bare = bare(&look);
        match groups.iter_mut().find(|(known, _)| *known == bare) {
            Some((_, group)) => group.push(look),
            None => groups.push((bare, vec![look])),
        }
    }
    let (mut all, mut opened, mut why) = (Vec::new(), 0, None);
    for (_, group) in groups {
        match open(&group) {
            Ok(look) => {
                opened += 1;
                all.push(look);
            }
            Err(reason) => {
                why.get_or_insert(reason);
                all.extend(group);
            }
        }
    }
    (all, opened, why)
}

/// A look without its integers.
fn bare(look: &Look) -> Look {
    let mut bare = look.clone();
    bare.slots(&mut |slot| match slot {
        Slot::Extent(extent) => *extent = Extent::Known(0),
        Slot::Number(Number::Bits(scalar)) => scalar.bits = 0,
        Slot::Number(_) => {}
    });
    bare
}

/// The look that all of these are for their extents; or why there is none.
fn open(group: &[Look]) -> Result<Look, String> {
    if group.len() < FEWEST {
        return Err(format!(
            "{} recordings that differ in extents alone were found, and at least {FEWEST} tell what follows from them",
            group.len()
        ));
    }
    let mut group: Vec<Look> = group.to_vec();
    let Some(mut look) = group.first().cloned() else { return Err(String::new()) };
    let open = symbols(&mut look, &group);
    let sizes = |number: usize| -> Vec<i64> {
        let of = |symbol: &Symbol| {
            known(&group[number].wanted[symbol.wanted as usize].view.shape[symbol.axis as usize])
        };
        open.iter().map(of).collect()
    };
    let sizes: Vec<Vec<i64>> = (0..group.len()).map(sizes).collect();
    // What stands in each slot, in the order in which a look is gone through.
    let mut values: Vec<Vec<i64>> = Vec::new();
    let mut scalars: Vec<Vec<Scalar>> = Vec::new();
    for other in &mut group {
        let (mut extent, mut scalar) = (0, 0);
        other.slots(&mut |slot| match slot {
            Slot::Extent(found) => put(&mut values, &mut extent, known(found)),
            Slot::Number(Number::Bits(found)) => put(&mut scalars, &mut scalar, *found),
            Slot::Number(_) => {}
        });
    }
    let mut found: FxHashMap<Vec<i64>, Option<Extent>> = FxHashMap::default();
    let mut through = |values: &[i64]| -> Result<Extent, String> {
        let extent = match found.get(values) {
            Some(extent) => extent.clone(),
            None => {
                let extent = Extent::through(values, &sizes);
                found.insert(values.to_vec(), extent.clone());
                extent
            }
        };
        extent.ok_or_else(|| {
            format!(
                "what was {} in {} recordings does not follow from the extents, or more recordings are needed to tell",
                words(values),
                values.len()
            )
        })
    };
    let (mut extents, mut scalars) = (values.iter(), scalars.iter());
    let mut refused = None;
    look.slots(&mut |slot| {
        let put = match slot {
            Slot::Extent(extent) => {
                extents.next().map_or(Ok(()), |values| through(values).map(|it| *extent = it))
            }
            Slot::Number(own @ Number::Bits(_)) => scalars
                .next()
                .map_or(Ok(()), |scalars| open_number(scalars, &mut through).map(|it| *own = it)),
            Slot::Number(_) => Ok(()),
        };
        if let Err(why) = put {
            refused.get_or_insert(why);
        }
    });
    look.open = open;
    refused.map_or(Ok(look), Err)
}

/// Puts what the next slot has behind what it had in other looks.
fn put<T>(all: &mut Vec<Vec<T>>, next: &mut usize, value: T) {
    match all.get_mut(*next) {
        Some(known) => known.push(value),
        None => all.push(vec![value]),
    }
    *next += 1;
}

/// The extents of arguments from which those of all follow.
fn symbols(look: &mut Look, group: &[Look]) -> Vec<Symbol> {
    let mut open: Vec<Symbol> = Vec::new();
    let mut sizes: Vec<Vec<i64>> = vec![Vec::new(); group.len()];
    for (number, wanted) in look.wanted.iter().enumerate() {
        for axis in 0..wanted.view.shape.len() {
            let of = |look: &Look| known(&look.wanted[number].view.shape[axis]);
            let values: Vec<i64> = group.iter().map(of).collect();
            if Extent::through(&values, &sizes).is_some() {
                continue;
            }
            sizes.iter_mut().zip(&values).for_each(|(size, value)| size.push(*value));
            let (least, greatest) = (values.iter().min(), values.iter().max());
            open.push(Symbol {
                wanted: number as u32,
                axis: axis as u32,
                least: least.copied().unwrap_or(0),
                greatest: greatest.copied().unwrap_or(0),
            });
        }
    }
    open
}

/// A number that differs between looks.
fn open_number(
    scalars: &[Scalar],
    through: &mut impl FnMut(&[i64]) -> Result<Extent, String>,
) -> Result<Number, String> {
    let Some((first, rest)) = scalars.split_first() else { return Err(String::new()) };
    if rest.iter().all(|scalar| scalar == first) {
        return Ok(Number::Bits(*first));
    }
    let of = |is_inverse: bool| -> Option<Vec<i64>> {
        scalars.iter().map(|scalar| integer(*scalar, is_inverse)).collect()
    };
    let same = rest.iter().all(|scalar| scalar.dtype == first.dtype);
    match (same, of(false), of(true)) {
        (true, Some(values), _) => through(&values).map(|of| Number::Of(first.dtype, of)),
        (true, None, Some(values)) => through(&values).map(|of| Number::By(first.dtype, of)),
        _ => {
            Err("a number differs between recordings, and is no integer or one by an integer"
                .into())
        }
    }
}

/// The integer that a scalar is, or that it is one by.
fn integer(scalar: Scalar, is_inverse: bool) -> Option<i64> {
    let value = match scalar.dtype {
        DType::F32 => f64::from(scalar.as_f32()),
        DType::F64 => f64::from_bits(scalar.bits),
        dtype if dtype.is_int() && !is_inverse => {
            let unused = 64 - 8 * dtype.size() as u32;
            let shifted = scalar.bits << unused;
            let signed = (shifted as i64) >> unused;
            let value = if dtype.is_signed_int() { signed } else { (shifted >> unused) as i64 };
            return Some(value);
        }
        _ => return None,
    };
    let value = if is_inverse { 1.0 / value } else { value };
    let rounded = value.round();
    if !(rounded.abs() < 9.0e15) {
        return None;
    }
    let integer = rounded as i64;
    (number(scalar.dtype, integer, is_inverse).ok()? == scalar).then_some(integer)
}

/// The value of an extent before any is open.
fn known(extent: &Extent) -> i64 {
    match extent {
        Extent::Known(known) => *known,
        Extent::Open(_) => 0,
    }
}

fn words(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    values.join(", ")
}

impl Look {
    /// Goes through all integers and numbers, in one order.
    fn slots(&mut self, seen: &mut impl FnMut(Slot<'_>)) {
        for captured in &mut self.captured {
            captured.view.slots(seen);
        }
        for wanted in &mut self.wanted {
            all(&mut wanted.base, seen);
            wanted.view.slots(seen);
        }
        for leaf in &mut self.leaves {
            all(&mut leaf.shape, seen);
            if let Elements::All(number) = &mut leaf.elements {
                seen(Slot::Number(number));
            }
        }
        self.segments.iter_mut().for_each(|outline| outline.slots(seen));
        for way in &mut self.ways {
            if let Then::Decide { seen: view, .. } = &mut way.then {
                view.slots(seen);
            }
        }
        for ending in &mut self.endings {
            ending.outputs.iter_mut().for_each(|output| output.view.slots(seen));
        }
    }
}

fn all(extents: &mut [Extent], seen: &mut impl FnMut(Slot<'_>)) {
    extents.iter_mut().for_each(|extent| seen(Slot::Extent(extent)));
}

impl Seen {
    fn slots(&mut self, seen: &mut impl FnMut(Slot<'_>)) {
        seen(Slot::Extent(&mut self.offset));
        all(&mut self.shape, seen);
        all(&mut self.strides, seen);
    }
}

impl Outline {
    fn slots(&mut self, seen: &mut impl FnMut(Slot<'_>)) {
        self.arguments.iter_mut().for_each(|(_, shape)| all(shape, seen));
        self.results.iter_mut().for_each(|(_, shape)| all(shape, seen));
        for step in &mut self.steps {
            all(&mut step.shape, seen);
            step.does.slots(seen);
            for read in &mut step.reads {
                match read {
                    Reads::Number(number) => seen(Slot::Number(number)),
                    Reads::Whole(_) => {}
                    Reads::View(_, offset, strides) => {
                        seen(Slot::Extent(offset));
                        all(strides, seen);
                    }
                }
            }
        }
    }
}

impl Does {
    fn slots(&mut self, seen: &mut impl FnMut(Slot<'_>)) {
        match self {
            Does::Apply(_) | Does::Call(..) | Does::Index(_) | Does::Gather => {}
            Does::Assign(view) => view.slots(seen),
            Does::Join(_, extents) | Does::Scatter(extents) => all(extents, seen),
            Does::Reduce { of, .. }
            | Does::Scan { of, .. }
            | Does::Place { of, .. }
            | Does::Sort { of, .. }
            | Does::ArgSort { of, .. } => all(of, seen),
            Does::MatMul(left, right) => {
                all(left, seen);
                all(right, seen);
            }
        }
    }
}
