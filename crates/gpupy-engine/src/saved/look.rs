//! Looks: the record in a file of one way in which a function was called (a trace specialisation).
//!
//! Owns [`Look`] and its parts, as they stand in the file. Invariant: all of it is plain data, and none of it is
//! trusted before [`Look::check`] went through it; extents and views are checked where they are used (`outline.rs`).
//!
//! Not here: the steps of a segment (`outline.rs`), the file (`file.rs`), running a call (`run.rs`).

use super::extent::Extent;
use super::open_view::{OpenView, damaged, shape_at};
use super::outline::{ConstantLeaf, Outline};
use gpupy_core::{DType, Result};
use serde::{Deserialize, Serialize};

/// A look: one way in which a function was called, with the pattern of its arguments and the operations done with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The extents that are open.
    pub open: Vec<Symbol>,
    /// Quotients of open extents: in products they are numbered behind the open ones.
    pub parts: Vec<ExtentQuotient>,
    /// The least difference between two open extents: operations on both, such as slices that end at the other's
    /// extent, may depend on it.
    pub order: Vec<ExtentOrder>,
    /// The patterns of the positional arguments, in their order.
    pub arguments: Vec<ArgumentPattern>,
    /// And the named ones, with their names.
    pub named: Vec<(String, ArgumentPattern)>,
    /// How many objects the arguments are: arrays, numbers and containers, in their order.
    pub objects: u32,
    /// Arrays that the function read besides: bases with these elements.
    pub captured: Vec<Captured>,
    /// Which of all objects, the captured ones last, are one and the same: for each the first that it is.
    pub pattern: Vec<u32>,
    /// The arrays and numbers whose elements it read.
    pub wanted: Vec<InspectedArray>,
    /// Elements that are always the same.
    pub leaves: Vec<ConstantLeaf>,
    /// The operations between two decisions.
    pub segments: Vec<Outline>,
    /// The way through the segments, which begins at the first.
    pub ways: Vec<SegmentCall>,
    /// The effects and results of calls.
    pub endings: Vec<Ending>,
    /// How many registers segments give.
    pub made: u32,
}

/// An extent that is open: the one of this axis of an array that is wanted, between these that were seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// The number of the array among those wanted.
    pub wanted: u32,
    /// Its axis, as it is seen.
    pub axis: u32,
    /// The least extent that was seen there.
    pub least: i64,
    /// The greatest.
    pub greatest: i64,
    /// Extents are multiples of this apart from the least one, as all that were seen are: what the function rounds to a
    /// multiple, or takes modulo a number, may be otherwise between them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub step: i64,
}

impl Symbol {
    /// Whether an extent is among those for which the look holds.
    pub fn has(&self, extent: i64) -> bool {
        (self.least..=self.greatest).contains(&extent) && (extent - self.least) % self.step == 0
    }
}

fn one() -> i64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_one(step: &i64) -> bool {
    *step == 1
}

/// Open extents of these numbers: the first is greater than the second by so much or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtentOrder(pub u8, pub u8, pub i64);

/// An open extent and a number, divided and rounded down: as a slice has it whose step is not 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtentQuotient {
    /// The open extent's number.
    pub of: u8,
    /// The number that is added before the division.
    pub plus: i64,
    /// The divisor.
    pub by: i64,
}

impl ExtentQuotient {
    /// Its value for this extent.
    pub fn at(self, extent: i64) -> Option<i64> {
        extent.checked_add(self.plus)?.checked_div_euclid(self.by)
    }
}

/// A constant of the program: the kind of the object, and its text, which the front end understands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedConstant(pub String, pub String);

/// The pattern that an argument has to match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentPattern {
    /// An array.
    Array,
    /// An element that stands for itself.
    Scalar,
    /// Any number of this kind.
    Number(String),
    /// This constant.
    Known(SavedConstant),
    /// A tuple of such items.
    Tuple(Vec<ArgumentPattern>),
    /// A list of such items.
    List(Vec<ArgumentPattern>),
    /// A dictionary with these keys, in this order, and such values.
    Dict(Vec<(SavedConstant, ArgumentPattern)>),
}

/// An array that was there before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Its base's elements, by their number among the leaves.
    pub leaf: u32,
    /// How the array shows them.
    pub view: OpenView,
    /// Whether the program could write it.
    pub writable: bool,
}

/// An array that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InspectedArray {
    /// Its number among all objects.
    pub object: u32,
    /// The number of its base.
    pub input: u32,
    /// Its dtype.
    pub dtype: DType,
    /// The shape of its base.
    pub base: Vec<Extent>,
    /// How it shows that.
    pub view: OpenView,
    /// Whether the program could write it.
    pub writable: bool,
}

/// The register of a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Register {
    /// By its number among the inputs.
    Input(u32),
    /// By its number among the results of segments.
    Made(u32),
}

