//! Generalisation: looks that differ in extents alone become one look, whose extents are open.
//!
//! Each integer of a look is compared with that of the others. It stays if all are equal; otherwise it has to be a sum
//! of products of the arguments' extents that fits all of them ([`Extent::through`]). A number of a program that
//! differs has to be such an integer, or its inverse. Invariant: with the extents of any of the looks, the merged one
//! is that look.
//!
//! Not here: the limits of an open extent (`file.rs`).

use super::among;
use super::extent::{DEGREE, Extent, ExtentTerm, divisor};
use super::look::{AfterSegment, ExtentOrder, ExtentQuotient, Look, Symbol};
use super::open_view::OpenView;
use super::outline::{ElementSource, Outline, SavedAction, SavedOperand, SavedScalar, number};
use gpupy_core::{DType, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

/// Fewer looks do not tell how anything follows from extents.
const FEWEST: usize = 3;
/// The most parts that an open extent is divided into.
const MOST_PARTS: i64 = 8;
/// Divisors that are looked at, so that a part is told from others.
const DIVISORS: i64 = 16;
/// So many extents are looked at for that.
const FARTHEST: i64 = 1 << 14;

/// An integer of a look, or a number of its program.
enum IntegerSlot<'l> {
    Extent(&'l mut Extent),
    Number(&'l mut SavedScalar),
}

/// The looks of single ways, merged where they differ in extents alone; how many became open ones, and why others did
/// not.
pub(super) fn joined(looks: &[Look]) -> (Vec<Look>, usize, Option<String>) {
    let mut groups: Vec<(Look, Vec<Look>)> = Vec::new();
    for look in looks.iter().flat_map(Look::single) {
        let bare = bare(&look);
        match groups.iter_mut().find(|(known, _)| *known == bare) {
            Some((_, group)) => group.push(look),
            None => groups.push((bare, vec![look])),
        }
    }
    let mut why = None;
    let mut found: Vec<(Option<Look>, Vec<Look>)> = Vec::new();
    for (_, group) in groups {
        let look = open(&group).map_err(|reason| why.get_or_insert(reason)).ok();
        found.push((look, group));
    }
    while let Some(number) = among::unclear(&found) {
        found[number].0 = None;
        why.get_or_insert_with(|| {
            "what it does differs between extents, and no decision by elements tells for which"
                .to_owned()
        });
    }
    let opened = found.iter().filter(|(look, _)| look.is_some()).count();
    let all = found.into_iter().flat_map(|(look, group)| match look {
        Some(look) => vec![look],
        None => group,
    });
    (all.collect(), opened, why)
}

/// A look without its integers.
fn bare(look: &Look) -> Look {
    let mut bare = look.clone();
    bare.slots(&mut |slot| match slot {
        IntegerSlot::Extent(extent) => *extent = Extent::Known(0),
        IntegerSlot::Number(SavedScalar::Bits(scalar)) => scalar.bits = 0,
        IntegerSlot::Number(_) => {}
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
    let mut following = Following::of(&group);
    // The integers of each slot, in the order of traversal.
    let mut values: Vec<Vec<i64>> = Vec::new();
    let mut scalars: Vec<Vec<Scalar>> = Vec::new();
    for other in &mut group {
        let (mut extent, mut scalar) = (0, 0);
        other.slots(&mut |slot| match slot {
            IntegerSlot::Extent(found) => put(&mut values, &mut extent, known(found)),
            IntegerSlot::Number(SavedScalar::Bits(found)) => put(&mut scalars, &mut scalar, *found),
            IntegerSlot::Number(_) => {}
        });
    }
    let (mut extents, mut scalars) = (values.iter(), scalars.iter());
    let mut refused = None;
    look.slots(&mut |slot| {
        let put = match slot {
            IntegerSlot::Extent(extent) => extents
                .next()
                .map_or(Ok(()), |values| following.through(values).map(|it| *extent = it)),
            IntegerSlot::Number(own @ SavedScalar::Bits(_)) => scalars
                .next()
                .map_or(Ok(()), |scalars| following.number(scalars).map(|it| *own = it)),
            IntegerSlot::Number(_) => Ok(()),
        };
        if let Err(why) = put {
            refused.get_or_insert(why);
        }
    });
    look.order = following.order();
    (look.open, look.parts) = (following.open, following.parts);
    refused.map_or(Ok(look), Err)
}

/// Appends the integer of the next slot to those of other looks.
fn put<T>(all: &mut Vec<Vec<T>>, next: &mut usize, value: T) {
    match all.get_mut(*next) {
        Some(known) => known.push(value),
        None => all.push(vec![value]),
    }
    *next += 1;
}

/// The extents from which all others follow.
struct Following {
    open: Vec<Symbol>,
    parts: Vec<ExtentQuotient>,
    /// Their values in each recording, parts behind the open ones.
    sizes: Vec<Vec<i64>>,
    found: FxHashMap<Vec<i64>, Option<Extent>>,
}

impl Following {
    /// Those of the arguments of a group of looks.
    fn of(group: &[Look]) -> Following {
        let sizes = vec![Vec::new(); group.len()];
        let mut all =
            Following { open: Vec::new(), parts: Vec::new(), sizes, found: FxHashMap::default() };
        let wanted = group.first().map_or(&[][..], |look| &look.wanted);
        for (number, wanted) in wanted.iter().enumerate() {
            for axis in 0..wanted.view.shape.len() {
                let of = |look: &Look| known(&look.wanted[number].view.shape[axis]);
                let values: Vec<i64> = group.iter().map(of).collect();
                if Extent::through(&values, &all.sizes, all.open.len()).is_some() {
                    continue;
                }
                all.add(&values);
                let step = step_of(values.iter().copied());
                let (least, greatest) = (values.iter().min(), values.iter().max());
                all.open.push(Symbol {
                    wanted: number as u32,
                    axis: axis as u32,
                    least: least.copied().unwrap_or(0),
                    greatest: greatest.copied().unwrap_or(0),
                    step: i64::try_from(step).unwrap_or(1).max(1),
                });
            }
        }
        all
    }

    fn add(&mut self, values: &[i64]) {
        self.sizes.iter_mut().zip(values).for_each(|(size, value)| size.push(*value));
    }

    /// The extent that had these values in the recordings.
    fn through(&mut self, values: &[i64]) -> Result<Extent, String> {
        if let Some(Some(known)) = self.found.get(values) {
            return Ok(known.clone());
        }
        let found = Extent::through(values, &self.sizes, self.open.len());
        let found = found.or_else(|| self.divided(values));
        let found = found.filter(|found| self.is_told(found));
        self.found.insert(values.to_vec(), found.clone());
        found.ok_or_else(|| untold(values))
    }

    /// Whether the products of which an integer is a sum were no farther apart than those of all extents for which the
    /// look is to hold: what is rounded to multiples of their distance, or taken modulo it, would look like a sum.
    fn is_told(&self, extent: &Extent) -> bool {
        let Extent::Open(terms) = extent else { return true };
        terms.iter().filter(|ExtentTerm(_, of)| of.len() > 1).all(|ExtentTerm(_, of)| {
            let seen = self.sizes.iter().map(|size| product(of, |number| size[number]));
            // Finite differences of a polynomial of no more than this degree are those of all integers.
            let points = (1 + DEGREE).pow(of.len() as u32);
            let all = (0..points).map(|point| {
                let steps = |number: usize| {
                    let place = of.iter().position(|other| usize::from(*other) == number);
                    let digit = (1 + DEGREE).pow(place.unwrap_or(0) as u32);
                    (point / digit % (1 + DEGREE)) as i64
                };
                product(of, |number| {
                    let values = self.sizes.iter().map(|size| size[number]);
                    let step = i64::try_from(step_of(values.clone())).unwrap_or(1);
                    values.min().unwrap_or(0).saturating_add(step.saturating_mul(steps(number)))
                })
            });
            step_of(seen) == step_of(all)
        })
    }

    /// An extent that is a quotient of an open extent: the recordings determine each remainder, and exclude other
    /// quotients that agree on them and differ between.
    fn divided(&mut self, values: &[i64]) -> Option<Extent> {
        let mut fits: Vec<(ExtentQuotient, Extent)> = Vec::new();
        for (of, by) in (0..self.open.len()).flat_map(|of| (2..=DIVISORS).map(move |by| (of, by))) {
            for plus in 1 - by..by {
                let part = ExtentQuotient { of: of as u8, plus, by };
                let parts = self.sizes.iter().map(|size| Some(vec![part.at(size[of])?]));
                let Some(parts) = parts.collect::<Option<Vec<Vec<i64>>>>() else { continue };
                if let Some(extent) = Extent::through(values, &parts, 1) {
                    fits.push((part, extent));
                }
            }
        }
        let (part, extent) = fits.first()?.clone();
        let symbol = &self.open[usize::from(part.of)];
        let remainders =
            self.sizes.iter().map(|size| size[usize::from(part.of)].rem_euclid(part.by));
        let remainders: FxHashSet<i64> = remainders.collect();
        let (least, greatest) = (symbol.least, symbol.greatest.min(symbol.least + FARTHEST));
        let is_same = |(other, as_other): &(ExtentQuotient, Extent)| {
            other.of == part.of
                && (least..=greatest).all(|size| {
                    let at =
                        |part: &ExtentQuotient, extent: &Extent| extent.at(&[part.at(size)?]).ok();
                    at(&part, &extent) == at(other, as_other)
                })
        };
        let is_told = remainders.len() as i64 == part.by && fits.iter().all(is_same);
        if !is_told || part.by > MOST_PARTS {
            return None;
        }
        let parts = self.sizes.iter().map(|size| part.at(size[usize::from(part.of)]));
        let parts = parts.collect::<Option<Vec<i64>>>()?;
        self.add(&parts);
        self.parts.push(part);
        Extent::through(values, &self.sizes, self.open.len())
    }

    /// How the open extents stood to each other in all recordings.
    fn order(&self) -> Vec<ExtentOrder> {
        let pairs = (0..self.open.len()).flat_map(|a| (0..self.open.len()).map(move |b| (a, b)));
        let least = |(a, b): (usize, usize)| {
            let least = self.sizes.iter().map(|size| size[a] - size[b]).min()?;
            (a != b && least >= 0).then_some(ExtentOrder(a as u8, b as u8, least))
        };
        pairs.filter_map(least).collect()
    }

    /// A number that was these in the recordings.
    fn number(&mut self, scalars: &[Scalar]) -> Result<SavedScalar, String> {
        let Some((first, rest)) = scalars.split_first() else { return Err(String::new()) };
        if rest.iter().all(|scalar| scalar == first) {
            return Ok(SavedScalar::Bits(*first));
        }
        let of = |is_inverse: bool| -> Option<Vec<i64>> {
            scalars.iter().map(|scalar| integer(*scalar, is_inverse)).collect()
        };
        let whole = self.open.len();
        let sizes: Vec<Vec<i64>> = self.sizes.iter().map(|size| size[..whole].to_vec()).collect();
        // Numbers of a program are not rounded down.
        let through =
            |values: &[i64]| Extent::through(values, &sizes, whole).ok_or_else(|| untold(values));
        if rest.iter().any(|scalar| scalar.dtype != first.dtype) {
            return Err("a number is of another dtype in another recording".to_owned());
        }
        if let Some(values) = of(false) {
            return through(&values).map(|of| SavedScalar::Of(first.dtype, of));
        }
        match of(true) {
            // One by a power of two is exact, however it was computed.
            Some(values) if values.iter().any(|value| value.count_ones() > 1) => {
                through(&values).map(|of| SavedScalar::By(first.dtype, of))
            }
            _ => Err("a number differs between recordings, and is no integer or one by an integer"
                .into()),
        }
    }
}

/// A product of extents, each told by its number.
fn product(of: &[u8], extent: impl Fn(usize) -> i64) -> i64 {
    of.iter().map(|number| extent(usize::from(*number))).fold(1, i64::saturating_mul)
}

/// The greatest number of which all of these are multiples apart.
fn step_of(mut sizes: impl Iterator<Item = i64>) -> i128 {
    let first = sizes.next().unwrap_or(0);
    sizes.fold(0, |step, size| divisor(step, i128::from(size) - i128::from(first)))
}

/// That integers of recordings do not follow from extents.
fn untold(values: &[i64]) -> String {
    let words: Vec<String> = values.iter().map(i64::to_string).collect();
    format!(
        "what was {} in {} recordings does not follow from the extents, or more recordings are needed to tell",
        words.join(", "),
        values.len()
    )
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
    if rounded.is_nan() || rounded.abs() >= 9.0e15 {
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

impl Look {
    /// The look where its open extents are these.
    pub(super) fn closed(&self, open: &[i64]) -> Option<Look> {
        let all = self.with_parts(open).ok()?;
        let mut look = self.clone();
        let mut is_known = true;
        look.slots(&mut |slot| match slot {
            IntegerSlot::Extent(extent) => match extent.at(&all) {
                Ok(known) => *extent = Extent::Known(known),
                Err(_) => is_known = false,
            },
            IntegerSlot::Number(number) => match number.at(&all) {
                Ok(known) => *number = SavedScalar::Bits(known),
                Err(_) => is_known = false,
            },
        });
        (look.open, look.parts, look.order) = (Vec::new(), Vec::new(), Vec::new());
        Some(look).filter(|_| is_known)
    }

    /// Goes through all integers and numbers, in one order.
    fn slots(&mut self, seen: &mut impl FnMut(IntegerSlot<'_>)) {
        for captured in &mut self.captured {
            captured.view.slots(seen);
        }
        for wanted in &mut self.wanted {
            all(&mut wanted.base, seen);
            wanted.view.slots(seen);
        }
        for leaf in &mut self.leaves {
            all(&mut leaf.shape, seen);
            if let ElementSource::All(number) = &mut leaf.elements {
                seen(IntegerSlot::Number(number));
            }
        }
        self.segments.iter_mut().for_each(|outline| outline.slots(seen));
        for way in &mut self.ways {
            if let AfterSegment::Decide { seen: view, .. } = &mut way.then {
                view.slots(seen);
            }
        }
        for ending in &mut self.endings {
            ending.outputs.iter_mut().for_each(|output| output.view.slots(seen));
        }
    }
}

fn all(extents: &mut [Extent], seen: &mut impl FnMut(IntegerSlot<'_>)) {
    extents.iter_mut().for_each(|extent| seen(IntegerSlot::Extent(extent)));
}

impl OpenView {
    fn slots(&mut self, seen: &mut impl FnMut(IntegerSlot<'_>)) {
        seen(IntegerSlot::Extent(&mut self.offset));
        all(&mut self.shape, seen);
        all(&mut self.strides, seen);
    }
}

impl Outline {
    fn slots(&mut self, seen: &mut impl FnMut(IntegerSlot<'_>)) {
        self.arguments.iter_mut().for_each(|(_, shape)| all(shape, seen));
        self.results.iter_mut().for_each(|(_, shape)| all(shape, seen));
        for step in &mut self.steps {
            all(&mut step.shape, seen);
            step.does.slots(seen);
            for read in &mut step.reads {
                match read {
                    SavedOperand::Number(number) => seen(IntegerSlot::Number(number)),
                    SavedOperand::Whole(_) => {}
                    SavedOperand::View(_, offset, strides) => {
                        seen(IntegerSlot::Extent(offset));
                        all(strides, seen);
                    }
                }
            }
        }
    }
}

impl SavedAction {
    fn slots(&mut self, seen: &mut impl FnMut(IntegerSlot<'_>)) {
        match self {
            SavedAction::Apply(_)
            | SavedAction::Call(..)
            | SavedAction::Index(_)
            | SavedAction::Gather => {}
            SavedAction::Assign(view) => view.slots(seen),
            SavedAction::Join(_, extents) | SavedAction::Scatter(extents) => all(extents, seen),
            SavedAction::Reduce { of, .. }
            | SavedAction::Scan { of, .. }
            | SavedAction::Place { of, .. }
            | SavedAction::Sort { of, .. }
            | SavedAction::ArgSort { of, .. } => all(of, seen),
            SavedAction::MatMul(left, right) => {
                all(left, seen);
                all(right, seen);
            }
        }
    }
}
