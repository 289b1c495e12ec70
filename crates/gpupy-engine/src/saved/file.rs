//! Files of recorded functions.
//!
//! Owns [`Saved`], which is read from the bytes of a file and written into them. A file begins with [`MAGIC`], the
//! version of the format and the length of a head, all little endian; the head is JSON ([`Look`]s and functions);
//! behind it stand the elements of constants. Invariant: files are not trusted. A file that was read is checked: parts
//! that are named are there, and each segment was recorded for the least open extents.
//!
//! Not here: making looks of a recording (`writer.rs`), calls (`run.rs`), which looks are merged (`open_extents.rs`).

use super::look::Look;
use super::look_check::LookCheck;
use super::open_view::{OpenView, damaged, shape_at};
use super::outline::{ConstantLeaf, ElementSource, FileParts};
use crate::array::base::Array;
use crate::eager::segment::Segment;
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::value::Value;
use gpupy_core::ir::Program;
use gpupy_core::shape::size_of;
use gpupy_core::{DType, Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How files of functions begin.
pub const MAGIC: [u8; 8] = *b"\x93GPUPYF\n";
/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;
/// Where the head begins: behind the magic, the version, and its length.
const HEAD: usize = MAGIC.len() + 4 + 8;
/// Elements begin at multiples of this.
pub(super) const ALIGNED: usize = 64;

/// A recorded function of a file.
#[derive(Debug)]
pub struct Saved {
    document: Document,
    functions: Vec<Arc<ScalarFunction>>,
    data: Vec<u8>,
}

/// The head of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    /// The function's name.
    pub name: String,
    pub looks: Vec<Look>,
    /// Functions of scalars, each with the turns of its loop.
    pub functions: Vec<(Program, u32)>,
}

/// A look for known extents.
pub struct Instance {
    /// The look's segments.
    pub segments: Vec<Arc<Segment>>,
    pub(super) leaves: Vec<Value>,
}