/// A segment on the way, and its continuation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentCall {
    /// The segment's number.
    pub segment: u32,
    /// The registers that it takes.
    pub takes: Vec<Register>,
    /// The number of the first register that it gives.
    pub gives: u32,
    /// Its continuation.
    pub then: AfterSegment,
}

/// The continuation after a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterSegment {
    /// The ending of this number.
    End(u32),
    /// The way of this number, by the truth of the last register that the segment gave, seen so.
    Decide {
        /// How the register is seen.
        seen: OpenView,
        /// The way where it is false, if that was seen.
        no: Option<u32>,
        /// The way where it is true.
        yes: Option<u32>,
    },
}

/// The effects and the result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The inputs that are written, and the sources of their new elements.
    pub writes: Vec<(u32, BaseSource)>,
    /// The bases of new arrays.
    pub bases: Vec<BaseSource>,
    /// The arrays of the result.
    pub outputs: Vec<SavedOutput>,
    /// The result.
    pub result: SavedResult,
}

/// The source of a base's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BaseSource {
    /// The contents of a register.
    Register(Register),
    /// Always the same, by its number among the leaves.
    Leaf(u32),
}

/// An array that a call gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedOutput {
    /// Whose elements it shows.
    pub from: OutputSource,
    /// How it shows them.
    pub view: OpenView,
    /// Whether the program can write it.
    pub writable: bool,
    /// Whether it is no view of another object.
    pub owns: bool,
}

/// Whose elements an array shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputSource {
    /// Those of an object of the call.
    Object(u32),
    /// Those of a new base.
    Base(u32),
}

/// The result of a call, with places for arrays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedResult {
    /// An object of the call.
    Object(u32),
    /// An array, by its number.
    Array(u32),
    /// The scalar that an array without axes is.
    Scalar(u32),
    /// That scalar as a float of the front end.
    Float(u32),
    /// This constant.
    Known(SavedConstant),
    /// A tuple.
    Tuple(Vec<SavedResult>),
    /// A list, by its number among lists and dictionaries.
    List(u32, Vec<SavedResult>),
    /// A dictionary.
    Dict(u32, Vec<(SavedConstant, SavedResult)>),
    /// A list or dictionary that stands elsewhere, too.
    Again(u32),
}

impl InspectedArray {
    /// The shape of its base where the open extents are these.
    ///
    /// # Errors
    /// - `Shape`: there is no such shape.
    pub fn base_at(&self, open: &[i64]) -> Result<Vec<usize>> {
        Ok(shape_at(&self.base, open)?.to_vec())
    }
}

impl Look {
    /// Refuses a look whose parts name missing parts. Ways lead forward, so each call ends.
    ///
    /// # Errors
    /// - `Invalid`: what is wrong.
    pub fn check(&self) -> Result<()> {
        let all = self.objects as usize + self.captured.len();
        let inputs = self.inputs();
        let has = |fits: bool, words: &str| if fits { Ok(()) } else { Err(damaged(words)) };
        let items = self.arguments.iter().chain(self.named.iter().map(|(_, given)| given));
        has(
            items.map(ArgumentPattern::objects).sum::<usize>() == self.objects as usize,
            "the arguments have another number of objects",
        )?;
        has(self.pattern.len() == all, "objects are missing in the pattern")?;
        let is_earlier = |(number, first): (usize, &u32)| *first as usize <= number;
        has(self.pattern.iter().enumerate().all(is_earlier), "the pattern is none")?;
        for captured in &self.captured {
            has((captured.leaf as usize) < self.leaves.len(), "an array has no elements")?;
        }
        for (number, wanted) in self.wanted.iter().enumerate() {
            let before = self.wanted[..number].iter().map(|wanted| wanted.input + 1).max();
            let is_next = wanted.input <= before.unwrap_or(0);
            has((wanted.object as usize) < all && is_next, "an array is no object")?;
        }
        for symbol in &self.open {
            let wanted = self.wanted.get(symbol.wanted as usize);
            let axis = wanted.and_then(|wanted| wanted.view.shape.get(symbol.axis as usize));
            has(axis.is_some(), "an open extent is of no array")?;
            has(0 <= symbol.least && symbol.least <= symbol.greatest, "an open extent is empty")?;
            has(symbol.step > 0, "an open extent has no step")?;
        }
        let open = self.open.len();
        has(open + self.parts.len() <= usize::from(u8::MAX), "too many extents are open")?;
        let is_part = |part: &ExtentQuotient| usize::from(part.of) < open && part.by > 0;
        has(self.parts.iter().all(is_part), "a part is of no open extent")?;
        let is_order = |order: &ExtentOrder| order.0.max(order.1) < open as u8;
        has(self.order.iter().all(is_order), "an order is of no open extents")?;
        has(self.made <= MOST && !self.ways.is_empty(), "there is no way")?;
        let is_register = |register: &Register| match register {
            Register::Input(number) => *number < inputs,
            Register::Made(number) => *number < self.made,
        };
        for (number, way) in self.ways.iter().enumerate() {
            let Some(segment) = self.segments.get(way.segment as usize) else {
                return Err(damaged("a way has no segment"));
            };
            has(way.takes.iter().all(is_register), "a segment takes what is not there")?;
            has(way.takes.len() == segment.arguments.len(), "a segment takes other registers")?;
            let end = u64::from(way.gives) + segment.results.len() as u64;
            has(end <= u64::from(self.made), "a segment gives more than there is room for")?;
            match &way.then {
                AfterSegment::End(ending) => {
                    has((*ending as usize) < self.endings.len(), "a way does not end")?;
                }
                AfterSegment::Decide { no, yes, .. } => {
                    let forward =
                        |next: &u32| (*next as usize) < self.ways.len() && *next as usize > number;
                    has([no, yes].into_iter().flatten().all(forward), "a way leads back")?;
                    has(!segment.results.is_empty(), "a segment decides nothing")?;
                }
            }
        }
        let is_base = |base: &BaseSource| match base {
            BaseSource::Register(register) => is_register(register),
            BaseSource::Leaf(leaf) => (*leaf as usize) < self.leaves.len(),
        };
        for ending in &self.endings {
            let writes = |(input, base): &(u32, BaseSource)| *input < inputs && is_base(base);
            has(ending.writes.iter().all(writes), "a write is of no array")?;
            has(ending.bases.iter().all(is_base), "a result has no elements")?;
            let has_from = |output: &SavedOutput| match output.from {
                OutputSource::Object(object) => object < self.objects,
                OutputSource::Base(base) => (base as usize) < ending.bases.len(),
            };
            has(ending.outputs.iter().all(has_from), "a result is of no array")?;
            let count = ending.outputs.len() as u32;
            let mut known = Vec::new();
            has(ending.result.is_in(self.objects, count, &mut known), "a result is not there")?;
        }
        Ok(())
    }

