//! Reads of parts: of elements that are not in host memory, those that are asked for are computed and moved alone.
//!
//! Owns the rule when. A view of at most half of a value is read as a value of its own, a copy that fuses with what is
//! pending, until such reads together have cost as much as to compute and to read everything: then that is done. So a
//! program never pays more than twice the price of the better way, whether it shows a corner of a large array or goes
//! through all of its elements. The account is handed on when a value is recorded from others, as a loop that reads one
//! element a step has a new value in each, and in each a longer chain to read it from. Invariants: the rule counts, and
//! never asks the time; it changes no element.
//!
//! Not here: the prices (`schedule/cost.rs`), reading (`mod.rs`), eager operations on parts
//! (`graph/value/residence.rs`).

use crate::array::base::Array;
use crate::array::part_exports::touched;
use crate::context::Context;
use crate::context::read::HostArray;
use crate::graph::passed::is_narrow;
use crate::graph::value::{HostSlice, Value, ValueKind};
use crate::memory::host_buffer::HostBuffer;
use crate::memory::view::View;
use crate::schedule::cost::ReadPrices;
use crate::thresholds::T;
use gpupy_core::{Result, memory};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// How the elements that a view shows are read.
enum Way {
    /// With the rest of their value.
    Whole,
    /// As a value of their own, which costs nothing that reading all would not.
    Free,
    /// As a value of their own, for so much.
    Apart(f64),
    /// Out of a device's block, where they follow each other, for so much.
    Moved(f64),
}

impl Context {
    /// The elements that an array shows of this value, if they are to be read by themselves.
    ///
    /// # Errors
    /// As of `read`.
    pub(crate) fn read_part(&self, array: &Array, value: &Value) -> Result<Option<HostArray>> {
        let view = array.layout();
        let price = match self.way(value, view)? {
            Way::Whole if array.is_to_be_pinned() && !value.is_open() => {
                self.complete_exports(array)?;
                return Ok(array.in_memory());
            }
            Way::Whole => return Ok(None),
            Way::Free => return self.read(&self.part(array, value)).map(Some),
            Way::Moved(price) => {
                let Some(moved) = self.moved(value, view)? else { return Ok(None) };
                charge(value, price);
                return Ok(Some(moved));
            }
            Way::Apart(price) => price,
        };
        let compiled = self.kernels_compiled()?;
        let read = self.read(&self.part(array, value))?;
        let compiled = self.kernels_compiled()?.saturating_sub(compiled);
        // The first kernel of all is one that reading everything would have to compile as well.
        let more = match value.0.spent.load(Ordering::Relaxed) {
            0 => 0.0,
            _ => compiled as f64 * self.read_prices(value, view)?.kernel,
        };
        charge(value, price + more);
        Ok(Some(read))
    }

    /// The elements that an array shows of this value, if an export is to have them alone.
    ///
    /// # Errors
    /// As of `read`.
    pub(crate) fn read_for_export(
        &self,
        array: &Array,
        value: &Value,
    ) -> Result<Option<HostArray>> {
        let size = array.dtype().size();
        let is_much = array.size() * size > T.exported_part
            || touched(array.layout(), size) > T.exported_pages;
        if is_much || value.is_external() {
            return Ok(None);
        }
        if matches!(value.0.kind, ValueKind::Constant(_)) {
            // Each export that is written to is a step on the way to the value.
            let ReadPrices { part: price, whole, .. } = self.read_prices(value, array.layout())?;
            if value.0.spent.load(Ordering::Relaxed) as f64 + price > whole {
                return Ok(None);
            }
            charge(value, price);
        }
        self.read_part(array, value)
    }

    /// A value with the elements that an array shows of this one, if they are to be computed by themselves.
    pub(crate) fn apart(&self, array: &Array, value: &Value) -> Result<Option<Array>> {
        let is_apart = matches!(self.way(value, array.layout())?, Way::Apart(_) | Way::Free);
        Ok(is_apart.then(|| self.part(array, value)))
    }

