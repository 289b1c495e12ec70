//! Promotion to host memory: of bases that a program accesses in many small pieces, by elements, rows or columns.
//!
//! Owns how they are brought there. Invariants: values that a device holds are promoted for writes alone, and its
//! blocks are kept, so that it is sent what was written; promotion changes no element.
//!
//! Not here: the rule when they come (`graph/value/residence.rs`), the writes themselves (`host_moves.rs`,
//! `recorder.rs`), eager operations (`eager_evaluator.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::Contents;
use crate::context::Context;
use crate::graph::value::residence::{is_little, is_part};
use crate::graph::value::{Copies, Operand, Value, ValueKind};
use crate::memory::view::View;
use crate::thresholds::T;
use gpupy_core::Result;
use smallvec::SmallVec;

/// The value of an array's base, if that is not in host memory and had better be for a read of little of it.
fn read_often(array: &Array) -> Option<Value> {
    if !is_part(array.size(), array.base_len()) {
        return None;
    }
    let current = array.current_now()?;
    let Contents::Value(value) = current.held() else { return None };
    let (low, high) = array.layout().extent()?;
    let is_elsewhere = matches!(value.0.kind, ValueKind::Expr { .. })
        && value.host_start(low as usize..high as usize + 1).is_none();
    (is_elsewhere && value.comes_for_read()).then(|| value.clone())
}

/// Whether a write of elements in host memory into a view of a value is a move there, once few elements of the value
/// are copied: a join would read all of them, and store them too.
fn is_move(value: &Value, dest: &Array, source: &Operand) -> bool {
    let is_constant = matches!(value.0.kind, ValueKind::Constant(_));
    dest.size() > 1
        && dest.size() <= T.most_points
        && value.len() <= T.most_points.saturating_mul(T.little_part)
        && source.1.as_ref().is_some_and(Value::is_there)
        && (is_constant || value.is_there())
}

impl Context {
    /// Brings the base of a write to host memory, and what is written there, if the program goes through it in little
    /// pieces, or the rest is a move.
    ///
    /// # Errors
    /// Any error of the driver; no value is lost.
    pub(crate) fn promote_for_write(&self, dest: &Array, source: &Operand) -> Result<()> {
        // What still has to be computed; own elements are there.
        let is_little = is_little(dest.size(), dest.base_len());
        let (base, pays) = match dest.current().held() {
            Contents::Value(value) if is_move(value, dest, source) => (Some(value.clone()), true),
            Contents::Value(value)
                if is_little
                    && (value.comes_for_write()
                        || value.comes_from_device()
                        || value.is_there_alone()) =>
            {
                (Some(value.clone()), value.comes_for_write())
            }
            Contents::Own(_) if is_little => (None, true),
            Contents::Own(_) | Contents::Value(_) | Contents::Nothing => return Ok(()),
        };
        let is_pending = |source: &&Value| {
            !source.is_computed() && !source.is_open() && source.len() <= T.most_points
        };
        let source = source.1.as_ref().filter(is_pending);
        if base.is_none() && source.is_none() {
            return Ok(());
        }
        let (mut comes, mut blocks) = (false, None);
        self.while_others_run(|| {
            let on_host = self.evaluates_in_host_memory()?;
            // On a device, what is still to be computed is written there.
            let is_due = || base.as_ref().is_some_and(|v| v.comes_from_device() || v.is_there());
            comes = if on_host { pays } else { source.is_none() && is_due() };
            if comes {
                base.as_ref().map_or(Ok(()), |base| self.bring(base))?;
                source.map_or(Ok(()), |source| self.bring(source))?;
            }
            if comes && !on_host {
                blocks = match &base {
                    Some(base) => self.state()?.engine.set_aside(base),
                    None => None,
                };
            }
            Ok(())
        })?;
        let Some(base) = base.filter(|_| comes) else { return Ok(()) };
        let mut current = dest.current();
        if matches!(current.held(), Contents::Value(held) if held.id() == base.id()) {
            drop(base);
            // Where it fails, the write is recorded.
            if let (Some(own), Some(blocks)) = (current.make_own(Copies::Any), blocks) {
                own.set_aside(blocks);
            }
        }
        Ok(())
    }

    /// The values of operands that are little parts of pending bases, of which enough was read so before.
    pub(crate) fn often_read(&self, args: &[ArrayOrScalar<'_>]) -> SmallVec<[Value; 2]> {
        if !self.inner.dispatch.computes() {
            return SmallVec::new();
        }
        let often_read = args.iter().filter_map(|arg| match arg {
            ArrayOrScalar::Array(array) => read_often(array),
            ArrayOrScalar::Scalar(_) => None,
        });
        often_read.collect()
    }

    /// Brings these to host memory; whether there is one.
    ///
    /// # Errors
    /// As of `promote_for_write`.
    pub(crate) fn promote_often_read(&self, args: &[ArrayOrScalar<'_>]) -> Result<bool> {
        let often_read = self.often_read(args);
        if often_read.is_empty() {
            return Ok(false);
        }
        let mut promoted = false;
        self.while_others_run(|| {
            promoted = self.evaluates_in_host_memory()?;
            if promoted {
                often_read.iter().try_for_each(|value| self.bring(value))
            } else {
                Ok(())
            }
        })?;
        Ok(promoted)
    }

    /// Computes all elements and brings them to host memory; of a constant there is nothing to compute.
    pub(crate) fn bring(&self, value: &Value) -> Result<()> {
        if matches!(value.0.kind, ValueKind::Constant(_)) {
            return Ok(());
        }
        let whole = View::contiguous(value.shape());
        self.read(&Array::with_view(value.clone(), whole)).map(drop)
    }
}