    /// The numbers of the objects whose elements are written.
    pub fn written(&self) -> Vec<u32> {
        let is_written = |wanted: &&InspectedArray| {
            let mut writes = self.endings.iter().flat_map(|ending| &ending.writes);
            writes.any(|(input, _)| *input == wanted.input)
        };
        self.wanted.iter().filter(is_written).map(|wanted| wanted.object).collect()
    }

    /// How many bases the wanted arrays have.
    pub fn inputs(&self) -> u32 {
        self.wanted.iter().map(|wanted| wanted.input + 1).max().unwrap_or(0)
    }
}

/// The most registers and places in a tree: so many are never recorded.
const MOST: u32 = 1 << 24;

impl ArgumentPattern {
    /// How many objects an argument is.
    fn objects(&self) -> usize {
        match self {
            ArgumentPattern::Array | ArgumentPattern::Scalar | ArgumentPattern::Number(_) => 1,
            ArgumentPattern::Known(_) => 0,
            ArgumentPattern::Tuple(items) | ArgumentPattern::List(items) => {
                1 + items.iter().map(ArgumentPattern::objects).sum::<usize>()
            }
            ArgumentPattern::Dict(items) => {
                1 + items.iter().map(|(_, item)| item.objects()).sum::<usize>()
            }
        }
    }
}

impl SavedResult {
    /// Whether it names an object from this number on.
    pub fn names(&self, first: u32) -> bool {
        match self {
            SavedResult::Object(object) => *object >= first,
            SavedResult::Tuple(items) | SavedResult::List(_, items) => {
                items.iter().any(|item| item.names(first))
            }
            SavedResult::Dict(_, items) => items.iter().any(|(_, item)| item.names(first)),
            _ => false,
        }
    }

    /// Whether it names only so many objects and arrays, and containers that are known before.
    fn is_in(&self, objects: u32, arrays: u32, known: &mut Vec<u32>) -> bool {
        let all = |known: &mut Vec<u32>, mut items: Box<dyn Iterator<Item = &SavedResult> + '_>| {
            items.by_ref().all(|item| item.is_in(objects, arrays, known))
        };
        match self {
            SavedResult::Object(object) => *object < objects,
            SavedResult::Array(array) | SavedResult::Scalar(array) | SavedResult::Float(array) => {
                *array < arrays
            }
            SavedResult::Known(_) => true,
            SavedResult::Again(number) => known.contains(number),
            SavedResult::Tuple(items) => all(known, Box::new(items.iter())),
            SavedResult::List(number, items) => {
                let is_in = all(known, Box::new(items.iter()));
                known.push(*number);
                is_in
            }
            SavedResult::Dict(number, items) => {
                let is_in = all(known, Box::new(items.iter().map(|(_, item)| item)));
                known.push(*number);
                is_in
            }
        }
    }
}
