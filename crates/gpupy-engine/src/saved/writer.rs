//! Making files of recorded functions.
//!
//! Owns [`Writer`], which numbers the parts that looks share: functions of scalars, and elements.
//!
//! Not here: the contents of a look (`look.rs`), the file (`file.rs`).

use super::extent::Extent;
use super::file::{ALIGNED, Document, Saved};
use super::look::Look;
use super::open_extents::joined;
use super::open_view::extents_of;
use super::outline::{ConstantLeaf, ElementSource, Outline, SavedScalar};
use crate::array::base::Array;
use crate::context::Context;
use crate::eager::segment::Segment;
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::value::{Value, ValueId};
use gpupy_core::ir::Program;
use gpupy_core::{Result, Scalar};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A file on its way.
pub struct Writer<'c> {
    context: &'c Context,
    looks: Vec<Look>,
    functions: Vec<Arc<ScalarFunction>>,
    data: Vec<u8>,
    /// Where the elements of values stand.
    known: FxHashMap<ValueId, (Value, ElementSource)>,
}

impl<'c> Writer<'c> {
    /// A file without looks; the context gives elements.
    pub fn new(context: &'c Context) -> Writer<'c> {
        let (looks, functions, data) = (Vec::new(), Vec::new(), Vec::new());
        Writer { context, looks, functions, data, known: FxHashMap::default() }
    }

    /// A segment for a look with these leaves, which grow.
    ///
    /// # Errors
    /// - `Unsupported`: it has a step that a file cannot have. Any of an evaluation.
    pub fn segment(
        &mut self,
        segment: &Segment,
        leaves: &mut Vec<ConstantLeaf>,
    ) -> Result<Outline> {
        let Writer { context, functions, data, known, .. } = self;
        let leaf = |value: &Value| leaf(context, data, known, value, leaves);
        let function = |function: &Arc<ScalarFunction>| {
            let place = functions.iter().position(|known| known == function);
            place.unwrap_or_else(|| {
                functions.push(function.clone());
                functions.len() - 1
            }) as u32
        };
        Outline::of(&segment.outline, leaf, function)
    }

    /// The number among these leaves of a base's elements as they are now.
    ///
    /// # Errors
    /// Any of an evaluation.
    pub fn leaf(&mut self, base: &Array, leaves: &mut Vec<ConstantLeaf>) -> Result<u32> {
        leaf(self.context, &mut self.data, &mut self.known, &base.value()?, leaves)
    }

    /// A look that the file has.
    pub fn look(&mut self, look: Look) {
        self.looks.push(look);
    }

    /// The file of a function with this name. Where extents are to be open, looks that differ in these alone are
    /// merged; gives also how many are merged, and why others are not.
    ///
    /// # Errors
    /// As of reading it: a look names what is not there.
    pub fn finish(self, name: String, is_open: bool) -> Result<(Saved, usize, Option<String>)> {
        let functions = self.functions.iter();
        let functions =
            functions.map(|function| (function.program().clone(), function.turns())).collect();
        let functions: Vec<(Program, u32)> = functions;
        if is_open {
            let (looks, opened, why) = joined(&self.looks);
            let document = Document { name: name.clone(), looks, functions: functions.clone() };
            match Saved::of(document, self.data.clone()) {
                Ok(saved) => return Ok((saved, opened, why)),
                // The generalisation does not hold for other extents than those seen.
                Err(error) => {
                    let document = Document { name, looks: self.looks, functions };
                    return Ok((Saved::of(document, self.data)?, 0, Some(error.to_string())));
                }
            }
        }
        let document = Document { name, looks: self.looks, functions };
        Ok((Saved::of(document, self.data)?, 0, None))
    }
}

/// The number of a value's elements among these leaves.
fn leaf(
    context: &Context,
    data: &mut Vec<u8>,
    known: &mut FxHashMap<ValueId, (Value, ElementSource)>,
    value: &Value,
    leaves: &mut Vec<ConstantLeaf>,
) -> Result<u32> {
    let elements = match known.get(&value.id()) {
        Some((_, elements)) => elements.clone(),
        None => {
            let bytes = context.read(&Array::from_value(value.clone()))?.to_vec()?;
            let elements = match same(value, &bytes) {
                Some(scalar) => ElementSource::All(SavedScalar::Bits(scalar)),
                None => {
                    data.resize(data.len().next_multiple_of(ALIGNED), 0);
                    let start = data.len() as u64;
                    data.extend(bytes);
                    ElementSource::Bytes(start)
                }
            };
            // The handle keeps its name from being another's.
            known.insert(value.id(), (value.clone(), elements.clone()));
            elements
        }
    };
    let shape: Vec<Extent> = extents_of(value.shape());
    let leaf = ConstantLeaf { dtype: value.dtype(), shape, elements };
    let place = leaves.iter().position(|known| *known == leaf);
    Ok(place.unwrap_or_else(|| {
        leaves.push(leaf);
        leaves.len() - 1
    }) as u32)
}

/// The element that all are.
fn same(value: &Value, bytes: &[u8]) -> Option<Scalar> {
    let dtype = value.dtype();
    let first = Scalar::read(dtype, bytes.get(..dtype.size())?)?;
    let is_first = |element: &[u8]| Scalar::read(dtype, element) == Some(first);
    bytes.chunks_exact(dtype.size()).all(is_first).then_some(first)
}
