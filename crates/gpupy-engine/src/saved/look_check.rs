//! Checks of a look whose extents are known: registers have the elements that are taken from them.
//!
//! Each way through the function is traversed once, without elements. The inputs of segments and the writes of endings
//! have the dtype and length of their sources, and each view is inside its base. Invariant: ways are a tree, so this
//! takes no longer than reading the file.
//!
//! Not here: references to missing parts (`look.rs`), steps of a segment (`outline.rs`).

use super::look::{AfterSegment, BaseSource, Ending, Look, OutputSource, Register};
use super::open_view::{OpenView, damaged};
use crate::array::base::Array;
use crate::eager::segment::Segment;
use crate::graph::value::Value;
use gpupy_core::shape::size_of;
use gpupy_core::{DType, Result};
use std::sync::Arc;

/// The kind of a base: its dtype and its number of elements.
type Like = (DType, usize);

/// A look for known extents, on its way through a call.
pub(super) struct LookCheck<'l> {
    pub look: &'l Look,
    pub open: &'l [i64],
    pub segments: &'l [Arc<Segment>],
    pub leaves: &'l [Value],
    /// The bases of wanted arrays.
    pub inputs: Vec<Like>,
}

/// The next visit.
enum Visit {
    Way(usize),
    /// Back to the state before a way: the contents of registers there.
    Back(usize, Vec<Option<Like>>),
}

impl LookCheck<'_> {
    /// Goes through all ways.
    ///
    /// # Errors
    /// - `Invalid`, `Index`, `Shape`: the part that does not fit.
    pub fn all(&self) -> Result<()> {
        let mut made: Vec<Option<Like>> = vec![None; self.look.made as usize];
        let mut seen = vec![false; self.look.ways.len()];
        let mut open = vec![Visit::Way(0)];
        while let Some(visit) = open.pop() {
            let number = match visit {
                Visit::Way(number) => number,
                Visit::Back(from, before) => {
                    made[from..from + before.len()].copy_from_slice(&before);
                    continue;
                }
            };
            if std::mem::replace(&mut seen[number], true) {
                return Err(damaged("two ways lead to one"));
            }
            let way = &self.look.ways[number];
            let segment = &self.segments[way.segment as usize];
            for (register, (dtype, shape)) in way.takes.iter().zip(segment.arguments()) {
                if self.register(*register, &made)? != (*dtype, size_of(shape)) {
                    return Err(damaged("a segment takes other elements than it is given"));
                }
            }
            let from = way.gives as usize;
            let results = segment.results();
            let before = made[from..from + results.len()].to_vec();
            open.push(Visit::Back(from, before));
            for (slot, like) in made[from..].iter_mut().zip(&results) {
                *slot = Some(*like);
            }
            match &way.then {
                AfterSegment::End(ending) => {
                    self.ending(&self.look.endings[*ending as usize], &made)?
                }
                AfterSegment::Decide { seen, no, yes } => {
                    let last =
                        results.last().ok_or_else(|| damaged("a segment decides nothing"))?;
                    self.inside(*last, seen)?;
                    let next = [no, yes].into_iter().flatten();
                    open.extend(next.map(|next| Visit::Way(*next as usize)));
                }
            }
        }
        Ok(())
    }

    fn register(&self, register: Register, made: &[Option<Like>]) -> Result<Like> {
        let like = match register {
            Register::Input(number) => self.inputs.get(number as usize).copied(),
            Register::Made(number) => made.get(number as usize).copied().flatten(),
        };
        like.ok_or_else(|| damaged("a register is read before it is there"))
    }

    fn base(&self, base: BaseSource, made: &[Option<Like>]) -> Result<Like> {
        match base {
            BaseSource::Register(register) => self.register(register, made),
            BaseSource::Leaf(number) => {
                let leaf = self.leaves.get(number as usize);
                let leaf = leaf.ok_or_else(|| damaged("there are no such elements"))?;
                Ok((leaf.dtype(), leaf.len()))
            }
        }
    }

    fn ending(&self, ending: &Ending, made: &[Option<Like>]) -> Result<()> {
        for (input, base) in &ending.writes {
            if self.register(Register::Input(*input), made)? != self.base(*base, made)? {
                return Err(damaged("an array is written with other elements"));
            }
        }
        let bases = ending.bases.iter().map(|base| self.base(*base, made));
        let bases = bases.collect::<Result<Vec<Like>>>()?;
        for output in &ending.outputs {
            let like = match output.from {
                OutputSource::Base(number) => bases.get(number as usize).copied(),
                OutputSource::Object(object) => {
                    let mut wanted = self.look.wanted.iter();
                    let wanted = wanted.find(|wanted| wanted.object == object);
                    wanted.and_then(|wanted| self.inputs.get(wanted.input as usize).copied())
                }
            };
            self.inside(like.ok_or_else(|| damaged("a result is of no array"))?, &output.view)?;
        }
        Ok(())
    }

    /// Refuses a view that leaves its base.
    fn inside(&self, (dtype, len): Like, seen: &OpenView) -> Result<()> {
        Array::from_value(Value::argument(dtype, &[len])).seen(seen.at(self.open)?).map(|_| ())
    }
}
