//! Replay of segments on other arrays; a segment of little work is eager.
//!
//! Owns [`Context::replay`]. Not here: segments (`eager/segment.rs`), when the program may be left out (the front end).

use super::Context;
use crate::array::base::Array;
use crate::eager::host_moves;
use crate::eager::segment::{Segment, are_in_memory, in_shape, results};
use crate::graph::value::Value;
use crate::schedule::passes::demand::Demand;
use crate::thresholds::T;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Error, ErrorKind, Result};

impl Context {
    /// What a segment gives of the bases of these arrays: a new base for each of its results, seen whole.
    ///
    /// # Errors
    /// - `Shape`: the bases are others than those of which it was recorded. `Disposed`: one has no elements any more.
    /// - any error of an evaluation, when so much was pending that it had to run.
    pub fn replay(&self, segment: &Segment, given: &[&Array]) -> Result<Vec<Array>> {
        if let Some(done) = self.inner.dispatch.segment(segment, given) {
            return Ok(done);
        }
        let is_eager = self.inner.dispatch.computes() && segment.is_little();
        let mut filled = false;
        for array in given.iter().filter(|_| is_eager) {
            filled |= fill(array)?;
        }
        if filled && let Some(done) = self.inner.dispatch.segment(segment, given) {
            return Ok(done);
        }
        let values = given.iter().map(|array| array.value()).collect::<Result<Vec<Value>>>()?;
        let recorded = &segment.recorded;
        recorded.check(&values)?;
        let expressions = &self.inner.dispatch.recorder().expressions;
        let may_plan = is_eager && !segment.was_planned() && !self.inner.tracer.listens();
        if may_plan
            && are_in_memory(&values)
            && let Some(apart) = apart(&values)
        {
            let made = recorded.all_values(expressions, &apart);
            let found = results(recorded, &apart, &made);
            self.plan(segment, &apart, made)?;
            return self.given(segment, found, true);
        }
        // A single element that is known is a scalar of kernels.
        let known = |((array, value), (_, shape)): ((&&Array, Value), &(DType, Shape))| {
            let element = if shape.is_empty() { array.known_element() } else { None };
            element.map_or(value, |element| Value::constant(&[], element))
        };
        let values: Vec<Value> =
            given.iter().zip(values).zip(recorded.arguments()).map(known).collect();
        let made = recorded.all_values(expressions, &values);
        let found = results(recorded, &values, &made);
        drop(made);
        self.given(segment, found, is_eager)
    }

    /// New bases with these values, which are computed now where that is little work: the next segment would be long.
    fn given(&self, segment: &Segment, values: Vec<Value>, is_eager: bool) -> Result<Vec<Array>> {
        for (number, value) in values.iter().enumerate() {
            match Demand::first_of(&values[number..]) {
                Some(demand) if is_eager && !value.is_computed() && !value.is_open() => {
                    self.while_others_run(|| self.compute_demand(&demand, |_| Ok(())))?;
                }
                _ => self.bound(value)?,
            }
        }
        let shown = values.into_iter().zip(segment.recorded.results());
        let shown = shown.map(|(value, (_, shape))| in_shape(Array::from_value(value), shape));
        shown.collect::<Option<_>>().ok_or_else(|| Error::new(ErrorKind::Shape, "replay"))
    }

    /// Gives an open value the elements that it has in the recording that goes on, in host memory.
    ///
    /// # Errors
    /// - `Open`: it has none. Any error of their evaluation.
    pub(crate) fn open_up(&self, value: &Value) -> Result<()> {
        let asked = Array::from_value(value.clone());
        let found = self.inner.opener.get().map(|opener| opener(&asked)).transpose()?.flatten();
        let Some(found) = found else { return value.check_closed() };
        let elements = self.read(&found)?.to_vec()?;
        value.write_host(0..value.len(), |to| {
            to.copy_from_slice(&elements);
            Ok(())
        })?;
        value.mark_computed(0..value.len());
        Ok(())
    }

    /// Plans a segment by evaluating it.
    fn plan(&self, segment: &Segment, given: &[Value], made: Vec<Value>) -> Result<()> {
        let leaves = segment.recorded.leaves();
        leaves.iter().try_for_each(|leaf| self.bring(leaf))?;
        self.while_others_run(|| {
            let mut state = self.state()?;
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

/// Values with the same memory, each a node of its own. A plan is for all values, so it must not depend on what is
/// equal among these: two arguments may be one node, and a step may be the node that an argument is.
fn apart(values: &[Value]) -> Option<Vec<Value>> {
    values.iter().map(Value::in_own_memory).collect()
}

/// Gives a base memory all of whose few elements are one number, so that kernels find them there; false for others.
fn fill(array: &Array) -> Result<bool> {
    let Some(scalar) = array.constant().filter(|_| array.base_len() <= T.most_points) else {
        return Ok(false);
    };
    match host_moves::filled(&array.base_shape()?, scalar) {
        Some(filled) => array.take_elements(&filled),
        None => Ok(false),
    }
}