impl Saved {
    /// The function in the bytes of a file.
    ///
    /// # Errors
    /// - `Invalid`: it is no such file, of another version, or damaged. `Shape`, `Index`, `DType`: a step of it cannot
    ///   be.
    pub fn read(bytes: &[u8]) -> Result<Saved> {
        let field = |from: usize, len: usize| bytes.get(from..from + len);
        if field(0, MAGIC.len()) != Some(&MAGIC[..]) {
            return Err(damaged("it is no file of a recorded function"));
        }
        let number = |from: usize, len: usize| {
            let bytes = field(from, len).ok_or_else(|| damaged("the file ends in its head"))?;
            Ok::<u64, Error>(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
        };
        let version = number(MAGIC.len(), 4)?;
        if version != u64::from(VERSION) {
            let error = damaged("the file is of a version that is not known here");
            return Err(error.with("version", version).with("known", VERSION));
        }
        let end = usize::try_from(number(MAGIC.len() + 4, 8)?).ok();
        let end = end.and_then(|len| len.checked_add(HEAD)).filter(|end| *end <= bytes.len());
        let end = end.ok_or_else(|| damaged("the file ends in its head"))?;
        let document: Document = serde_json::from_slice(&bytes[HEAD..end])
            .map_err(|error| damaged(&format!("its head cannot be read: {error}")))?;
        let data = bytes.get(end.next_multiple_of(ALIGNED)..).unwrap_or_default();
        Saved::of(document, data.to_vec())
    }

    /// A function of these parts.
    ///
    /// # Errors
    /// As of [`Saved::read`].
    pub(super) fn of(document: Document, data: Vec<u8>) -> Result<Saved> {
        let functions = document.functions.iter().map(|(program, turns)| {
            if *turns > ScalarFunction::MOST_TURNS {
                return Err(damaged("a function has too many turns").with("turns", turns));
            }
            ScalarFunction::of_program(program.clone(), *turns).map(Arc::new)
        });
        let functions = functions.collect::<Result<_>>()?;
        let saved = Saved { document, functions, data };
        if saved.document.looks.is_empty() {
            return Err(damaged("it has no recording"));
        }
        for (number, look) in saved.document.looks.iter().enumerate() {
            look.check()?;
            let least: Vec<i64> = look.open.iter().map(|symbol| symbol.least).collect();
            saved
                .checked(look, &look.with_parts(&least)?)
                .map_err(|error| error.with("look", number))?;
        }
        Ok(saved)
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// - `Invalid`: a part cannot be told in the head.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let head = serde_json::to_vec(&self.document)
            .map_err(|error| damaged(&format!("its head cannot be written: {error}")))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((head.len() as u64).to_le_bytes());
        bytes.extend(head);
        bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
        bytes.extend(&self.data);
        // Nesting that is too deep is found here, not at the first call.
        Saved::read(&bytes)?;
        Ok(bytes)
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// The ways in which it was called.
    pub fn looks(&self) -> &[Look] {
        &self.document.looks
    }

    /// A look's segments and elements where its open extents are these.
    ///
    /// # Errors
    /// - `Index`: there is no such look. `Shape`: extents that it was not seen with. Those of its steps.
    pub fn instance(&self, look: usize, open: &[i64]) -> Result<Instance> {
        let look = self.looks().get(look).ok_or_else(|| {
            Error::new(ErrorKind::Index, "load").says("there is no such look").with("look", look)
        })?;
        if !look.has_extents(open) {
            return Err(Error::new(ErrorKind::Shape, "load")
                .says("the function was not recorded for such extents")
                .with("extents", format!("{open:?}")));
        }
        self.checked(look, &look.with_parts(open)?)
    }

    /// A look for these extents, all of whose parts are as they have to be.
    fn checked(&self, look: &Look, open: &[i64]) -> Result<Instance> {
        let leaves = look.leaves.iter().map(|leaf| self.leaf(leaf, open));
        let leaves = leaves.collect::<Result<Vec<Value>>>()?;
        let parts = FileParts { functions: &self.functions, leaves: &leaves, open };
        let segment = |outline: &super::outline::Outline| {
            Segment::of_outline(outline.recorded(&parts)?).map(Arc::new)
        };
        let segments: Vec<Arc<Segment>> =
            look.segments.iter().map(segment).collect::<Result<_>>()?;
        let inside = |value: &Value, seen: &OpenView| -> Result<()> {
            Array::from_value(value.clone()).seen(seen.at(open)?).map(|_| ())
        };
        for captured in &look.captured {
            inside(&leaves[captured.leaf as usize], &captured.view)?;
        }
        let mut inputs = Vec::new();
        for wanted in &look.wanted {
            let base = Value::argument(wanted.dtype, &shape_at(&wanted.base, open)?);
            inside(&base, &wanted.view)?;
            let like = (base.dtype(), base.len());
            match inputs.get(wanted.input as usize) {
                None => inputs.push(like),
                Some(known) if *known == like => {}
                Some(_) => return Err(damaged("arrays of one base differ in it")),
            }
        }
        let checked = LookCheck { look, open, segments: &segments, leaves: &leaves, inputs };
        checked.all()?;
        Ok(Instance { segments, leaves })
    }

    /// A leaf's elements.
    fn leaf(&self, leaf: &ConstantLeaf, open: &[i64]) -> Result<Value> {
        let shape = shape_at(&leaf.shape, open)?;
        match &leaf.elements {
            ElementSource::All(number) => {
                let scalar = number.at(open)?;
                if scalar.dtype != leaf.dtype {
                    return Err(damaged("an element is of another dtype than its array"));
                }
                Ok(Value::constant(&shape, scalar))
            }
            ElementSource::Bytes(start) => {
                let len = size_of(&shape).checked_mul(leaf.dtype.size());
                let range = usize::try_from(*start).ok().zip(len);
                let end = range.and_then(|(start, len)| start.checked_add(len));
                let bytes = range.zip(end).and_then(|((start, _), end)| self.data.get(start..end));
                let bytes = bytes.ok_or_else(|| damaged("the file ends in its elements"))?;
                if leaf.dtype == DType::Bool && bytes.iter().any(|byte| *byte > 1) {
                    return Err(damaged("a bool is neither true nor false"));
                }
                Array::from_bytes(leaf.dtype, &shape, bytes)?.value()
            }
        }
    }
}

impl Instance {
    /// The elements of a leaf, by its number.
    ///
    /// # Errors
    /// - `Index`: there is none.
    pub fn leaf(&self, number: u32) -> Result<Array> {
        let leaf = self.leaves.get(number as usize).cloned();
        leaf.map(Array::from_value).ok_or_else(|| damaged("there are no such elements"))
    }
}