    fn part(&self, array: &Array, value: &Value) -> Array {
        match value.0.kind {
            ValueKind::Constant(scalar) => {
                Array::from_value(Value::constant(array.shape(), scalar))
            }
            _ => {
                let recorder = self.inner.dispatch.recorder();
                Array::from_value(recorder.part_of(value, array.layout()))
            }
        }
    }

    fn way(&self, value: &Value, view: &View) -> Result<Way> {
        let part = view.size();
        if part >= value.len() || value.is_open() {
            return Ok(Way::Whole);
        }
        let is_constant = matches!(value.0.kind, ValueKind::Constant(_));
        if is_constant || value.0.streams && !value.is_computed() {
            // What is not asked for would take memory.
            return Ok(Way::Free);
        }
        let Some((low, high)) = view.extent() else { return Ok(Way::Whole) };
        let range = low as usize..high as usize + 1;
        if !is_narrow(part, value.len()) {
            return Ok(Way::Whole);
        }
        let (is_there, is_pending) = {
            let state = value.state();
            (state.on_host.covers(range.clone()), !state.computed.covers(range.clone()))
        };
        if is_there || !is_pending && !self.is_on_device(value)? {
            return Ok(Way::Whole);
        }
        let ReadPrices { part: price, whole, begun, .. } = self.read_prices(value, view)?;
        let spent = value.0.spent.load(Ordering::Relaxed) as f64;
        // What is saved is to be more than what comes twice if all is wanted after all.
        if whole - price < 2.0 * begun || spent + price > whole {
            return Ok(Way::Whole);
        }
        // What lies between the elements is moved too, where that costs less than to launch a copy.
        let between = (range.len() - part) as f64 * value.dtype().size() as f64 * T.moved_byte;
        Ok(match !is_pending && between < begun {
            true => Way::Moved(price + between),
            false => Way::Apart(price),
        })
    }

    fn read_prices(&self, value: &Value, view: &View) -> Result<ReadPrices> {
        let mut state = self.state()?;
        let position = self.current(&mut state)?;
        Ok(ReadPrices::of(value, view.size(), &state.engine.device(position)?.caps))
    }

    /// Whether the driver in use has blocks of a value, and not in host memory.
    fn is_on_device(&self, value: &Value) -> Result<bool> {
        let mut state = self.state()?;
        let position = self.current(&mut state)?;
        let device = state.engine.device(position)?;
        Ok(!device.caps.host_memory && !device.tiles(value.id()).is_empty())
    }

    /// The kernels that were compiled until now.
    fn kernels_compiled(&self) -> Result<u64> {
        Ok(self.state()?.engine.counts.iter().map(|counts| counts.kernels_compiled).sum())
    }

    /// Elements from the first to the last of a view, moved from the block that has them all; `None` where none has.
    fn moved(&self, value: &Value, view: &View) -> Result<Option<HostArray>> {
        let Some((low, high)) = view.extent() else { return Ok(None) };
        let range: Range<usize> = low as usize..high as usize + 1;
        let mut bytes = memory::zeroed(range.len() * value.dtype().size())?;
        if !self.state()?.engine.download(value, range, &mut bytes)? {
            return Ok(None);
        }
        let elements = HostSlice::whole(HostBuffer::from_bytes(&bytes)?);
        Ok(Some(HostArray::of(elements, value.dtype(), view.relative_to(low))))
    }
}

/// Notes what a read of part of a value cost: for the value, and for the pending values that it was computed from, of
/// which a program may read parts of others.
fn charge(value: &Value, price: f64) {
    let spent = value.0.spent.fetch_add(price as u64, Ordering::Relaxed) + price as u64;
    let mut below = vec![value.clone()];
    let mut next = 0;
    while next < below.len() && below.len() < T.charged_values {
        let operands = below[next].state().operands.clone();
        next += 1;
        for operand in operands.into_iter().flatten().filter(|operand| !operand.is_computed()) {
            // One that has as much was charged before, and so were those below it.
            if operand.0.spent.fetch_max(spent, Ordering::Relaxed) < spent {
                below.push(operand);
            }
        }
    }
}
