//! Segments done again: with other arrays, at once where they are little work.
//!
//! Owns [`Context::replay`]. Not here: segments (`eager/segment.rs`), when the program may be left out (the front end's).

use super::Context;
use crate::array::base::Array;
use crate::eager::segment::{Segment, are_in_memory, results};
use crate::graph::value::Value;
use gpupy_core::Result;

impl Context {
    /// What a segment gives of the bases of these arrays: a new base for each of its results, seen whole.
    ///
    /// # Errors
    /// - `Shape`: the bases are others than those of which it was recorded. `Disposed`: one has no elements any more.
    /// - any error of an evaluation, when so much was pending that it had to run.
    pub fn replay(&self, segment: &Segment, given: &[&Array]) -> Result<Vec<Array>> {
        if let Some(done) = self.inner.door.segment(segment, given) {
            return Ok(done);
        }
        let values = given.iter().map(|array| array.value()).collect::<Result<Vec<Value>>>()?;
        let recorded = &segment.recorded;
        recorded.check(&values)?;
        let expressions = &self.inner.door.recorder().expressions;
        let may_plan = self.inner.door.computes() && !self.inner.tracer.listens();
        if may_plan && segment.is_to_plan() && are_in_memory(&values) {
            let made = recorded.all_values(expressions, &values);
            let found = results(recorded, &values, &made);
            self.plan(segment, &values, made)?;
            return Ok(found.into_iter().map(Array::from_value).collect());
        }
        // A single element that is known is a scalar of kernels.
        let known = |(array, value): (&&Array, Value)| match value.shape() {
            [] => array.known_element().map_or(value, |element| Value::constant(&[], element)),
            _ => value,
        };
        let values: Vec<Value> = given.iter().zip(values).map(known).collect();
        let made = recorded.all_values(expressions, &values);
        let found = results(recorded, &values, &made);
        for value in &found {
            self.bound(value)?;
        }
        Ok(found.into_iter().map(Array::from_value).collect())
    }

    /// Plans a segment by evaluating it.
    fn plan(&self, segment: &Segment, given: &[Value], made: Vec<Value>) -> Result<()> {
        let leaves = segment.recorded.leaves();
        leaves.iter().try_for_each(|leaf| self.bring(leaf))?;
        self.while_others_run(|| {
            let mut state = self.state();
            // A driver that does not start computes nothing at once, either.
            if self.current(&mut state).is_ok()
                && let Some(host) = self.host(&mut state)
            {
                state.engine.plan(segment, given, made, host);
            }
            Ok(())
        })
    }
}
