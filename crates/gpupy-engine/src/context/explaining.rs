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
        self.explain_all(&[array])
    }

    /// Evaluates arrays together, as `evaluate` does, and tells how it was done.
    ///
    /// # Errors
    /// As of `explain`.
    pub fn explain_all(&self, arrays: &[&Array]) -> Result<Explanation> {
        self.told(arrays, &|demand| self.explain_demand(demand))
    }

    /// Compiles the evaluation of arrays together, and tells what it would do. Nothing is done.
    ///
    /// # Errors
    /// As of `explain`.
    pub fn rehearse_all(&self, arrays: &[&Array]) -> Result<Explanation> {
        self.told(arrays, &|demand| self.rehearse_demand(demand))
    }

    /// What is told of the demand for arrays, or that there is nothing to evaluate.
    fn told(
        &self,
        arrays: &[&Array],
        tell: &dyn Fn(&Demand<'_>) -> Result<Explanation>,
    ) -> Result<Explanation> {
        if let [array] = arrays {
            let value = array.value()?;
            let Some((low, high)) = array.layout().extent() else {
                let nothing = "the array has no elements: nothing to evaluate";
                return Ok(Explanation::of_nothing(nothing));
            };
            if let Some(part) = self.apart(array, &value)? {
                return self.told(&[&part], tell);
            }
            let range = low as usize..high as usize + 1;
            let is_expression = matches!(value.0.kind, ValueKind::Expr { .. });
            if !is_expression || value.state().computed.covers(range.clone()) {
                return Ok(Explanation::of_nothing(whereabouts(&value)));
            }
            return tell(&Demand::of(&value, range));
        }
        let values = arrays.iter().map(|array| array.value()).collect::<Result<Vec<Value>>>()?;
        let pending: Vec<Value> = values.into_iter().filter(|value| !value.is_computed()).collect();
        match Demand::first_of(&pending) {
            Some(demand) => tell(&demand),
            None => Ok(Explanation::of_nothing("nothing to evaluate")),
        }
    }

    fn rehearse_demand(&self, demand: &Demand<'_>) -> Result<Explanation> {
        let Demand { value, range, next, .. } = demand;
        let mut state = self.state()?;
        let first = self.current(&mut state)?;
        self.inner.tracer.begin(value, next, range, true);
        let done = self.rehearse_from(&mut state, first, demand);
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
