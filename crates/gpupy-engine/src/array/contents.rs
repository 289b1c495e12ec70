//! The contents of a base: elements of its own, a value, or nothing.
//!
//! Owns [`Current`] and [`Contents`]. A base's own elements become a value when an expression needs one. Elements in
//! host memory become the base's own again when they are written (copy-on-write): [`Current::make_mut`] is the one
//! answer to whether, and where. Invariants: each change of the elements makes another version; pinned elements never
//! become a value, which would change with the next write.
//!
//! Not here: the base itself and its lock (`base.rs`), own elements (`owned_elements.rs`), dtype views
//! (`dtype_view.rs`).

use crate::array::owned_elements::OwnedElements;
use crate::array::part_exports::PartExports;
use crate::graph::value::{Copies, Origin, Value};
use crate::memory::ranges::Ranges;
use gpupy_core::shape::Shape;
use gpupy_core::{Error, ErrorKind, Result};

/// The present contents of a base, and how often they were replaced.
pub(crate) struct Current {
    held: Contents,
    pub version: u64,
    /// Why there is nothing, where the elements of a dtype view could not be had.
    lack: Option<Error>,
    /// The parts of the value that exports show.
    parts: Option<Box<PartExports>>,
}

/// The contents of a base.
pub(crate) enum Contents {
    /// Uniquely owned elements.
    Own(OwnedElements),
    /// A value, which expressions and other bases may have too.
    Value(Value),
    /// Nothing: it was disposed of.
    Nothing,
}

impl Current {
    /// The contents.
    pub fn held(&self) -> &Contents {
        &self.held
    }

    /// Its own elements.
    #[inline]
    pub fn own_mut(&mut self) -> Option<&mut OwnedElements> {
        match &mut self.held {
            Contents::Own(own) => Some(own),
            Contents::Value(_) | Contents::Nothing => None,
        }
    }

    /// The elements in host memory, for writing. A value's become the base's own ones: its memory, where nothing else
    /// has that, or a copy, as far as `copies` allows. `None` for all others, to which a write has to be recorded.
    #[inline]
    pub fn make_mut(&mut self, copies: Copies) -> Option<&mut [u8]> {
        self.make_own(copies)?.make_mut()
    }

    /// As `make_mut`, where these positions are written alone.
    #[inline]
    pub fn make_mut_at(
        &mut self,
        copies: Copies,
        written: impl FnOnce() -> Ranges,
    ) -> Option<&mut [u8]> {
        self.make_own(copies)?.make_mut_at(written)
    }

    /// The elements as own ones, which a value's become as far as `copies` allows.
    #[inline]
    pub fn make_own(&mut self, copies: Copies) -> Option<&mut OwnedElements> {
        if let Contents::Value(value) = &self.held {
            let own = match &mut self.parts {
                Some(parts) => parts.completed(value)?,
                None => {
                    let memory = value.memory_to_write(copies)?;
                    let (dtype, shape) = (value.dtype(), value.0.shape.clone());
                    OwnedElements::new(dtype, shape, Origin::Eager, memory)
                }
            };
            self.held = Contents::Own(own);
            self.parts = None;
        }
        self.own_mut()
    }

    /// The version for a reader of the present elements: a new one where exports may have changed them.
    pub fn seen(&mut self) -> u64 {
        if let Contents::Own(own) = &mut self.held {
            self.version += u64::from(own.was_pinned());
        }
        self.version
    }

    /// Replaces the contents by other elements.
    pub fn replace(&mut self, held: Contents) {
        self.held = held;
        self.lack = None;
        self.parts = None;
        self.version += 1;
    }

    /// Has the value what other code has written to the parts that exports show; the last look at those that are gone.
    #[inline(always)]
    pub fn follow_exports(&mut self) {
        if self.parts.is_some() {
            self.follow_parts();
        }
    }

