//! Traces of evaluations as they happen, and explanations of one array.
//!
//! Not here: the record of a flush, and its text (`explain/`), counts (`last_snapshot.rs`).

use super::Context;
use crate::array::base::Array;
use crate::explain::explanation::Explanation;
use crate::explain::flush_text::whereabouts;
use crate::explain::trace::{Flush, Sink};
use crate::graph::value::{Value, ValueKind};
use crate::schedule::passes::demand::Demand;
use gpupy_core::Result;

impl Context {
    /// Sends the text of each flush, and of each transfer between flushes, to `sink` from now on;
    /// it is called under the engine's lock, so it must not use this context.
    pub fn set_trace(&self, sink: Option<Sink>) {
        self.inner.tracer.send_to(sink);
    }

    /// Evaluates an array, waits for the device, and tells how it was done. Nothing is read back.
    ///
    /// # Errors
    /// Any error of the driver; no value is lost.
    pub fn explain(&self, array: &Array) -> Result<Explanation> {
        let value = array.value()?;
        let Some((low, high)) = array.layout().extent() else {
            return Ok(Explanation::of_nothing("the array has no elements: nothing to evaluate"));
        };
        if let Some(part) = self.apart(array, &value)? {
            return self.explain(&part);
        }
        let range = low as usize..high as usize + 1;
        if !matches!(value.0.kind, ValueKind::Expr { .. })
            || value.state().computed.covers(range.clone())
        {
            return Ok(Explanation::of_nothing(whereabouts(&value)));
        }
        self.explain_demand(&Demand::of(&value, range))
    }

    /// Evaluates arrays together, as `evaluate` does, and tells how it was done.
    ///
    /// # Errors
    /// As of `explain`.
    pub fn explain_all(&self, arrays: &[&Array]) -> Result<Explanation> {
        let values = arrays.iter().map(|array| array.value()).collect::<Result<Vec<Value>>>()?;
        let pending: Vec<Value> = values.into_iter().filter(|value| !value.is_computed()).collect();
        match (arrays, Demand::first_of(&pending)) {
            ([array], _) => self.explain(array),
            (_, Some(demand)) => self.explain_demand(&demand),
            (_, None) => Ok(Explanation::of_nothing("nothing to evaluate")),
        }
    }

    /// Compiles the evaluation of arrays together, and tells what it would do. Nothing is done.
    ///
    /// # Errors
    /// As of `explain`.
    pub fn rehearse_all(&self, arrays: &[&Array]) -> Result<Explanation> {
        let values = arrays.iter().map(|array| array.value()).collect::<Result<Vec<Value>>>()?;
        if let ([array], [value]) = (arrays, &values[..])
            && let Some(part) = self.apart(array, value)?
        {
            return self.rehearse_all(&[&part]);
        }
        let is_pending =
            |value: &&Value| matches!(value.0.kind, ValueKind::Expr { .. }) && !value.is_computed();
        let pending: Vec<Value> = values.iter().filter(is_pending).cloned().collect();
        let (range, value) = match (arrays, &pending[..]) {
            ([array], [value]) => match array.layout().extent() {
                Some((low, high)) => (low as usize..high as usize + 1, value),
                None => (0..0, value),
            },
            (_, [value, ..]) => (0..value.len(), value),
            (_, []) => {
                let one = values.first().filter(|_| values.len() == 1).map(whereabouts);
                return Ok(Explanation::of_nothing(one.unwrap_or("nothing to evaluate".into())));
            }
        };
        if range.is_empty() || value.state().computed.covers(range.clone()) {
            return Ok(Explanation::of_nothing(whereabouts(value)));
        }
        let next = &pending[1..];
        let demand = Demand { next, ..Demand::of(value, range) };
        let mut state = self.state()?;
        let first = self.current(&mut state)?;
        self.inner.tracer.begin(value, next, &demand.range, true);
        let done = self.rehearse_from(&mut state, first, &demand);
        let flush = self.inner.tracer.end(done.as_ref().err());
        done?;
        let planned = flush.map(|flush| Explanation::of_flush(Flush { time: None, ..flush }));
        Ok(planned.unwrap_or_else(|| Explanation::of_nothing(whereabouts(value))))
    }

    fn explain_demand(&self, demand: &Demand<'_>) -> Result<Explanation> {
        let Demand { value, range, next, .. } = demand;
        let mut state = self.state()?;
        let first = self.current(&mut state)?;
        // A pause would break the explanation in two.
        state.engine.slice.begin(false);
        self.inner.tracer.begin(value, next, range, true);
        let mut done = self.compute_from(&mut state, first, demand);
        for number in 0..next.len() {
            if let Some(demand) = Demand::first_of(&next[number..])
                && !demand.value.is_computed()
            {
                done = done.and_then(|()| self.compute_from(&mut state, first, &demand));
            }
        }
        for value in std::iter::once(*value).chain(*next) {
            done = done.and_then(|()| state.engine.wait_for(value));
        }
        let flush = self.inner.tracer.end(done.as_ref().err());
        done?;
        let nothing = || Explanation::of_nothing(whereabouts(value));
        Ok(flush.map_or_else(nothing, Explanation::of_flush))
    }
}