    #[cold]
    fn follow_parts(&mut self) {
        let Some(parts) = &mut self.parts else { return };
        let mut is_over = !parts.is_exported();
        if let Contents::Value(value) = &mut self.held {
            let (written, is_all) = parts.written(value);
            // Without room, the next look finds the difference.
            is_over &= is_all;
            if let Some(written) = written {
                *value = written;
                self.version += 1;
            }
        }
        let is_there = matches!(&self.held, Contents::Value(value) if value.is_there());
        if is_over {
            self.parts = None;
        } else if is_there {
            // Then the base is pinned like any other, and nothing is to be compared.
            let _ = self.make_own(Copies::Any);
        }
    }

    /// The parts that exports show.
    pub fn parts(&mut self) -> &mut Option<Box<PartExports>> {
        &mut self.parts
    }

    /// Whether exports show the elements, or may.
    pub fn is_pinned(&self) -> bool {
        matches!(&self.held, Contents::Own(own) if own.is_pinned())
    }

    /// Whether exports show all elements or parts of them, or may, so that a write goes to where they lie.
    pub fn is_shown(&self) -> bool {
        self.parts.is_some() || self.is_pinned()
    }

    /// Whether there are exports that show the elements.
    pub fn is_exported(&self) -> bool {
        self.parts.is_some() || matches!(&self.held, Contents::Own(own) if own.is_exported())
    }

    /// Whether the elements lie in memory of another owner.
    pub fn is_foreign(&self) -> bool {
        matches!(&self.held, Contents::Own(own) if own.is_foreign())
    }

    /// Pinned elements, which are another base's from now on; `None` for others.
    pub fn take_pinned(&mut self) -> Option<OwnedElements> {
        if !self.is_pinned() {
            return None;
        }
        match self.take() {
            Contents::Own(own) => Some(own),
            held => {
                self.held = held;
                None
            }
        }
    }

    /// The shape of the contents.
    ///
    /// # Errors
    /// - `Disposed`: there is nothing any more.
    pub fn shape(&self) -> Result<Shape> {
        match &self.held {
            Contents::Own(own) => Ok(own.shape.clone()),
            Contents::Value(value) => Ok(value.shape().into()),
            Contents::Nothing => Err(self.why()),
        }
    }

    /// A value with the elements of now: own elements become one; pinned ones are copied.
    pub fn value(&mut self) -> Result<Value> {
        match &self.held {
            Contents::Own(own) if own.is_pinned() => own.copied(),
            _ => self.made_value().cloned(),
        }
    }

    /// The value, for putting another in its place. Own elements become one; `None` where exports show them, and
    /// they have to be written where they lie.
    ///
    /// # Errors
    /// - `Disposed`: there is none any more. `OutOfMemory`: there is no room for a value's memory.
    pub fn value_mut(&mut self) -> Result<Option<&mut Value>> {
        if self.is_shown() { Ok(None) } else { self.made_value().map(Some) }
    }

    /// The value; own elements, which are not pinned, become one.
    fn made_value(&mut self) -> Result<&mut Value> {
        if let Contents::Own(own) = &mut self.held {
            self.version += u64::from(own.was_pinned());
            self.held = Contents::Value(own.take_value()?);
        }
        match &mut self.held {
            Contents::Value(value) => Ok(value),
            Contents::Own(_) | Contents::Nothing => Err(self.lack.clone().unwrap_or_else(disposed)),
        }
    }

    /// The contents of a new base.
    pub fn new(held: Contents) -> Current {
        Current { held, version: 0, lack: None, parts: None }
    }

    /// Takes the contents away.
    pub fn take(&mut self) -> Contents {
        std::mem::replace(&mut self.held, Contents::Nothing)
    }

    /// Takes the contents away for good.
    pub fn dispose(&mut self) -> Contents {
        let held = self.take();
        self.replace(Contents::Nothing);
        held
    }

    /// Notes that there is nothing, and why.
    pub fn lose(&mut self, error: Error) {
        self.replace(Contents::Nothing);
        self.lack = Some(error);
    }

    /// Why there is nothing.
    pub fn why(&self) -> Error {
        self.lack.clone().unwrap_or_else(disposed)
    }
}

fn disposed() -> Error {
    Error::new(ErrorKind::Disposed, "array").says("the array was disposed of")
}
